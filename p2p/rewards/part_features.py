"""Features of parts by name, and what a set of names requires."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from p2p.contracts.commands import COMMAND_FEATURES
from p2p.contracts.env import BY_NAME, COM, QUANTITIES, Feature, PartKind, parts_of
from p2p.contracts.errors import InvalidConfig, InvalidInput
from p2p.rewards.expressions import Expression, is_expression, parse_expression, parse_unit

if TYPE_CHECKING:  # see `p2p.rewards.features`
    from p2p.contracts.env import EnvSpec
    from p2p.contracts.intent import Bound, Predicate


@dataclass(frozen=True, slots=True)
class PartFeature:
    """A quantity of one part."""

    quantity: str
    part: str
    """Empty for the whole robot."""

    @property
    def name(self) -> str:
        """As it is called everywhere."""
        return f"{self.quantity}:{self.part}" if self.part else self.quantity


def part_feature(name: str, spec: "EnvSpec") -> PartFeature | None:
    """Part feature of a name; None if this environment has none of that name."""
    quantity, _, part = name.partition(":")
    known = BY_NAME.get(quantity)
    if known is None or name in spec.feature_names or part not in parts_of(spec, known.kind):
        return None
    return PartFeature(quantity, part)


def part_feature_units(spec: "EnvSpec") -> dict[str, str]:
    """Unit of every feature of every part of an environment."""
    slides = {joint.name for joint in spec.joints if joint.kind == "slide"}
    return {
        PartFeature(quantity.name, part).name: _SLIDING.get(quantity.name, quantity.unit)
        if part in slides and quantity.kind is PartKind.JOINT
        else quantity.unit
        for quantity in QUANTITIES
        for part in parts_of(spec, quantity.kind)
    }


def described(name: str, spec: "EnvSpec") -> Feature:
    """Description of a feature or an expression in an environment.

    Raises:
        InvalidInput: there is no such feature, or the expression is wrong.
    """
    for feature in spec.features:
        if feature.name == name:
            return feature
    units = all_units(spec)
    if name in units:
        quantity = BY_NAME[name.partition(":")[0]]
        return Feature(name=name, unit=units[name], frame=quantity.frame, description=quantity.description)
    if is_expression(name):
        expression = parse_expression(name, units)
        return Feature(name=name, unit=expression.unit, frame="-", description="Computed from other features.")
    close = get_close_matches(name, units, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    if name in COMMAND_FEATURES:
        hint = " It needs commands, which are a field of the configuration."
    raise InvalidInput(
        f"{name!r}, which {spec.env_id} does not measure.{hint} It measures: {', '.join(spec.feature_names)}; "
        f"of its parts {', '.join(q.name for q in QUANTITIES if q.kind not in _WHOLE)}, each as quantity:part; "
        f"{', '.join(q.name for q in QUANTITIES if q.kind in _WHOLE)}; and expressions of these."
    )


def all_units(spec: "EnvSpec") -> dict[str, str]:
    """Units of everything measurable in an environment."""
    return {**part_feature_units(spec), **{feature.name: feature.unit for feature in spec.features}}


@dataclass(frozen=True, slots=True)
class ExtraFeatures:
    """Measurements beyond an environment's own features."""

    parts: tuple[PartFeature, ...]
    expressions: tuple[Expression, ...]
    plain: frozenset[str]
    """Names of the environment's own features that the expressions read."""


def read_extra_features(names: Iterable[str], spec: "EnvSpec") -> ExtraFeatures:
    """Select those of `names` that need computation beyond an environment's own features; ignore unknown ones."""
    found = sorted(set(names) - set(spec.feature_names))
    texts = [name for name in found if is_expression(name)]
    units = all_units(spec) if texts else {}
    expressions = []
    for text in texts:
        with suppress(InvalidInput):  # refused where it was set; any text of a reward's source may look like one
            expressions.append(parse_expression(text, units))
    read = {name for expression in expressions for name in expression.names}
    parts = [part for name in sorted({*found, *read}) if (part := part_feature(name, spec)) is not None]
    return ExtraFeatures(tuple(parts), tuple(expressions), frozenset(read & set(spec.feature_names)))


def judged_features(predicates: "Iterable[Predicate | None]", spec: "EnvSpec") -> tuple[Feature, ...]:
    """Names in predicates beyond an environment's own features, in the order of first mention."""
    names = dict.fromkeys(name for predicate in predicates if predicate is not None for name in predicate.names())
    return tuple(described(name, spec) for name in names if name not in spec.feature_names)


def problem_of(predicate: "Predicate", spec: "EnvSpec") -> str:
    """Problem of a predicate's names in an environment; empty if there is none.

    The unit of an expression is known, so it has to be the one the predicate's threshold is given in, where the
    statistic keeps it.
    """
    try:
        for name in predicate.names():
            described(name, spec)
    except InvalidInput as error:
        return str(error)
    feature = predicate.feature
    kept = predicate.statistic.value not in _CHANGING_UNITS
    if feature is None or not is_expression(feature) or predicate.versus is not None or not kept:
        return ""
    expected = described(feature, spec).unit
    try:
        right = parse_unit(predicate.unit) == parse_unit(expected)
    except ValueError:
        right = False
    return "" if right else f"{feature!r}, which is in {expected}, and its threshold is in {predicate.unit!r}."


def require_bounds(bounds: "Iterable[Bound]", spec: "EnvSpec", field: str = "end_when") -> None:
    """Refuse bounds over what an environment does not have.

    Args:
        bounds: Of a configuration.
        spec: Of the environment.
        field: Of the configuration that they stand in.

    Raises:
        InvalidConfig: naming the first such feature.
    """
    for bound in bounds:
        try:
            described(bound.feature, spec)
        except InvalidInput as error:
            raise InvalidConfig(f"{field}: {error}") from error


def names_for_code(spec: "EnvSpec") -> frozenset[str]:
    """Part features offered to judge code: of feet, head, centre of mass, joints and the whole."""
    chosen = {*spec.morphology.feet, "head", COM}
    kinds = {quantity.name: quantity.kind for quantity in QUANTITIES}
    return frozenset(
        name
        for name in part_feature_units(spec)
        if kinds[name.partition(":")[0]] in (PartKind.JOINT, *_WHOLE) or name.partition(":")[2] in chosen
    )


_CHANGING_UNITS = ("rate", "steadiness")
_WHOLE = (PartKind.ROBOT, PartKind.WALKER)
_SLIDING = {"joint_angle": "m", "joint_swing": "m", "joint_velocity": "m/s", "joint_torque": "N"}

"""Variants of a training configuration: what makes one, and a table of those that are worth trying anywhere."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from p2p.contracts.errors import InvalidConfig
from p2p.contracts.reward import ConfigVariant
from p2p.contracts.training import TrainConfig
from p2p.training.tuning import BOUNDS, VARIED, check_bounds


@dataclass(frozen=True, slots=True)
class _ValueChange:
    """One value changed, by a rule."""

    config_id: str
    directive: str
    field: str
    new: Callable[[float], float]


STEPS = (
    _ValueChange("fast", "learn twice as fast", "learning_rate", lambda rate: 2.0 * rate),
    _ValueChange("slow", "learn half as fast", "learning_rate", lambda rate: 0.5 * rate),
    _ValueChange("exploring", "explore more", "ent_coef", lambda coefficient: max(0.005, 3.0 * coefficient)),
    _ValueChange("thorough", "use each rollout longer", "n_epochs", lambda epochs: round(1.5 * epochs)),
    _ValueChange("far_sighted", "look twice as far ahead", "gamma", lambda gamma: 1.0 - 0.5 * (1.0 - gamma)),
    _ValueChange("near_sighted", "look half as far ahead", "gamma", lambda gamma: 1.0 - 2.0 * (1.0 - gamma)),
    _ValueChange("cautious", "move the policy less at a time", "clip_range", lambda clip: 0.5 * clip),
)
"""In the order in which they are tried."""


def usual_variants(base: TrainConfig, pinned: Collection[str] = ()) -> Iterable[ConfigVariant]:
    """Variants that change one value each, as far as the bounds let them.

    Args:
        base: What is varied.
        pinned: Fields that are not changed.
    """
    for step in STEPS:
        old = getattr(base, step.field)
        low, high = BOUNDS[step.field]
        new = type(old)(f"{min(max(step.new(old), low), high):.6g}")
        if new != old and step.field not in pinned:
            yield ConfigVariant(config_id=step.config_id, directive=step.directive, changes={step.field: new})


def varied(base: TrainConfig, changes: Mapping[str, object], pinned: Collection[str] = ()) -> TrainConfig:
    """The configuration of a variant.

    Args:
        base: What is varied.
        changes: Fields with their new values.
        pinned: Fields that a person fixed.

    Raises:
        InvalidConfig: a field may not be varied, a value is out of bounds or of a wrong type, or nothing is changed.
    """
    other = sorted(set(changes) - set(VARIED))
    if other:
        raise InvalidConfig(f"A variant cannot change {', '.join(other)}. It can change {', '.join(VARIED)}.")
    fixed = sorted(set(changes) & set(pinned))
    if fixed:
        raise InvalidConfig(f"The user fixed {', '.join(fixed)}: a variant cannot change it.")
    numbers = [name for name in changes if name in BOUNDS]
    wrong = [name for name in numbers if type(changes[name]) not in (int, float)]
    if wrong:
        raise InvalidConfig(f"{wrong[0]} must be a number, got {changes[wrong[0]]!r}.")
    check_bounds(changes)
    try:
        config = TrainConfig.model_validate({**base.model_dump(), **changes})
    except ValidationError as error:
        problem = error.errors()[0]
        raise InvalidConfig(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}") from error
    if config == base:
        raise InvalidConfig("This variant equals the base: change at least one value.")
    return config

"""Criteria shared by several templates."""

from math import isinf

from p2p.contracts.intent import Bound, Category, Comparison, Criterion, Predicate, Statistic, Window
from p2p.rewards.templates.bodies import Band, RobotFacts, Upright
from p2p.rewards.templates.skill import Manner, Params

AT_LEAST = Comparison.AT_LEAST
AT_MOST = Comparison.AT_MOST
BETWEEN = Comparison.BETWEEN
SMOOTH_RATE = 0.25
"""Mean squared change of the action that still counts as smooth; random actions have 0.67, bang-bang up to 4."""
ENDS_S = 0.5
"""Time before the end in which it must be on its feet after a flip or a jump [s]."""
ENDS_SHARE = 0.9
"""Share of that time."""
UP_AT_THE_END_S = 0.5
UP_AT_THE_END_SHARE = 0.5
"""The same of what is to be on its feet all the time: more than half of a fall in the last 0.5 s fails."""
LITTLE_EFFORT = 0.3
"""Mean squared action that still counts as little effort; random actions have 0.33, saturated ones 1."""

_OWN_FRAME = {'"velocity_x"': '"forward_velocity"', '"velocity_y"': '"lateral_velocity"'}
"""Velocity in the world -> along and across the heading, as they are read."""
GUARD = 0.5
"""Weight of a criterion that a motion the wrong way meets as well: what was asked must decide the score."""
IN_PLACE = 0.5
"""How far from its start a robot that stays "in place" may get [m]."""
TRUNK_SHARE = 0.1
"""Share of the steps in which the trunk may touch the floor; trained gaits of all robots do in none of the median
rollout."""


def at_least(feature: str, threshold: float) -> Bound:
    """A bound from below."""
    return Bound(feature=feature, comparison=AT_LEAST, threshold=threshold)


def at_most(feature: str, threshold: float) -> Bound:
    """A bound from above."""
    return Bound(feature=feature, comparison=AT_MOST, threshold=threshold)


def between(feature: str, low: float, high: float) -> Bound:
    """A bound from both sides."""
    return Bound(feature=feature, comparison=BETWEEN, threshold=low, upper=high)


def on_feature(
    statistic: Statistic, feature: str, band: Band, unit: str, margin: float, window: Window | None = None
) -> Predicate:
    """Require a statistic of a feature in `band`."""
    comparison, threshold, upper = _sides(band)
    return Predicate(
        statistic=statistic,
        feature=feature,
        comparison=comparison,
        threshold=threshold,
        upper=upper,
        unit=unit,
        margin=margin,
        window=window or Window(),
    )


def on_steps(
    statistic: Statistic, where: tuple[Bound, ...], band: Band, margin: float, window: Window | None = None
) -> Predicate:
    """Require a count, fraction or longest hold of the steps with `where` in `band`."""
    comparison, threshold, upper = _sides(band)
    return Predicate(
        statistic=statistic,
        where=where,
        comparison=comparison,
        threshold=threshold,
        upper=upper,
        unit="s" if statistic is Statistic.LONGEST_HOLD else "1",
        margin=margin,
        window=window or Window(),
    )


def below(limit: float) -> Band:
    """Band up to `limit`."""
    return Band(-float("inf"), limit)


def stays_upright(body: RobotFacts, params: Params, *, low: bool = False) -> tuple[Criterion, ...]:
    """Require no fall, more strictly if the sentence insists; `low` says that a low torso is none.

    Empty for a robot that cannot fall.
    """
    rule = body.upright
    if rule is None or not body.has("up"):
        return ()
    strict = bool(params.manners & {Manner.NO_FALL, Manner.UPRIGHT})
    rule = Upright(rule.up, 0.95 if strict else rule.share, None if low else rule.height)
    where = [at_least("up", rule.up)]
    if rule.height is not None:
        where.append(at_least("height", rule.height))
    lowest = f" and the torso at {rule.height:g} m or higher" if rule.height is not None else ""
    return (
        Criterion(
            key="stays_upright",
            title="Stays on its feet" if rule.height is not None else "Stays the right way up",
            description=f"For {rule.share:.0%} of the time the up-vector is at {rule.up:g} or more{lowest}.",
            category=Category.STABILITY,
            predicate=on_steps(Statistic.FRACTION, tuple(where), Band(rule.share), margin=0.4),
        ),
    )


def off_its_trunk(body: RobotFacts) -> tuple[Criterion, ...]:
    """Require trunk and head off the floor; empty for a robot whose trunk touches no floor."""
    if not body.has("torso_contact"):
        return ()
    criterion = Criterion(
        key="off_its_trunk",
        title="Keeps trunk and head off the floor",
        description=f"The trunk, the head included, touches the floor in at most {TRUNK_SHARE:.0%} of the steps.",
        category=Category.POSTURE,
        predicate=on_feature(Statistic.MEAN, "torso_contact", below(TRUNK_SHARE), "1", margin=0.3),
        weight=GUARD,
    )
    return (criterion,)


def on_its_feet(body: RobotFacts, up: float | None = None) -> tuple[Bound, ...]:
    """Require a stance: upright, trunk off the floor and not low."""
    rule = body.upright or Upright()
    found = [at_least("up", rule.up if up is None else up)]
    if body.has("torso_contact"):
        found.append(at_most("torso_contact", 0.5))
    if rule.height is not None:
        found.append(at_least("height", rule.height))
    return tuple(found)


def ends_on_its_feet(body: RobotFacts, judged_s: float, more: tuple[Bound, ...] = ()) -> Criterion:
    """Require a stance for a while at the end of the episode: landing and then falling is not enough."""
    share = round(ENDS_S / judged_s, 3)
    return Criterion(
        key="ends_on_its_feet",
        title="Is on its feet at the end",
        description=f"In the last {100 * share:g}% of the episode it is the right way up with its trunk off the floor, "
        f"for {ENDS_SHARE:.0%} of the time.",
        category=Category.STABILITY,
        predicate=on_steps(
            Statistic.FRACTION,
            (*on_its_feet(body), *more),
            Band(ENDS_SHARE),
            margin=ENDS_SHARE,
            window=Window(last_share=share),
        ),
    )


def has_not_fallen_at_the_end(body: RobotFacts, judged_s: float) -> tuple[Criterion, ...]:
    """Require no fall at the end; a share of the whole episode would leave time for one."""
    if body.upright is None or not body.has("up"):
        return ()
    share = round(UP_AT_THE_END_S / judged_s, 3)
    criterion = Criterion(
        key="up_at_the_end",
        title="Has not fallen when the episode ends",
        description=f"In the last {100 * share:g}% of the episode its up-vector is at {body.upright.up:g} or more "
        f"for {UP_AT_THE_END_SHARE:.0%} of the time.",
        category=Category.STABILITY,
        predicate=on_steps(
            Statistic.FRACTION,
            (at_least("up", body.upright.up),),
            Band(UP_AT_THE_END_SHARE),
            margin=UP_AT_THE_END_SHARE,
            window=Window(last_share=share),
        ),
        weight=GUARD,
    )
    return (criterion,)


def stays_near(limit: float, required: bool = True) -> Criterion:
    """Require staying near the start."""
    return Criterion(
        key="stays_in_place",
        title=f"Stays within {limit:g} m of its start",
        description=f"The horizontal distance from the start never exceeds {limit:g} m.",
        category=Category.STABILITY,
        predicate=on_feature(Statistic.MAX, "displacement", below(limit), "m", margin=limit),
        required=required,
    )


def moves_smoothly() -> Criterion:
    """Require smooth motion, asked for with "smoothly"."""
    return Criterion(
        key="smooth",
        title="Moves smoothly",
        description=f"The mean squared change of the scaled action is at most {SMOOTH_RATE:g}.",
        category=Category.EFFICIENCY,
        predicate=on_feature(Statistic.MEAN, "action_rate", below(SMOOTH_RATE), "1", margin=0.5),
    )


def spares_effort(limit: float = LITTLE_EFFORT) -> Criterion:
    """Require little effort; also part of "still", since braced joints would look calm."""
    return Criterion(
        key="little_effort",
        title="Uses little effort",
        description=f"The mean squared scaled action is at most {limit:g}.",
        category=Category.EFFICIENCY,
        predicate=on_feature(Statistic.MEAN, "control_effort", below(limit), "1", margin=0.5),
    )


def _sides(band: Band) -> tuple[Comparison, float, float | None]:
    if isinf(band.high):
        return AT_LEAST, band.low, None
    if isinf(band.low):
        return AT_MOST, band.high, None
    return BETWEEN, band.low, band.high


def in_its_own_frame(text: str) -> str:
    """A text that reads velocities in the world, with those along and across the robot's heading in their place."""
    for world, own in _OWN_FRAME.items():
        text = text.replace(world, own)
    return text


def along_its_heading(criterion: Criterion, words: str) -> Criterion:
    """The criterion, in the robot's own frame.

    Args:
        criterion: Any; what reads no velocity in the world stays as it is.
        words: What its description says of it.
    """
    if criterion.predicate is None or in_its_own_frame(text := criterion.predicate.model_dump_json()) == text:
        return criterion
    return criterion.model_copy(
        update={
            "predicate": Predicate.model_validate_json(in_its_own_frame(text)),
            "description": f"{criterion.description} {words}",
        }
    )

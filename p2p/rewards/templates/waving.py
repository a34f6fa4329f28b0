"""Quality of a posture: waving with an arm."""

from collections.abc import Iterator, Mapping

from p2p.contracts.intent import Category, Criterion, Statistic
from p2p.rewards.arms import Arm
from p2p.rewards.templates.bodies import Band, RobotFacts
from p2p.rewards.templates.criteria import IN_PLACE, at_least, below, on_steps, stays_near
from p2p.rewards.templates.plan import Term
from p2p.rewards.templates.quality import SETTLED, Addition, Quality, Use, criterion_of
from p2p.rewards.templates.skill import Skill
from p2p.rewards.templates.terms import number

OVER = 0.1
"""How far the hand has to be over the shoulder, in heights of the standing torso. At rest a humanoid holds it as high
as the shoulder."""
STRAIGHT = 0.93
"""Up-vector of a torso that stands straight: leaning back lifts a hand too, and Unitree's H1 did that."""
STRAIGHT_SHARE = 0.8
"""Share of the steps in which it has to."""
ALOFT_SHARE = 0.05
"""Share of the steps that it may be off the floor: a robot that hops moves its hand, too."""
RAISED_SHARE = 0.6
"""Share of the steps in which the hand has to be over the shoulder."""
FAST = 0.8
"""Speed of the hand against the torso, at one moment of each swing to one side [m/s]."""
SWINGS = 6.0
"""Fewest swings to one side: three times to and fro."""
SWINGS_PER_S = 16.0 / 3.0
"""Most: a hand that goes to and fro more than two and two thirds times a second trembles [1/s]."""
SWING = 0.15
"""Standard deviation, over about a second, of the angle that swings most [rad]: 12 degrees to each side."""
SWING_SHARE = 0.5
"""Share of the steps in which it has to swing so far: a hand that trembles does not wave."""
CALM, HURRIED = 20.0, 30.0
"""Speed of the fastest joint up to which a swing is paid in full, and from which not at all, in standard deviations of
the largest swing [1/s]: at the middle of a swing those are of 2.25 and of 3.4 times to and fro a second."""
STEPS = 2_400_000
"""Training steps, at least, as robots on two legs take to move."""
SHORT_REACH = 1.0
"""How far the servos of an arm that hangs go at least, where it is to be raised [rad]."""


def assumed_of_waving(skill: Skill, body: RobotFacts) -> Iterator[str]:
    """What is assumed of a wave, and what may stand in its way, as sentences."""
    side = next((name.removeprefix("wave:") for name in skill.params.qualities if name.startswith("wave:")), None)
    if side is None:
        return
    if side == "one":
        side = _usual_side(body)
        yield f"No side is given: it waves with its {side} arm."
    arm = body.arms.get(side)
    if arm is not None and arm.reach < SHORT_REACH:
        yield (
            f"The servos of its arm go {arm.reach:g} rad from the stance at most. Where that lifts no hand over the "
            "shoulder, give them a larger `action_scale` in a file beside the model."
        )


def _usual_side(body: RobotFacts) -> str:
    return "left" if set(body.arms) == {"left"} else "right"


def _wave(use: Use) -> Addition:
    side = use.value
    if side == "one":
        side = _usual_side(use.body)
    arm = use.body.arms.get(side)
    if arm is None:
        which = f"no {side} arm" if use.body.arms else "no arm that its bodies or joints name"
        raise use.impossible(f"{use.body.noun} has {which}")
    use.need("airborne", "displacement", "up")
    moving = {way: (f"velocity_{way}:{arm.hand}", f"velocity_{way}") for way in "xyz"}
    high = round(OVER * use.body.standing, 3)
    terms, definitions = _pay(arm, moving, high, use.body.standing)
    return Addition(
        (*_waves(arm, side, moving, high, use.plan.judged_s), *_stands()),
        terms,
        without=frozenset({"stays_in_place"}),
        definitions=definitions,
        fewest_steps=STEPS,
        summary=f"waving with the {side} arm",
    )


def _waves(
    arm: Arm, side: str, moving: Mapping[str, tuple[str, str]], high: float, judged_s: float
) -> tuple[Criterion, ...]:
    """What the arm has to do.

    Args:
        arm: Which waves.
        side: On which it is.
        moving: Velocities of the hand and of the torso, by axis.
        high: How far the hand has to be over the shoulder [m].
        judged_s: Length of a judged episode [s].
    """
    x, y, z = (f"({hand} - {torso})" for hand, torso in moving.values())
    speed = f"hypot(hypot({x}, {y}), {z})"
    over = f"height:{arm.hand} - height:{arm.shoulder}"
    swing = _largest([f"joint_swing:{joint}" for joint in arm.joints])
    raised = criterion_of(
        "raises_its_hand",
        f"Holds its {side} hand over its shoulder",
        f"{arm.hand} is {high:g} m over {arm.shoulder} in {RAISED_SHARE:.0%} of the steps or more after the first half "
        "second.",
        Category.POSTURE,
        on_steps(Statistic.FRACTION, (at_least(over, high),), Band(RAISED_SHARE), margin=0.5, window=SETTLED),
    )
    most = float(round(SWINGS_PER_S * max(judged_s - 0.5, 1.5)))
    waves = criterion_of(
        "waves",
        f"Waves its {side} hand to and fro {SWINGS / 2:g} times",
        f"The hand, over its shoulder, comes to move at {FAST:g} m/s or more against the torso {SWINGS:g} to "
        f"{most:g} times.",
        Category.DYNAMICS,
        on_steps(
            Statistic.COUNT_EVENTS,
            (at_least(speed, FAST), at_least(over, high)),
            Band(SWINGS, most),
            margin=SWINGS,
            window=SETTLED,
        ),
    ).model_copy(update={"weight": 2.0})
    swings = criterion_of(
        "swings_its_arm",
        f"Swings its {side} arm by {SWING:g} rad",
        f"Over about a second, the angle of a joint of the arm has a standard deviation of {SWING:g} rad or more, in "
        f"{SWING_SHARE:.0%} of the steps.",
        Category.DYNAMICS,
        on_steps(Statistic.FRACTION, (at_least(swing, SWING),), Band(SWING_SHARE), margin=0.5, window=SETTLED),
    )
    return raised, waves, swings


def _stands() -> tuple[Criterion, ...]:
    """How the rest of the robot stands meanwhile."""
    straight = criterion_of(
        "stands_straight",
        "Stands straight",
        f"The up-vector is at {STRAIGHT:g} or more in {STRAIGHT_SHARE:.0%} of the steps after the first half second.",
        Category.POSTURE,
        on_steps(Statistic.FRACTION, (at_least("up", STRAIGHT),), Band(STRAIGHT_SHARE), margin=0.5, window=SETTLED),
    )
    aloft = criterion_of(
        "stands_on_the_floor",
        "Stands on the floor",
        f"It is off the floor in at most {ALOFT_SHARE:.0%} of the steps after the first half second.",
        Category.POSTURE,
        on_steps(Statistic.FRACTION, (at_least("airborne", 0.5),), below(ALOFT_SHARE), margin=0.2, window=SETTLED),
    )
    return straight, aloft, stays_near(IN_PLACE)


def _pay(
    arm: Arm, moving: Mapping[str, tuple[str, str]], high: float, standing: float
) -> tuple[tuple[Term, ...], dict[str, str]]:
    """Terms of a reward, and what they read besides the plan's definitions; as `_waves`."""
    moved = {way: f'info["{hand}"] - info["{torso}"]' for way, (hand, torso) in moving.items()}
    swung = {f"swing_{i}": f'info["joint_swing:{joint}"]' for i, joint in enumerate(arm.joints, start=1)}
    turned = {f"turn_{i}": f'np.abs(info["joint_velocity:{joint}"])' for i, joint in enumerate(arm.joints, start=1)}
    top, speed = number(round(1.5 * high, 3)), number(1.5 * FAST)
    terms = (
        Term("raised", 2.0, f"upright * tolerance(over, {top}, np.inf, {{margin}})",
             rf"U\,\mathrm{{tol}}(z_h - z_s; {top}, \infty)", "a raised hand",
             margin=round(0.6 * standing, 2)),
        Term("swing", 1.0, f"raised * np.clip(hand_speed / {speed}, 0.0, 1.0) * far * calm",
             rf"\mathrm{{raised}}\,\mathrm{{clip}}(v_h/{speed}, 0, 1)\,\mathrm{{far}}\,\mathrm{{calm}}",
             "moving the raised hand, far and calmly"),
        Term("straight", 1.0, f'tolerance(info["up"], {number(STRAIGHT + 0.02)}, 1.0, {{margin}})',
             rf"\mathrm{{tol}}(u_z; {STRAIGHT + 0.02:g}, 1)", "standing straight", margin=0.15),
        Term("place", 1.0, 'np.clip(2.0 * info["speed"], 0.0, 1.0)', r"\mathrm{clip}(2v, 0, 1)",
             "penalty for leaving the place", sign=-1),
        Term("trembling", 0.1, 'info["action_rate"]', r"\overline{\Delta a^2}", "penalty for trembling", sign=-1),
        Term("flight", 0.3, 'info["airborne"]', "f", "penalty for leaving the floor", sign=-1),
    )  # fmt: skip
    definitions = {
        "over": f'info["height:{arm.hand}"] - info["height:{arm.shoulder}"]',
        "raised": f"upright * tolerance(over, {number(high)}, np.inf, 0.2)",
        "moved_x": moved["x"],
        "moved_y": moved["y"],
        "moved_z": moved["z"],
        **swung,
        "most": _largest([*swung]),
        # The swing of one joint without that of the others: a hand that circles is never still between two swings.
        "others": f"{' + '.join(swung)} - most",
        "far": f"np.clip((most - others) / {number(2 * SWING)}, 0.0, 1.0)",
        **turned,
        "fastest": _largest([*turned]),
        "calm": f"np.clip(({HURRIED} * most - fastest) / ({HURRIED - CALM} * most + 0.01), 0.0, 1.0)",
        "hand_speed": "np.sqrt(moved_x**2 + moved_y**2 + moved_z**2)",
    }
    return terms, definitions


def _largest(names: list[str]) -> str:
    """Expression for the largest of some features."""
    first, *rest = names
    for name in rest:
        first = f"max({first}, {name})"
    return first


WAVING = {"wave": Quality("wave with the % arm", _wave, frozenset({"posture"}))}
"""Name -> what it adds."""
WAVING_KEYS = frozenset({"raises_its_hand", "waves", "swings_its_arm", "stands_straight", "stands_on_the_floor"})
"""Its criteria."""

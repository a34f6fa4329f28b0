"""Template: stand still, calmly, in place."""

from p2p.contracts.intent import Bound, Category, Criterion, Statistic, Window
from p2p.contracts.observe import Milestone
from p2p.rewards.templates.bodies import Band, RobotFacts
from p2p.rewards.templates.criteria import (
    GUARD,
    at_least,
    at_most,
    below,
    between,
    has_not_fallen_at_the_end,
    on_feature,
    on_steps,
    spares_effort,
    stays_near,
    stays_upright,
)
from p2p.rewards.templates.plan import Plan, Stage, Template, Term
from p2p.rewards.templates.skill import Manner, Params
from p2p.rewards.templates.terms import alive, effort, gate, gate_latex, number

CALM_SPEED = 0.25
"""Horizontal speed below which a robot counts as standing in a sequence [m/s]."""
JOINTS = 0.3
"""Mean joint speed that still counts as still [rad/s]."""
FLOATING_JOINTS = 0.1
"""The same of what need not balance: a swimmer that does nothing comes to rest."""
TURNING = 0.4
"""Rate of a turn, about any axis, that still counts as still [rad/s]."""
MOVING = 0.15
"""Speed of the torso, along any axis, that still counts as still [m/s]."""
RAISED = 0.03
"""Height of a foot over the floor that still counts as standing on it [m]."""
BEYOND = 0.5
"""How far a robot that stands still after a flip or a spin may be from the turns asked for [turns]."""
SETTLED_S = 1.0
"""Time in which it may still come to rest after its start [s]."""
SETTLED = Window(after=(at_least("time", SETTLED_S),))
TURNED = 0.08
"""How far it may be turned, about any axis, from how it stood at its start [turns]."""
SWAYS = 0.06
"""Range of a turn about one axis that still counts as still [turns], about 22 degrees."""
POSE = 0.5
"""Range of a joint's angle that still counts as still [rad], about 29 degrees."""
HELD_SHARE = 0.95
"""Share of the time it must stand so."""
BRACING = 2.0
"""Price of acting for what has to balance: at 0.3 a humanoid that stood held itself by bracing, at twice the limit."""
BRACE_LIMIT = 0.35
"""Mean squared action above which a robot holds itself by bracing: a trained cheetah stood still at 0.84."""


class Still(Template):
    """Stand still."""

    name = "still"
    reads = frozenset({"duration_s"})
    manners = frozenset({Manner.NO_FALL, Manner.UPRIGHT, Manner.IN_PLACE})

    def examples(self, body: RobotFacts) -> tuple[str, ...]:
        """A plain sentence and a timed one."""
        return ("stand still", "stand still for 5 seconds") if body.upright else ("stay still",)

    def missing(self, body: RobotFacts) -> str:
        """Reason why the robot cannot stand still."""
        return f"{body.noun} has no place to stay in"

    def plan(self, params: Params, body: RobotFacts, stage: Stage) -> Plan:
        """No speed, calm joints, on its feet, without bracing."""
        hold = params.duration_s or 1.5
        balances = body.terminates and stage.alone
        steps = body.budget("still")
        found: dict[str, object] = {"total_timesteps": steps}
        if stage.last:  # a swimmer with as little noise did not find the spin that it was to do next
            found["log_std_init"] = -1.0
        if body.terminates:
            found |= (LONG_ROLLOUTS if steps < MANY else {}) | {"terminate_when_unhealthy": True}
        if balances and steps >= MANY:
            found |= RELAXING
        return Plan(
            label="StandStill",
            summary="Staying where it is, with calm joints and little effort",
            terms=(*alive(body), *_terms(body), *((_REST,) if balances else ()), effort(BRACING if balances else 0.3)),
            main=_main(body, stage, hold),
            guards=(
                *stays_upright(body, params),
                *_guards(body, stage),
                *(has_not_fallen_at_the_end(body, body.judged_s) if stage.last and not stage.alone else ()),
            ),
            definitions=gate(body)
            | ({} if body.terminates else {"calm": _calm(body)})
            | (_resting(body) if balances else {}),
            recipe=found,
            milestones=(Milestone(feature="time", amount=round(hold + 0.5, 3)),),
            seconds=hold + 1.0,
            judged_s=params.duration_s or body.judged_s,
        )


def _terms(body: RobotFacts) -> list[Term]:
    slow = 'tolerance(info["speed"], 0.0, 0.05, {margin})'
    u = gate_latex(body)
    if body.terminates:
        calm = 'upright * tolerance(info["joint_speed"], 0.0, 0.1, {margin})'
        return [
            Term("still", 1.0, f"upright * (0.5 + 0.5 * {slow})", rf"{u}(1 + \mathrm{{tol}}(v; 0, 0.05))/2",
                 "being on its feet and not moving", margin=1.5),
            Term("calm", 0.5, calm, rf"{u}\mathrm{{tol}}(\overline{{|\dot q|}}; 0, 0.1)", "calm joints", margin=4.0),
        ]  # fmt: skip
    latex = rf"{u}Q\,\mathrm{{tol}}(v; 0, 0.05)"
    return [Term("still", 1.0, f"upright * calm * {slow}", latex, "standing with calm joints", margin=1.0)]


_REST = Term(
    "rest",
    1.0,
    'upright * slow * near * held * tolerance(info["joint_speed"], 0.0, 0.1, 1.0)',
    r"U\,\mathrm{tol}(v, d, \omega, \theta, \dot q)",
    "coming to rest where it began",
    margin=1.5,
)
"""What the wide margins of the other terms hardly tell apart: paid for those alone, a humanoid stood, and shuffled or
turned its trunk to and fro."""


def _resting(body: RobotFacts) -> dict[str, str]:
    """Definitions, in [0, 1], that `_REST` reads; `held`: the torso does not turn, and faces as it did."""
    axes = [axis for axis in ("roll", "pitch", "yaw") if body.has(f"{axis}_rate", f"{axis}_turns")]
    calm = {f"{axis}_calm": f'tolerance(info["{axis}_rate"], -0.1, 0.1, m["{_REST.name}"])' for axis in axes}
    held = {f"{axis}_held": f'{axis}_calm * tolerance(info["{axis}_turns"], -0.04, 0.04, 0.2)' for axis in axes}
    return {
        "slow": 'tolerance(info["speed"], 0.0, 0.05, 0.3)',
        "near": 'tolerance(info["displacement"], 0.0, 0.1, 0.5)',
        **calm,
        **held,
        "held": " * ".join(held),
    }


def _calm(body: RobotFacts) -> str:
    """Expression in [0, 1] for calm joints in a standing pose."""
    calm = 'tolerance(info["joint_speed"], 0.0, 0.1, 3.0)'
    if body.stand.low == 0.0 or not body.has("height"):
        return calm
    low, high = number(body.stand.low), number(body.stand.high)
    return f'{calm} * (0.5 + 0.5 * tolerance(info["height"], {low}, {high}, 0.3))'


def _main(body: RobotFacts, stage: Stage, hold: float) -> Criterion:
    if not stage.alone:
        # Stops a second flip from passing as standing still after the first
        turns = {feature: amount for feature, amount in stage.done.items() if feature.endswith("_turns")}
        where_it_turned_to = tuple(
            between(feature, amount - BEYOND, amount + BEYOND).model_copy(update={"absolute": feature in stage.either})
            for feature, amount in turns.items()
        )
        where = (at_most("speed", CALM_SPEED), *_on_the_floor(body), *where_it_turned_to)
        return Criterion(
            key="stands_still",
            title=f"Stands still for {hold:g} s",
            description=f"For {hold:g} s without a break the horizontal speed is at most {CALM_SPEED:g} m/s, on its "
            f"feet and within {BEYOND:g} turns of the turns asked for before.",
            category=Category.DYNAMICS,
            predicate=on_steps(Statistic.LONGEST_HOLD, where, Band(hold), margin=hold),
            weight=2.0,
        )
    return stays_near(body.still_drift).model_copy(update={"key": "stands_still", "weight": 2.0})


def _on_the_floor(body: RobotFacts) -> tuple[Bound, ...]:
    return (at_most("airborne", 0.5), at_most("torso_contact", 0.5)) if body.has("airborne", "torso_contact") else ()


def _guards(body: RobotFacts, stage: Stage) -> list[Criterion]:
    window = SETTLED if stage.alone else Window(last_share=0.3)
    limit = JOINTS if body.upright else FLOATING_JOINTS
    calm = Criterion(
        key="calm_joints",
        title="Keeps its joints calm",
        description=f"Once it has settled, the mean joint speed is at most {limit:g} rad/s.",
        category=Category.DYNAMICS,
        predicate=on_feature(Statistic.MEAN, "joint_speed", below(limit), "rad/s", margin=2.0, window=window),
    )
    if not stage.alone:
        return [calm]
    return [
        calm,
        spares_effort(BRACE_LIMIT),
        _holds_its_place(body),
        *_keeps_its_pose(body),
        *_keeps_its_feet_down(body),
        *_takes_no_steps(body),
        *_glides_out(body),
    ]


def _holds_its_place(body: RobotFacts) -> Criterion:
    """Stops rocking, marching, squatting or a jump on the spot from passing: joints stay calm without drift."""
    speeds = (name for name in ("velocity_x", "velocity_y", "velocity_z") if body.has(name))
    rates = (name for name in ("roll_rate", "pitch_rate", "yaw_rate") if body.has(name))
    turns = (name for name in ("roll_turns", "pitch_turns", "yaw_turns") if body.has(name))
    where = (
        *(between(name, -MOVING, MOVING) for name in speeds),
        *(between(name, -TURNING, TURNING) for name in rates),
        *(between(name, -TURNED, TURNED) for name in turns),
        *_on_the_floor(body),
    )
    floor = ", on the floor and its trunk off it" if body.has("torso_contact") else ""
    return Criterion(
        key="holds_its_place",
        title="Holds its place and its pose",
        description=f"After the first {SETTLED_S:g} s its torso moves at no more than {MOVING:g} m/s along each axis, "
        f"turns at no more than {TURNING:g} rad/s and has turned by no more than {TURNED:g} turns{floor}, for "
        f"{HELD_SHARE:.0%} of the time.",
        category=Category.DYNAMICS,
        predicate=on_steps(Statistic.FRACTION, where, Band(HELD_SHARE), margin=0.4, window=SETTLED),
    )


def _keeps_its_pose(body: RobotFacts) -> list[Criterion]:
    """Stops slow swaying, squatting or stretching from passing."""
    found = [
        Criterion(
            key=f"keeps_its_{axis}",
            title=f"Does not sway in {axis}",
            description=f"After the first {SETTLED_S:g} s the turns in {axis} vary by at most {SWAYS:g} turns.",
            category=Category.POSTURE,
            predicate=on_feature(Statistic.RANGE, f"{axis}_turns", below(SWAYS), "turns", margin=0.2, window=SETTLED),
            weight=GUARD,
        )
        for axis in ("roll", "pitch", "yaw")
        if body.has(f"{axis}_turns")
    ]
    if not body.joints:
        return found
    pose = Criterion(
        key="keeps_its_pose",
        title="Keeps the pose of its joints",
        description=f"After the first {SETTLED_S:g} s the angle of no joint varies by more than {POSE:g} rad.",
        category=Category.POSTURE,
        predicate=on_feature(Statistic.FINAL, "pose_range", below(POSE), "rad", margin=0.5),
        weight=GUARD,
    )
    return [*found, pose]


def _keeps_its_feet_down(body: RobotFacts) -> tuple[Criterion, ...]:
    """Stops standing on one leg from passing as standing still on both.

    Not asked of what has more than two feet: an ant that is let go leans on two or three legs, without moving, until
    the last has sunk to the floor after 4 s.
    """
    if body.feet > 2 or not body.has("highest_foot"):
        return ()
    criterion = Criterion(
        key="keeps_feet_down",
        title="Keeps its feet on the floor",
        description=f"After the first {SETTLED_S:g} s no foot is more than {RAISED:g} m above the floor, for "
        f"{HELD_SHARE:.0%} of the time.",
        category=Category.POSTURE,
        predicate=on_steps(
            Statistic.FRACTION, (at_most("highest_foot", RAISED),), Band(HELD_SHARE), margin=0.4, window=SETTLED
        ),
        weight=GUARD,
    )
    return (criterion,)


def _takes_no_steps(body: RobotFacts) -> tuple[Criterion, ...]:
    """Stops slow marching on the spot from passing.

    A robot that was dropped may sink onto half of its feet late.
    """
    if not body.has("time_since_step"):
        return ()
    where = (at_most("time_since_step", 0.5 * body.dt),)
    steps = max(1, body.feet // 2)
    criterion = Criterion(
        key="takes_no_steps",
        title="Takes no steps",
        description=f"After the first {SETTLED_S:g} s a foot is put down, after having been lifted by 2 cm or more, "
        f"{steps} times or less.",
        category=Category.DYNAMICS,
        predicate=on_steps(Statistic.COUNT_EVENTS, where, below(steps), margin=3.0, window=SETTLED),
        weight=GUARD,
    )
    return (criterion,)


def _glides_out(body: RobotFacts) -> tuple[Criterion, ...]:
    """Stops swimming off slowly from passing as gliding on from the start."""
    if body.glides is None:
        return ()
    criterion = Criterion(
        key="glides_out",
        title="Glides slowly in the second half",
        description=f"In the second half its mean speed is at most {body.glides:g} m/s: without effort it glides no "
        "faster.",
        category=Category.DYNAMICS,
        predicate=on_feature(
            Statistic.MEAN, "speed", below(body.glides), "m/s", margin=0.1, window=Window(last_share=0.5)
        ),
        weight=GUARD,
    )
    return (criterion,)


LONG_ROLLOUTS: dict[str, object] = {
    "n_envs": 8,
    "n_steps": 128,
    "n_epochs": 10,
    "learning_rate": 5e-4,
    "gamma": 0.995,
    "gae_lambda": 0.97,
}
"""What made robots with a control period of 8 ms stand and hop in a short training. A humanoid stayed up for 2.7 s
after a million steps with these, and for 4.2 s with the settings found for as many."""
MANY = 1_000_000
"""Steps from which those are left to the environment's own."""
RELAXING: dict[str, object] = {"curriculum": {"weights": {"effort": [[0.3, 0.15], [0.7, 1.0]]}}}
"""Balance first, ease after it: with the whole price of acting from the start, a humanoid took longer to stay up."""

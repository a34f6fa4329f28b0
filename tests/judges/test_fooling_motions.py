"""Motions that have the numbers of what was asked without doing it, on every robot they can be played on.

Each is scripted joint by joint, so that what it does is known from how it was made. Those that do what was asked are
made by the same code, and must pass.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.analysis.predicates import measure
from p2p.contracts.intent import Intent
from p2p.envs import catalog
from p2p.worker.known_motions.motion import Motion, during, ramp, travel
from p2p.worker.known_motions.motion_player import MotionPlayer
from p2p.worker.known_motions.robots import ROBOTS
from p2p.worker.known_motions.travelling import stepping

CHEETAH, HOPPER, WALKER, ANT = "HalfCheetah-v5", "Hopper-v5", "Walker2d-v5", "Ant-v5"
HUMANOID, SWIMMER = "Humanoid-v5", "Swimmer-v5"
Joints = Callable[[Motion], dict[int, np.ndarray | float]]


@dataclass(frozen=True)
class Case:
    """A motion for a sentence: paths of the root, and angles of single joints over those of the pose [rad]."""

    env_id: str
    sentence: str
    name: str
    build: Callable[[Motion], Motion]
    joints: Joints = lambda _motion: {}

    def __str__(self) -> str:
        return f"{self.env_id.partition('-')[0]}: {self.sentence}: {self.name}"


@cache
def stage_of(env_id: str) -> MotionPlayer:
    robot = ROBOTS[env_id]
    return MotionPlayer(catalog.load(env_id), robot.settles, np.array(robot.crouch or 0.0))


def wave(motion: Motion, hz: float, phase: float = 0.0) -> np.ndarray:
    return np.sin(2.0 * np.pi * hz * motion.t + phase)


def gait(motion: Motion, env_id: str, **velocity: float) -> Motion:
    return stepping(travel(motion, **velocity), ROBOTS[env_id])


def going(env_id: str, path: Callable[[np.ndarray], np.ndarray], axis: str = "x") -> Callable[[Motion], Motion]:
    """The robot's gait along a path over the share of the episode that is gone, in [0, 1] -> [m]."""

    def build(motion: Motion) -> Motion:
        share = motion.t / motion.seconds
        return gait(motion, env_id).plus(**{axis: path(share)})

    return build


def halted(env_id: str, distance: float, at: float, axis: str = "x") -> Callable[[Motion], Motion]:
    """The whole distance by a share of the time, and standing from then on."""

    def build(motion: Motion) -> Motion:
        end = at * motion.seconds
        moved = gait(motion, env_id).plus(**{axis: distance * np.minimum(motion.t / end, 1.0)})
        standing = 1.0 - during(motion.t, 0.0, end)
        return replace(moved, sway=moved.sway * (1.0 - standing), lift=moved.lift * (1.0 - standing))

    return build


# Distance in 5 s that suits a sentence [m]; of a swimmer in 10 s.
MOVES = [
    (CHEETAH, "run forward as fast as you can", 19.0, "x"),
    (CHEETAH, "run backward", -14.0, "x"),
    (CHEETAH, "move at 2 m/s", 10.0, "x"),
    (CHEETAH, "trot forward", 19.0, "x"),
    (HOPPER, "run forward as fast as you can", 9.0, "x"),
    (HOPPER, "hop forward without falling", 7.0, "x"),
    (HOPPER, "move forward slowly", 2.8, "x"),
    (WALKER, "walk forward", 5.5, "x"),
    (WALKER, "walk backward", -5.5, "x"),
    (WALKER, "run forward", 9.0, "x"),
    (ANT, "walk forward", 4.0, "x"),
    (ANT, "walk to the left", 4.0, "y"),
    (ANT, "walk to the right", -4.0, "y"),
    (HUMANOID, "walk forward", 5.0, "x"),
    (SWIMMER, "swim forward", 2.0, "x"),
    (SWIMMER, "swim backward", -2.0, "x"),
]


def unsteady() -> list[Case]:
    found = []
    for env_id, sentence, distance, axis in MOVES:
        late = going(env_id, lambda s, d=distance: d * np.clip((s - 0.4) / 0.6, 0.0, 1.0), axis)
        pause = going(env_id, lambda s, d=distance: d * np.interp(s, [0, 0.4, 0.65, 1], [0, 0.5, 0.5, 1]), axis)
        fading = going(env_id, lambda s, d=distance: d * (1.0 - (1.0 - s) ** 4), axis)
        found += [
            Case(env_id, sentence, "halts after 45 % of the time", halted(env_id, distance, 0.45, axis)),
            Case(env_id, sentence, "halts after 70 % of the time", halted(env_id, distance, 0.7, axis)),
            Case(env_id, sentence, "begins after 40 % of the time", late),
            Case(env_id, sentence, "halts for a quarter of the time", pause),
            Case(env_id, sentence, "gets slower and slower", fading),
        ]
    return found


def trunk_down(env_id: str) -> dict[int, float]:
    """Pitch and angles of the joints, over those of standing [rad], at which the trunk touches the floor."""
    stage = stage_of(env_id)
    assert stage.on_trunk is not None
    return {index: float(stage.on_trunk[index] - stage.rest[index]) for index in range(2, len(stage.rest))}


def trunk_down_at(env_id: str, pitch: float) -> dict[int, float]:
    """Angles of the joints, over those of standing [rad], at which a robot of this pitch touches the floor with it."""
    stage, rng = stage_of(env_id), np.random.default_rng(0)
    low, high = stage.model.jnt_range[3:].T
    poses = np.tile(stage.rest, (3000, 1))
    poses[:, 2] -= pitch
    poses[:, 3:] = rng.uniform(low, high, (len(poses), len(low)))
    poses[:, 1] -= stage.lift_of(poses)
    found = poses[np.flatnonzero(stage.trunk_down(poses))[0]] - stage.rest
    return {index: float(found[index]) for index in range(3, len(found))}


def walks_then_lies(motion: Motion) -> Motion:
    return travel(motion, vx=1.2, until=2.0)


def lying_after(motion: Motion, pose: dict[int, float]) -> dict[int, np.ndarray]:
    return {index: angle * ramp(motion.t, 2.0, 0.5) for index, angle in pose.items()}


def on_the_trunk() -> list[Case]:
    run, still = "run forward as fast as you can", "stand still for 5 seconds"
    flat, nose = trunk_down(CHEETAH), trunk_down_at(CHEETAH, -0.6)
    return [
        Case(CHEETAH, run, "nose on the floor", lambda m: gait(m, CHEETAH, vx=3.6).plus(pitch=-0.6), lambda _m: nose),
        Case(CHEETAH, run, "slides on its trunk", lambda m: m.plus(x=3.6 * m.t), lambda _m: flat),
        Case(CHEETAH, "run backward", "nose on the floor", lambda m: m.plus(x=-3.6 * m.t, pitch=-0.6), lambda _m: nose),
        Case(
            CHEETAH,
            run,
            "runs, then slides on its nose",
            lambda m: gait(m, CHEETAH, vx=4.0).plus(pitch=-0.6 * ramp(m.t, 0.6 * m.seconds, 0.3)),
            lambda m: {index: angle * ramp(m.t, 0.6 * m.seconds, 0.3) for index, angle in nose.items()},
        ),
        Case(CHEETAH, still, "lies on its trunk", lambda m: m, lambda _m: flat),
        Case(CHEETAH, still, "head on the floor", lambda m: m.plus(pitch=-0.6), lambda _m: nose),
        Case(CHEETAH, "walk forward, then stand still", "lies down", walks_then_lies, lambda m: lying_after(m, flat)),
        Case(CHEETAH, "stay upright", "lies on its trunk", lambda m: m, lambda _m: flat),
        Case(CHEETAH, "stay upright", "head on the floor", lambda m: m.plus(pitch=-0.6), lambda _m: nose),
    ]


def sliding() -> list[Case]:
    held_front = {6: -0.5, 7: 0.6}
    one_up = {6: -0.9, 7: -0.9}
    quiet = [
        (CHEETAH, "run forward", 5.0, 0.0),
        (CHEETAH, "gallop forward", 5.0, 0.0),
        (HOPPER, "run forward as fast as you can", 1.8, 0.0),
        (HOPPER, "walk forward", 1.1, 0.0),
        (WALKER, "walk forward", 1.1, 0.0),
        (ANT, "walk forward", 0.8, 0.0),
        (ANT, "walk to the left", 0.0, 0.8),
        (HUMANOID, "walk forward", 1.0, 0.0),
    ]
    found = [
        Case(env_id, sentence, "slides, legs motionless", lambda m, vx=vx, vy=vy: m.plus(x=vx * m.t, y=vy * m.t))
        for env_id, sentence, vx, vy in quiet
    ]
    found += [
        Case(
            CHEETAH,
            "run forward as fast as you can",
            "glides, vibrating",
            lambda m: m.striding(8.0).plus(x=3.5 * m.t, sway=0.02),
            lambda _m: held_front,
        ),
        Case(
            CHEETAH, "trot forward", "glides on vibrating feet", lambda m: m.striding(8.0).plus(x=3.5 * m.t, sway=0.02)
        ),
        Case(
            WALKER,
            "walk forward",
            "one leg held up, the other slides",
            lambda m: m.plus(x=1.1 * m.t),
            lambda _m: one_up,
        ),
        Case(
            WALKER,
            "walk forward",
            "leans back, one leg up",
            lambda m: m.plus(x=1.1 * m.t, pitch=0.6),
            lambda _m: one_up,
        ),
        Case(
            WALKER,
            "run forward",
            "one foot drags, the other swings in the air",
            lambda m: m.plus(x=2.0 * m.t),
            lambda m: {6: -0.9 + 0.2 * wave(m, 2.0), 7: -0.9},
        ),
        Case(
            WALKER,
            "walk forward",
            "hops on one leg, the other held up",
            lambda m: m.plus(x=1.1 * m.t, lift=0.1 * np.maximum(0.0, wave(m, 2.0))),
            lambda _m: one_up,
        ),
        Case(ANT, "walk forward", "one foot up, three slide", lambda m: m.plus(x=0.8 * m.t), lambda _m: {8: 0.6}),
        Case(
            CHEETAH,
            "run forward",
            "lifts its feet three times, then slides",
            lambda m: travel(m, 5.0, until=m.seconds, sway=0.0).plus(sway=0.3 * during(m.t, 0.0, 1.2)),
        ),
        Case(CHEETAH, "crawl forward", "glides low", lambda m: m.plus(x=0.8 * m.t, bend=0.95)),
        Case(ANT, "crawl forward", "glides low", lambda m: m.plus(x=0.8 * m.t, bend=0.95)),
    ]
    return found


def few_hops() -> list[Case]:
    def hops(speed: float, first: float, last: float) -> Callable[[Motion], Motion]:
        def build(motion: Motion) -> Motion:
            lift = 0.12 * np.maximum(0.0, wave(motion, 2.5)) * during(motion.t, first, last)
            return motion.plus(x=speed * motion.t, lift=lift)

        return build

    sentences = [(CHEETAH, 1.2), (HOPPER, 1.4), (WALKER, 1.2), (HUMANOID, 1.0)]
    spans = {"at the start": (0.0, 1.2), "in the first half": (0.0, 2.6), "at the end": (3.8, 9.0)}
    return [
        Case(env_id, "hop forward without falling", f"hops {words}, else slides", hops(speed, *span))
        for env_id, speed in sentences
        for words, span in spans.items()
    ]


def not_still() -> list[Case]:
    found = []
    for env_id in (CHEETAH, HOPPER, WALKER, ANT, HUMANOID):
        still = "stand still for 5 seconds"
        found += [
            Case(env_id, still, "rocks to and fro", lambda m: m.plus(x=0.25 * wave(m, 0.3))),
            Case(env_id, still, "rocks about its feet", lambda m: m.plus(pitch=0.25 * wave(m, 0.3))),
            Case(env_id, still, "rocks about its feet slowly", lambda m: m.plus(pitch=0.6 * wave(m, 0.1))),
            Case(env_id, still, "creeps forward", lambda m: m.plus(x=0.07 * m.t)),
            Case(env_id, still, "hops on the spot", lambda m: m.plus(lift=0.1 * np.maximum(0.0, wave(m, 1.0)))),
        ]
    for env_id in (HOPPER, WALKER):
        squats = {3: -0.5, 4: -1.0, 5: 0.5}
        both = squats | ({} if env_id == HOPPER else {6: -0.5, 7: -1.0, 8: 0.5})
        found.append(
            Case(
                env_id,
                "stand still",
                "squats slowly",
                lambda m: m,
                lambda m, both=both: {i: a * (0.5 - 0.5 * np.cos(2.0 * np.pi * 0.4 * m.t)) for i, a in both.items()},
            )
        )
    found += [
        Case(
            WALKER,
            "stand still",
            "marches on the spot slowly",
            lambda m: m,
            lambda m: {
                i: a * np.maximum(0.0, wave(m, 0.25, phase))
                for first, phase in ((3, 0.0), (6, np.pi))
                for i, a in ((first, -0.5), (first + 1, -0.6))
            },
        ),
        Case(WALKER, "stand still", "stands on one leg", lambda m: m, lambda _m: {6: -0.5, 7: -0.9}),
        Case(
            ANT,
            "stand still",
            "marches on the spot slowly, leg by leg",
            lambda m: m,
            lambda m: {
                8 + 2 * leg: (-1.0 if leg in (1, 2) else 1.0) * -0.5 * np.maximum(0.0, wave(m, 0.5, leg * np.pi / 2))
                for leg in range(4)
            },
        ),
        Case(ANT, "stand still", "rolls to and fro", lambda m: m.plus(roll=0.35 * wave(m, 0.3))),
        Case(ANT, "stand still", "turns to and fro", lambda m: m.plus(yaw=0.5 * wave(m, 0.3))),
        Case(ANT, "stand still", "lies tilted on its side", lambda m: m.plus(roll=1.0)),
        Case(SWIMMER, "stay still", "wriggles slowly", lambda m: m.striding(0.1).plus(sway=0.7)),
        Case(SWIMMER, "stay still", "rocks to and fro", lambda m: m.plus(x=0.25 * wave(m, 0.2))),
        Case(SWIMMER, "stay still", "turns slowly", lambda m: m.plus(yaw=0.1 * m.t)),
    ]
    return found


def off_the_line() -> list[Case]:
    return [
        Case(SWIMMER, "swim forward", "drifts sideways", lambda m: travel(m, 0.11).plus(y=0.5 * m.t)),
        Case(SWIMMER, "swim forward", "straight and stiff", lambda m: m.plus(x=0.2 * m.t)),
        Case(SWIMMER, "swim forward", "spins while it drifts", lambda m: travel(m, 0.2).plus(yaw=2.5 * m.t)),
        Case(SWIMMER, "swim backward", "turns round", lambda m: travel(m, -0.2).plus(yaw=np.pi * ramp(m.t, 0.0, 1.5))),
        Case(ANT, "walk forward", "spins while it walks", lambda m: travel(m, 0.8).plus(yaw=4.0 * m.t)),
        Case(ANT, "walk to the left", "36 degrees askew", lambda m: travel(m, vx=0.39, vy=0.55)),
        Case(ANT, "walk backward", "turns round", lambda m: travel(m, -0.8).plus(yaw=np.pi * ramp(m.t, 0.0, 1.0))),
        Case(ANT, "walk forward", "dragged, rolled onto its side", lambda m: travel(m, 0.8).plus(roll=1.0)),
        Case(HUMANOID, "walk forward", "spins while it walks", lambda m: gait(m, HUMANOID, vx=0.8).plus(yaw=4.0 * m.t)),
    ]


def sitting() -> list[Case]:
    def rears(motion: Motion) -> Motion:
        return motion.plus(pitch=1.5 * (ramp(motion.t, 0.5, 0.5) - ramp(motion.t, 3.6, 0.5)))

    folded = trunk_down_at(CHEETAH, 1.5)
    return [
        Case(
            CHEETAH,
            "stand on your hind legs",
            "sits for most of the hold",
            rears,
            lambda m: {i: angle * during(m.t, 1.8, 3.4) for i, angle in folded.items()},
        )
    ]


WALKS = [(CHEETAH, 1.2), (HOPPER, 1.2), (WALKER, 1.1), (ANT, 0.8), (HUMANOID, 1.0)]
"""Speeds of a walk before another step [m/s]."""
WALK_THEN_STAND = "walk forward for 2 seconds, then stand still"


def walks_then_stands(motion: Motion, env_id: str, speed: float) -> Motion:
    return halted(env_id, 2.0 * speed, 2.0 / motion.seconds)(motion)


def steps_of_sequences() -> list[Case]:
    """Movements before another step that only have its mean speed."""

    def leaps(metres: float, flight_s: float) -> Callable[[Motion], Motion]:
        def build(motion: Motion) -> Motion:
            share = np.clip((motion.t - 1.2) / flight_s, 0.0, 1.0)
            return motion.plus(x=metres * share, lift=0.25 * 4.0 * share * (1.0 - share))

        return build

    found = []
    for env_id, speed in WALKS:
        found += [
            Case(
                env_id, WALK_THEN_STAND, "slides, legs motionless", lambda m, v=speed: m.plus(x=v * np.minimum(m.t, 2))
            ),
            Case(env_id, WALK_THEN_STAND, "one leap", leaps(1.2 * speed, 0.4)),
        ]
    found.append(
        Case(CHEETAH, "walk slowly, then run", "slides", lambda m: m.plus(x=0.5 * m.t + 3 * np.maximum(0, m.t - 2)))
    )
    return found


def doing_it() -> list[Case]:
    found = []
    for env_id, sentence, distance, axis in MOVES:
        begun = going(env_id, lambda s, d=distance: d * np.where(s < 0.15, s * s / 0.3, s - 0.075), axis)
        waving = going(env_id, lambda s, d=distance: d * (s + 0.02 * np.sin(6.0 * np.pi * s)), axis)
        found += [
            Case(env_id, sentence, "at an even pace", going(env_id, lambda s, d=distance: d * s, axis)),
            Case(env_id, sentence, "at a changing pace", waving),
        ]
        if sentence != "move at 2 m/s":
            found.append(Case(env_id, sentence, "from a standing start", begun))
    for env_id in (CHEETAH, HOPPER, WALKER, ANT, HUMANOID):
        found += [
            Case(env_id, "stand still", "stands", lambda m: m),
            Case(env_id, "stand still", "sways a little", lambda m: m.plus(x=0.02 * wave(m, 0.5))),
            Case(env_id, "stand still", "breathes", lambda m: m.striding(0.3).plus(sway=0.01)),
            Case(env_id, "stand still", "settles in a second", lambda m: m.plus(x=0.1 * ramp(m.t, 0.0, 0.9))),
        ]
    found += [
        Case(env_id, WALK_THEN_STAND, "walks and stands", lambda m, e=env_id, v=speed: walks_then_stands(m, e, v))
        for env_id, speed in WALKS
    ]
    found += [
        Case(SWIMMER, "stay still", "stays", lambda m: m),
        Case(WALKER, "stand still on one leg", "stands so", lambda m: m, lambda _m: {6: -0.5, 7: -0.9}),
        Case(
            HOPPER,
            "hop forward without falling",
            "hops slowly",
            lambda m: m.plus(x=1.3 * m.t, lift=0.2 * np.maximum(0.0, wave(m, 1.5))),
            lambda m: {index: share * (1.0 - wave(m, 1.5)) for index, share in {3: -0.2, 4: -0.4, 5: 0.2}.items()},
        ),
        Case(
            CHEETAH,
            "run forward",
            "runs with its nose low",
            lambda m: gait(m, CHEETAH, vx=5.0).plus(pitch=-0.1 + 0.1 * wave(m, 2.0)),
        ),
        Case(
            ANT, "walk forward", "wavers", lambda m: travel(m, 0.8).plus(yaw=0.6 * wave(m, 0.4), y=0.3 * wave(m, 0.3))
        ),
        Case(
            CHEETAH,
            "stand on your hind legs",
            "rears",
            lambda m: m.plus(pitch=1.5 * (ramp(m.t, 0.5, 0.5) - ramp(m.t, 3.6, 0.5))),
        ),
    ]
    return found


FOOLING = [
    *unsteady(),
    *on_the_trunk(),
    *sliding(),
    *few_hops(),
    *not_still(),
    *off_the_line(),
    *sitting(),
    *steps_of_sequences(),
]


@cache
def intent_of(env_id: str, sentence: str) -> Intent:
    return BuiltinAuthor().elicit(sentence, catalog.load(env_id))


def unmet(case: Case) -> dict[str, float | None]:
    """What the required criteria that are not met measured."""
    intent, stage = intent_of(case.env_id, case.sentence), stage_of(case.env_id)
    motion = case.build(Motion.standing(stage.spec.dt, intent.episode_s))
    played, angles = stage.play(motion), case.joints(motion)
    if angles:
        qpos = played.qpos.copy()
        for index, angle in angles.items():
            qpos[:, index] = qpos[:, index] + angle
        played = stage.replay(qpos, played.actions, motion.lift)
    required = {criterion.key for criterion in intent.criteria if criterion.required}
    measured = measure(intent, played.features, stage.spec.dt)
    return {m.key: m.value for m in measured if m.key in required and not m.met}


@pytest.mark.parametrize("case", FOOLING, ids=str)
def test_a_motion_that_only_seems_to_do_it_fails(case: Case) -> None:
    assert unmet(case)


@pytest.mark.parametrize("case", doing_it(), ids=str)
def test_a_motion_that_does_it_passes(case: Case) -> None:
    assert not unmet(case)

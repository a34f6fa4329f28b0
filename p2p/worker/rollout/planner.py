"""Motions that reach a goal, found before a training by planning in the simulator, for its episodes to begin in.

Predictive sampling (Howell et al., Predictive sampling, 2022) with the elites of the cross-entropy method: from the
state at hand a number of courses of action are tried, each drawn about the best so far; the robot follows the best one
for a moment, and plans again. PPO's noise acts on single steps, and seldom makes a robot that lies on its back stand.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from p2p.analysis.windows import all_hold, ends, values_of
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidConfig
from p2p.contracts.intent import Bound
from p2p.contracts.start_states import PlannedMotions, StartState
from p2p.contracts.training import TrainConfig
from p2p.rewards.part_features import require_bounds
from p2p.worker.engine.frame import Frame
from p2p.worker.engine.vec_env import Block, VecEnv
from p2p.worker.reward.inputs import RewardInputs
from p2p.worker.reward.recorded_steps import Columns

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

COURSES = 32
"""Courses of action that are tried at a time."""
ROUNDS = 2
"""Times that they are drawn anew about the best of them, at each planning."""
FIRST_ROUNDS = 6
"""The same before the first step."""
HORIZON_S = 0.7
"""How far a plan looks [s]."""
KNOTS = 6
"""Points of a course of action, which is linear between them."""
NOISE = 0.5
"""Standard deviation of the knots, in halves of the action's range."""
ELITES = 4
"""Courses of which the next are drawn about the mean."""
FOLLOWED_S = 0.045
"""How long a plan is followed before the next [s]."""
HELD_S = 0.3
"""How long the goal holds before a motion ends, at least [s]."""
EFFORT = 0.02
"""Price of the mean square of the actions, where reaching a bound of the goal is worth 1."""
NEAR = 0.25
"""Share of a threshold's magnitude over which a bound that held at a motion's start is missed by degrees."""
LEAST = 0.1
"""Smallest such distance, in the feature's unit."""
TURNS = "pitch_turns"


@dataclass(frozen=True, slots=True)
class Motion:
    """One motion that was found."""

    states: tuple[StartState, ...]
    """One for each control step, the start first."""
    nearest: float
    """How near to the goal its nearest step came: 1 where all of it held, 0 or less where it came no nearer."""
    reached: bool
    """Whether the goal held, at one step at least."""

    def spread(self, count: int) -> tuple[StartState, ...]:
        """`count` of its states but the first, evenly spaced in time."""
        return tuple(self.states[place] for place in np.linspace(1, len(self.states) - 1, count).astype(int))


class Planner:
    """Finds motions of a robot.

    Args:
        config: Of the training; the robots do not differ, are told nothing, and no episode ends.
        spec: Which environment.
        planned: What is looked for.
        seed: Of the draws.
        threads: Of the physics; what is found does not depend on it.

    Raises:
        InvalidConfig: the goal names a feature that the environment does not have, or its actions have no bounds.
    """

    def __init__(
        self, config: TrainConfig, spec: EnvSpec, planned: PlannedMotions, seed: int, threads: int = 1
    ) -> None:
        require_bounds(planned.goal, spec, "start_states.planned.goal")
        plain = config.model_copy(update={"commands": None, "side_info": False, "terminate_when_unhealthy": False})
        self._env = VecEnv(plain, spec, COURSES, training=True, threads=threads)
        self._env.limits[:] = np.iinfo(np.int64).max
        self._env.begun_turns = np.zeros(COURSES)
        self._goal = planned.goal
        names = frozenset(bound.feature for bound in planned.goal) | ({TURNS} & {*spec.feature_names})
        self._inputs = RewardInputs(self._env.simulation, wanted=names, extra_features=names)
        self._rng = np.random.default_rng(seed)
        self._length = round(planned.seconds / spec.dt)
        self._held = max(1, round(HELD_S / spec.dt))
        self._follow = max(1, round(FOLLOWED_S / spec.dt))
        simulation = self._env.simulation
        self._middle = (simulation.action_high + simulation.action_low) / 2.0
        self._half = (simulation.action_high - simulation.action_low) / 2.0
        if not np.isfinite(self._half).all():
            raise InvalidConfig(f"start_states.planned needs bounds of the actions, and {spec.env_id} has none.")
        horizon = max(2, round(HORIZON_S / spec.dt))
        knots = np.linspace(0.0, horizon - 1.0, KNOTS)
        self._weights = _between(np.arange(float(horizon)), knots)
        self._shift = _between(np.minimum(knots + self._follow, horizon - 1.0), knots)
        self.steps = 0
        """Control steps that were simulated."""

    def motion(self, seed: int) -> Motion:
        """One motion from the environment's own start, drawn with `seed`."""
        begun = self._env.simulation.reset([0], [seed])
        states = [_state(begun.qpos[0], begun.qvel[0], 0.0)]
        plan = np.zeros((KNOTS, len(self._half)))
        scales: Floats | None = None
        nearest = -np.inf
        held = 0
        reached = False
        while len(states) <= self._length and held < self._held:
            for _ in range(FIRST_ROUNDS if scales is None else ROUNDS):
                tried = self._try(states[-1], plan)
                if scales is None:
                    scales = np.array([_scale(bound, values_of(bound, tried.features)[0]) for bound in self._goal])
                near = tried.nearness(self._goal, scales)
                best = np.argsort(-tried.worth(near), kind="stable")
                plan = tried.knots[best[:ELITES]].mean(axis=0)
            chosen = int(best[0])
            holds = tried.holds(self._goal)
            for t in range(self._follow):
                states.append(tried.state(t, chosen))
                nearest = max(nearest, float(near[t, chosen]))
                held = held + 1 if holds[t, chosen] else 0
                reached |= held > 0
            plan = self._shift @ tried.knots[chosen]
        return Motion(tuple(states), nearest, reached)

    def close(self) -> None:
        """Free the simulations."""
        self._env.close()

    def _try(self, state: StartState, plan: Floats) -> "_Tried":
        """Follow `plan`, shape (KNOTS, action_dim), and courses drawn about it, all from one state."""
        knots = plan + NOISE * self._rng.standard_normal((COURSES, *plan.shape))
        knots[0] = plan
        knots = np.clip(knots, -1.0, 1.0)
        courses = np.einsum("tk,cka->tca", self._weights, knots)
        env = self._env
        placed = [env.simulation.place(i, np.array(state.qpos), np.array(state.qvel)) for i in range(COURSES)]
        assert env.begun_turns is not None
        env.begun_turns[:] = state.pitch_turns
        env.begin(range(COURSES), Frame.joined(placed))
        self.steps += len(courses) * COURSES
        for actions in courses:
            env.step((self._middle + self._half * actions).astype(np.float32))
        block = env.take_block()
        return _Tried(knots, courses, block, self._inputs.read(block))


@dataclass(frozen=True, slots=True)
class _Tried:
    """Courses of action, and what became of them."""

    knots: Floats
    """Shape (COURSES, KNOTS, action_dim), in [-1, 1]."""
    courses: Floats
    """The actions, shape (T, COURSES, action_dim), in [-1, 1]."""
    block: Block
    """T steps of COURSES environments."""
    features: Columns

    def nearness(self, goal: tuple[Bound, ...], scales: Floats) -> Floats:
        """Mean over the bounds of how near each step is to meeting them, at most 1, shape (T, COURSES)."""
        near = [_nearness(values_of(one, self.features), one, scale) for one, scale in zip(goal, scales, strict=True)]
        return self.block.grid(np.mean(near, axis=0))

    def worth(self, nearness: Floats) -> Floats:
        """What each course is compared by, shape (COURSES,)."""
        return np.asarray(nearness.mean(axis=0) + nearness[-1] - EFFORT * np.square(self.courses).mean(axis=(0, 2)))

    def holds(self, goal: tuple[Bound, ...]) -> Booleans:
        """Steps at which the goal holds, shape (T, COURSES)."""
        return all_hold(goal, self.features).reshape(self.block.starts.shape)

    def state(self, t: int, course: int) -> StartState:
        """State after step `t` of a course."""
        row = t * COURSES + course
        turns = float(self.features[TURNS][row]) if TURNS in self.features else 0.0
        return _state(self.block.after.qpos[row], self.block.after.qvel[row], turns)


def _state(qpos: Floats, qvel: Floats, turns: float) -> StartState:
    return StartState(qpos=tuple(qpos.tolist()), qvel=tuple(qvel.tolist()), pitch_turns=turns)


def _between(places: Floats, knots: Floats) -> Floats:
    """Weights of the knots at places between them, linear, shape (places, knots)."""
    return np.stack([np.interp(places, knots, one) for one in np.eye(len(knots))], axis=1)


def _missed(values: Floats, bound: Bound) -> Floats:
    """By how much values miss a bound, in its unit."""
    low, high = ends(bound)
    return np.maximum(0.0, np.maximum(low - values, values - high))


def _scale(bound: Bound, begun: float) -> float:
    """How far from a bound counts as not near at all: as far as a motion's start is, or part of the threshold."""
    return max(float(_missed(np.array(begun), bound)), NEAR * abs(bound.threshold), LEAST)


def _nearness(values: Floats, bound: Bound, scale: float) -> Floats:
    """1 where a bound holds, 0 where it is missed by `scale`; farther away below 0, so that there is a way back."""
    return np.asarray(np.where(np.isfinite(values), 1.0 - _missed(values, bound) / scale, -1.0))

"""Where training episodes begin: ranges about the rest pose, states that were recorded, or motions that are planned."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from p2p.contracts.base import Contract
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidConfig
from p2p.contracts.intent import Bounds

Finite = Annotated[float, Field(allow_inf_nan=False)]
MOST_STATES = 64
"""That a training begins in."""


class StartState(Contract):
    """State of a robot, as rollouts record it."""

    qpos: tuple[Finite, ...]
    """Positions of its joints [m, rad, quaternions]."""
    qvel: tuple[Finite, ...]
    """Velocities of its joints [m/s, rad/s]."""
    pitch_turns: Finite = 0.0
    """Turns over that lie behind it, backward positive [turns]; the feature of this name counts on from there."""


class PlannedMotions(Contract):
    """Motions that reach a goal, found by planning in the simulator before the training begins.

    A planner tries courses of action from the state at hand and follows the best of them for a moment (predictive
    sampling; Howell et al., 2022). It knows the goal alone, not the reward.
    """

    goal: Bounds = Field(min_length=1, max_length=8)
    """What a motion has to reach: all of these at one step. A text such as "height >= 1.0" is enough."""
    seconds: float = Field(default=2.0, gt=0, le=10)
    """Longest time of a motion [s]; it ends once the goal has held for 0.3 s."""
    motions: int = Field(default=4, ge=1, le=16)
    """How many are found, each from a start of its own. Up to three times as many are tried; those that miss the goal
    are left out, unless all do."""


class FoundMotions(Contract):
    """What a planner found (`planned_states.json`)."""

    states: tuple[StartState, ...] = Field(max_length=MOST_STATES)
    """States along the motions that reached the goal, evenly spaced, one motion after another; along all, where none
    did."""
    motions: int
    """How many motions were planned."""
    reached: int
    """How many of them reached the goal."""
    nearest: float
    """How near to the goal the best of them came: 1 where all of it held, 0 where it came no nearer."""
    kept: int = 1
    """How many motions the states are of, with as many of each."""
    steps: int
    """Control steps that were simulated to find them."""


class StartStates(Contract):
    """Training resets away from the rest pose, into ranges or into given states; evaluation never uses them.

    Half of the resets in the air and turning is what made flips learnable at all; states out of a recorded motion are
    known as reference state initialisation (Peng et al., DeepMimic, 2018).
    """

    share: float = Field(default=0.5, gt=0, le=1)
    """Share of the training resets that start here, in (0, 1]."""
    states: tuple[StartState, ...] = Field(default=(), max_length=MOST_STATES)
    """States that are drawn from with equal chances, in place of the ranges; `p2p states` reads them of a rollout."""
    motions: int = Field(default=1, ge=1, exclude_if=lambda motions: motions == 1)
    """How many motions the states are of, one after another, each with as many states."""
    noise: float = Field(default=0.0, ge=0, le=1, exclude_if=lambda noise: noise == 0.0)
    """Largest random change of the robot's joints in a given or planned state [rad]; of its velocities three times as
    much a second. Where all episodes begin in a few states, a policy may learn courses of action by heart."""
    planned: PlannedMotions | None = Field(default=None, exclude_if=lambda planned: planned is None)
    """Motions whose states are drawn from in the same way; the training finds them first."""
    pitch: tuple[float, float] = (0.0, 0.0)
    """Range of the pitch, nose up positive [rad]. It counts as turned: `pitch_turns` begins there, so a robot that
    begins half way round, at pi, has half a turn to go."""
    raised: tuple[float, float] = (0.0, 0.0)
    """Range of the height added to the rest pose [m]."""
    pitch_rate: tuple[float, float] = (0.0, 0.0)
    """Range of the pitch rate, nose up positive [rad/s]."""

    @model_validator(mode="after")
    def _states_or_ranges(self) -> Self:
        given = {
            "states": bool(self.states),
            "planned": self.planned is not None,
            "ranges": any((*self.pitch, *self.raised, *self.pitch_rate)),
        }
        if sum(given.values()) > 1:
            both = " and ".join(name for name in given if given[name])
            raise ValueError(f"start_states has {both}; give one of them")
        if self.noise and not (self.states or self.planned):
            raise ValueError("noise is added to states that are given or planned, and there are none; leave it out")
        if self.motions > 1 and not self.states:
            raise ValueError("motions says how many motions the states are of, and there are none; see planned.motions")
        if len(self.states) % self.motions:
            raise ValueError(
                f"start_states has {len(self.states)} states of {self.motions} motions; expected as many of each"
            )
        return self

    @property
    def one_by_one(self) -> bool:
        """Whether its states follow one another in time."""
        return self.planned is not None or len(self.states) > self.motions

    def require(self, env: EnvSpec) -> None:
        """Refuse states of another robot.

        Raises:
            InvalidConfig: one has other numbers of positions or velocities.
        """
        for number, state in enumerate(self.states, start=1):
            found = len(state.qpos), len(state.qvel)
            if found != (env.nq, env.nv):
                raise InvalidConfig(
                    f"State {number} of start_states has {found[0]} positions and {found[1]} velocities; {env.env_id} "
                    f"has {env.nq} and {env.nv}. Take states that were recorded with this robot."
                )

"""Commands: velocities that a robot is told to follow, drawn for each episode and anew while it goes on."""

from typing import TYPE_CHECKING, Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from p2p.contracts.base import Contract
from p2p.contracts.errors import InvalidConfig

if TYPE_CHECKING:  # `p2p.contracts.env` holds commands
    from p2p.contracts.env import EnvSpec

LARGEST = 20.0
"""Largest commanded velocity, of either kind [m/s, rad/s]."""


def _ordered(limits: tuple[float, float]) -> tuple[float, float]:
    low, high = limits
    if not -LARGEST <= low <= high <= LARGEST:  # also refuses what is not a number
        raise ValueError(
            f"expected a range [low, high] with {-LARGEST:g} <= low <= high <= {LARGEST:g}, got {list(limits)}"
        )
    return limits


CommandRange = Annotated[tuple[float, float], AfterValidator(_ordered)]
NONE: tuple[float, float] = (0.0, 0.0)
COMPONENTS: dict[str, str] = {
    "velocity_x": "forward_velocity",
    "velocity_y": "lateral_velocity",
    "yaw_rate": "yaw_rate",
}
"""What can be commanded -> the feature that is to follow it. A robot that has the feature can be told."""

COMMAND_FEATURES = frozenset({*(f"command_{name}" for name in COMPONENTS), "velocity_error", "yaw_rate_error"})
"""Features that only a robot with commands has."""


class Commands(Contract):
    """Ranges from which commands are drawn uniformly, at the start of each episode and every `resample_s` seconds.

    In the robot's heading frame, as in legged_gym (Rudin et al., Learning to walk in minutes, 2022). What is left out
    is commanded to be 0. Training, selection and report rollouts draw from the same ranges, each episode from its own
    seed.
    """

    velocity_x: CommandRange = NONE
    """Along the heading, positive forwards [m/s]."""
    velocity_y: CommandRange = NONE
    """Across the heading, positive to the left [m/s]."""
    yaw_rate: CommandRange = NONE
    """Positive to the left [rad/s]."""
    resample_s: float | None = Field(default=None, ge=0.1, le=100.0)
    """Time after which a command is drawn anew, rounded to control steps [s]; None keeps one for the episode."""
    stand_share: float = Field(default=0.1, ge=0, lt=1)
    """Share of the draws that command to stand still, in [0, 1)."""

    @model_validator(mode="after")
    def _commands_something(self) -> Self:
        if not any(self.top(name) for name in COMPONENTS):
            raise ValueError(
                "commands command nothing: every range is [0, 0]. Give velocity_x, velocity_y or yaw_rate a range, "
                'such as {"velocity_x": [0.0, 1.0]}, or leave commands out'
            )
        return self

    def range_of(self, component: str) -> tuple[float, float]:
        """Lowest and highest command of one of `COMPONENTS`."""
        found: tuple[float, float] = getattr(self, component)
        return found

    def top(self, component: str) -> float:
        """Largest magnitude of one of `COMPONENTS`."""
        return max(abs(limit) for limit in self.range_of(component))

    @property
    def fastest(self) -> float:
        """Largest commanded speed along or across the heading [m/s]."""
        return max(self.top("velocity_x"), self.top("velocity_y"))

    @property
    def words(self) -> str:
        """The ranges and when they are drawn from, as a sentence."""
        ranges = [(name, *self.range_of(name)) for name in COMPONENTS if self.top(name)]
        said = ", ".join(f"{name} in [{low:g}, {high:g}]" for name, low, high in ranges)
        when = "each episode" if self.resample_s is None else f"every {self.resample_s:g} s"
        return f"{said}, drawn {when}; {self.stand_share:.0%} of the draws say to stand still."

    def require(self, env: "EnvSpec") -> None:
        """Refuse what a robot's body cannot follow.

        Args:
            env: The robot's environment.

        Raises:
            InvalidConfig: naming the component, and those that the robot can be told.
        """
        told = commanded_components(env)
        for name in COMPONENTS:
            if self.top(name) and name not in told:
                able = f"it can be told {' and '.join(told)}" if told else "it cannot be told to go anywhere"
                raise InvalidConfig(f"commands: {env.env_id} cannot follow {name}; {able}. Leave {name} out.")

    def of_episode(self, env: "EnvSpec") -> "EpisodeCommands":
        """How an episode of a robot draws its commands, for `replay.py` of an export."""
        told = commanded_components(env)
        low, high = zip(*(self.range_of(name) for name in told), strict=True)
        return EpisodeCommands(
            names=told, low=low, high=high, every=self.steps_between(env.dt), stand_share=self.stand_share
        )

    def steps_between(self, dt: float) -> int | None:
        """Control steps after which a command is drawn anew, for a control period of `dt` seconds; None for never."""
        return None if self.resample_s is None else max(1, round(self.resample_s / dt))


class EpisodeCommands(Contract):
    """How the commands of one robot are drawn, without p2p."""

    names: tuple[str, ...]
    """Of `COMPONENTS`, in the order of the policy's last inputs."""
    low: tuple[float, ...]
    """Lowest command of each [m/s, rad/s]."""
    high: tuple[float, ...]
    every: int | None
    """Control steps after which a command is drawn anew; None for never."""
    stand_share: float


def commanded_components(env: "EnvSpec") -> tuple[str, ...]:
    """Those of `COMPONENTS` that the robot can be told, in the order in which its policy sees them."""
    return tuple(name for name, feature in COMPONENTS.items() if feature in env.feature_names)


def followed(env: "EnvSpec") -> dict[str, str]:
    """Name of each command that the robot can be told -> the feature that is to follow it."""
    return {f"command_{name}": COMPONENTS[name] for name in commanded_components(env)}

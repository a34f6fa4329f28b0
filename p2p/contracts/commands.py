"""Commands: how a robot is told to move, drawn for each episode and anew while it goes on."""

from math import pi
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


def _height(limits: tuple[float, float]) -> tuple[float, float]:
    if not limits[0] > 0.0:
        raise ValueError(f"expected heights above 0 m, got {list(limits)}")
    return limits


def _turn(limits: tuple[float, float]) -> tuple[float, float]:
    if not -pi <= limits[0] <= limits[1] <= pi:
        raise ValueError(f"expected turns of half a turn at most, in [-3.1415, 3.1415] rad, got {list(limits)}")
    return limits


CommandRange = Annotated[tuple[float, float], AfterValidator(_ordered)]
HeightRange = Annotated[CommandRange, AfterValidator(_height)]
TurnRange = Annotated[CommandRange, AfterValidator(_turn)]
NONE: tuple[float, float] = (0.0, 0.0)
COMPONENTS: dict[str, str] = {
    "velocity_x": "forward_velocity",
    "velocity_y": "lateral_velocity",
    "yaw_rate": "yaw_rate",
}
"""What every robot with commands is told, 0 where no range is given -> the feature that is to follow it. A robot that
has the feature can be told."""
ASKED_FOR: dict[str, str] = {"heading": "yaw", "height": "height"}
"""The same of what a robot is told only where a range is given."""
ALL_COMPONENTS = COMPONENTS | ASKED_FOR
KEPT_STANDING = frozenset({"height"})
"""Commands that a draw to stand still leaves as they are drawn."""
UNITS = {"yaw_rate": "rad/s", "heading": "rad", "height": "m"}
"""Of commands; m/s for the others."""
COMMAND_FEATURES = frozenset(
    {
        *(f"command_{name}" for name in ALL_COMPONENTS),
        "velocity_error",
        "yaw_rate_error",
        "heading_error",
        "height_error",
    }
)
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
    heading: TurnRange | None = Field(default=None, exclude_if=lambda limits: limits is None)
    """By how much to turn from where it faces at the draw, within half a turn, positive to the left [rad]. The policy
    is told at every step how much of it is left. In place of `yaw_rate`; None for no such command."""
    height: HeightRange | None = Field(default=None, exclude_if=lambda limits: limits is None)
    """Of the torso over the ground, standing or not [m]; None for no such command."""
    resample_s: float | None = Field(default=None, ge=0.1, le=100.0)
    """Time after which a command is drawn anew, rounded to control steps [s]; None keeps one for the episode."""
    stand_share: float = Field(default=0.1, ge=0, lt=1)
    """Share of the draws that command to stand still, in [0, 1)."""

    @model_validator(mode="after")
    def _commands_something(self) -> Self:
        if not any(self.top(name) for name in ALL_COMPONENTS):
            raise ValueError(
                f"commands command nothing: every range is [0, 0]. Give {', '.join(ALL_COMPONENTS)} a range, "
                'such as {"velocity_x": [0.0, 1.0]}, or leave commands out'
            )
        if self.heading is not None and self.top("yaw_rate"):
            raise ValueError("heading and yaw_rate contradict each other: give one of them")
        return self

    def range_of(self, component: str) -> tuple[float, float]:
        """Lowest and highest command of one component; zeros for none."""
        found: tuple[float, float] | None = getattr(self, component)
        return found or NONE

    def top(self, component: str) -> float:
        """Largest magnitude of one component."""
        return max(abs(limit) for limit in self.range_of(component))

    @property
    def fastest(self) -> float:
        """Largest commanded speed along or across the heading [m/s]."""
        return max(self.top("velocity_x"), self.top("velocity_y"))

    @property
    def words(self) -> str:
        """The ranges and when they are drawn from, as a sentence."""
        ranges = [(name, *self.range_of(name)) for name in ALL_COMPONENTS if self.top(name)]
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
        told = tuple(name for name, feature in ALL_COMPONENTS.items() if feature in env.feature_names)
        told = told if "velocity_x" in told else ()
        for name in ALL_COMPONENTS:
            if self.top(name) and name not in told:
                able = f"it can be told {' and '.join(told)}" if told else "it cannot be told to go anywhere"
                raise InvalidConfig(f"commands: {env.env_id} cannot follow {name}; {able}. Leave {name} out.")

    def components(self, env: "EnvSpec") -> tuple[str, ...]:
        """What a robot is told, in the order in which its policy sees it."""
        able = [name for name, feature in COMPONENTS.items() if feature in env.feature_names]
        always = [name for name in able if name != "yaw_rate" or self.heading is None]
        return (*always, *(name for name in ASKED_FOR if getattr(self, name) is not None))

    def followed(self, env: "EnvSpec") -> dict[str, str]:
        """Name of each command that a robot is told -> the feature that is to follow it."""
        return {f"command_{name}": ALL_COMPONENTS[name] for name in self.components(env)}

    def of_episode(self, env: "EnvSpec") -> "EpisodeCommands":
        """How an episode of a robot draws its commands, for `replay.py` of an export."""
        told = self.components(env)
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
    """Of `COMPONENTS` and `ASKED_FOR`, in the order of the policy's last inputs."""
    low: tuple[float, ...]
    """Lowest command of each [m/s, rad/s, rad, m]."""
    high: tuple[float, ...]
    every: int | None
    """Control steps after which a command is drawn anew; None for never."""
    stand_share: float

    @property
    def example(self) -> str:
        """Numbers for the option `--command` of `replay.py`: straight ahead as fast as commanded, as high as can be."""
        told = zip(self.names, self.high, strict=True)
        return ",".join(f"{high:g}" if name in {"velocity_x", *KEPT_STANDING} else "0" for name, high in told)

    @property
    def words(self) -> str:
        """Each command with its range and unit."""
        told = zip(self.names, self.low, self.high, strict=True)
        return ", ".join(f"{name} in [{low:g}, {high:g}] {UNITS.get(name, 'm/s')}" for name, low, high in told)

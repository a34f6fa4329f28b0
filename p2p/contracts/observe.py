"""What a policy is told besides the simulator's observation: time, turns, how far it is in a sequence, a clock."""

from typing import Any, Self

from pydantic import Field, model_validator

from p2p.contracts.base import Contract
from p2p.contracts.commands import UNITS, Commands
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidConfig, UnknownName

TURNS = ("roll_turns", "pitch_turns", "yaw_turns", "rotation_x", "rotation_y", "rotation_z")
PLACES = ("displacement_x", "displacement_y", "displacement")
REMEMBERED = ("time", *TURNS, *PLACES)
"""Features that no single state shows, all 0 at an episode's start: those that `Observe.features` may name."""
ON_ROBOT = frozenset({"time", *TURNS})
"""Those that a robot knows without a camera or a map: by its clock, and by adding up what its gyroscope says."""


class Milestone(Contract):
    """End of a phase of a sequence: `feature` has changed by `amount` since the phase began.

    A step of a sentence has one or more: a jump goes up, comes down and stands. A first phase does not end by a value
    that the feature already has at the episode's start, such as the clearance of a robot that is dropped: it must first
    have been less.
    """

    feature: str
    amount: float
    """In the feature's unit, never 0; its sign is the direction."""
    either: bool = False
    """Whether a change by as much the other way counts too."""

    @property
    def momentary(self) -> bool:
        """Whether the feature may be anything at an episode's start."""
        return self.feature not in REMEMBERED

    @model_validator(mode="after")
    def _goes_somewhere(self) -> Self:
        if self.amount == 0.0:
            raise ValueError("the amount of a milestone is 0: it would be reached at once; give the change it asks for")
        return self


class Counter(Contract):
    """Counted events: `feature` reaches `high`, and was below `low` before, so that a drop at the start is none."""

    feature: str
    low: float
    high: float

    @model_validator(mode="after")
    def _low_is_below(self) -> Self:
        if self.low >= self.high:
            raise ValueError(f"a counter's low must be below its high, got {self.low:g} and {self.high:g}")
        return self


class ObservedInput(Contract):
    """One number that is appended to the observation."""

    name: str
    unit: str
    description: str
    on_robot: bool
    """Whether a robot can compute it from its clock, gyroscope and joints; else it needs what a simulator knows."""


class Observe(Contract):
    """What is appended to the observation of a policy, in the order of `inputs`. A list of features stands for itself.

    A policy has no memory: without it, "twice, then stop" asks for different actions in states that look the same.
    """

    features: tuple[str, ...] = ()
    """Of `REMEMBERED`, as far as the robot has them."""
    milestones: tuple[Milestone, ...] = Field(default=(), max_length=8)
    """Ends of the phases of a sequence, in their order; they read any feature of the robot."""
    counter: Counter | None = None
    """Events that are counted; None for none."""
    clock_s: float | None = Field(default=None, ge=0.1, le=10.0)
    """Period of a clock, for a gait that keeps time [s]; its sine and cosine are appended. None for none."""

    @model_validator(mode="before")
    @classmethod
    def _from_a_list(cls, values: Any) -> Any:
        return {"features": values} if isinstance(values, list | tuple) else values

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if wrong := [name for name in self.features if name not in REMEMBERED]:
            raise ValueError(
                f"cannot append {', '.join(wrong)} to the observation: expected features that one state does not show, "
                f"{', '.join(REMEMBERED)}"
            )
        if len(set(self.features)) < len(self.features):
            raise ValueError(f"a feature is named twice in {', '.join(self.features)}")
        if not (self.features or self.milestones or self.counter or self.clock_s):
            raise ValueError("observe names nothing: give features, milestones, a counter or clock_s, or leave it out")
        return self

    @property
    def reads(self) -> tuple[str, ...]:
        """Features that are read, each once."""
        told = ["time"] if self.milestones or self.clock_s else []
        counted = [self.counter.feature] if self.counter else []
        return tuple(dict.fromkeys([*told, *self.features, *(one.feature for one in self.milestones), *counted]))

    @property
    def inputs(self) -> tuple[ObservedInput, ...]:
        """What is appended, in its order."""
        found = [
            ObservedInput(
                name=name, unit=_UNITS.get(name, "turns"), description=_words(name), on_robot=name in ON_ROBOT
            )
            for name in self.features
        ]
        steps = all(one.feature in ON_ROBOT for one in self.milestones)
        for number, one in enumerate(self.milestones, start=1):
            found.append(
                ObservedInput(
                    name=f"step_{number}_done",
                    unit="1",
                    description=f"1 once {one.feature} has changed by {one.amount:g} in step {number}, else 0.",
                    on_robot=all(before.feature in ON_ROBOT for before in self.milestones[:number]),
                )
            )
        if self.milestones:
            text = "Time since the present step of the sequence began."
            found.append(ObservedInput(name="step_time", unit="s", description=text, on_robot=steps))
            text = "Share of the present step that is done, in [-1, 1]; 0 after the last."
            found.append(ObservedInput(name="step_progress", unit="1", description=text, on_robot=steps))
        if self.counter is not None:
            text = f"How often {self.counter.feature} has reached {self.counter.high:g}."
            counted = self.counter.feature in ON_ROBOT
            found.append(ObservedInput(name="counted", unit="1", description=text, on_robot=counted))
        if self.clock_s is not None:
            for wave in ("sine", "cosine"):
                text = f"The {wave} of a clock that goes round in {self.clock_s:g} s from the episode's start."
                found.append(ObservedInput(name=f"clock_{wave}", unit="1", description=text, on_robot=True))
        return tuple(found)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of `inputs`."""
        return tuple(one.name for one in self.inputs)

    def require(self, env: EnvSpec) -> None:
        """Refuse what a robot does not have.

        Args:
            env: The robot's environment.

        Raises:
            InvalidConfig: naming the first feature that is missing.
        """
        for name in self.reads:
            if name not in env.feature_names:
                problem = UnknownName("feature in observe:", name, env.feature_names)
                raise InvalidConfig(f"{env.env_id} cannot tell its policy that: {problem}")


def told_commands(commands: Commands, env: EnvSpec) -> tuple[ObservedInput, ...]:
    """Commands that a policy is told, after what `Observe` appends; whoever steers the robot gives them."""
    return tuple(
        ObservedInput(
            name=name,
            unit=UNITS.get(name.removeprefix("command_"), "m/s"),
            description=f"Command that {feature} is to follow.",
            on_robot=True,
        )
        for name, feature in commands.followed(env).items()
    )


_UNITS = {"time": "s", **dict.fromkeys(PLACES, "m"), **dict.fromkeys(TURNS[3:], "rad")}


def _words(name: str) -> str:
    return "Time since the episode's start." if name == "time" else f"The feature {name}, since the episode's start."

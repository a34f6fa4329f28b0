"""Domain randomisation: how the robots of a training differ from the model, drawn anew for each episode."""

from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from p2p.contracts.base import Contract


def _ordered(limits: tuple[float, float]) -> tuple[float, float]:
    if not 0.0 <= limits[0] <= limits[1] <= 10.0:
        raise ValueError(f"expected a range [low, high] with 0 <= low <= high <= 10, got {list(limits)}")
    return limits


Range = Annotated[tuple[float, float], AfterValidator(_ordered)]
SAME: tuple[float, float] = (1.0, 1.0)


class SensorNoise(Contract):
    """Largest errors of a robot's senses; each reading of each step has an error of its own, uniform in [-x, x]."""

    gravity: float = Field(default=0.05, ge=0, le=1)
    """Of the direction of gravity, a vector of length 1."""
    angular_velocity: float = Field(default=0.2, ge=0, le=10)
    """[rad/s]."""
    velocity: float = Field(default=0.1, ge=0, le=10)
    """Of the base [m/s]."""
    joint_position: float = Field(default=0.01, ge=0, le=1)
    """[rad or m]."""
    joint_velocity: float = Field(default=1.5, ge=0, le=20)
    """[rad/s or m/s]."""


class Randomisation(Contract):
    """What is drawn at the start of each training episode, uniformly from ranges; selection and report rollouts have
    the robot as it is in its model.

    The defaults change nothing. In `TrainConfig`, "usual" stands for `USUAL`.
    """

    friction: Range = SAME
    """Factor on the sliding friction of all contacts."""
    mass: Range = SAME
    """Factor on all masses and inertias."""
    payload: Range = (0.0, 0.0)
    """Added to the torso's mass and inertia, as a share of the robot's whole mass."""
    gains: Range = SAME
    """Factor on the stiffness and, drawn on its own, on the damping of each position servo."""
    motor_strength: Range = SAME
    """Factor on the torque of each motor and on its limit."""
    latency: tuple[int, int] = (0, 0)
    """Control steps after which an action has its effect."""
    slope: Range = (0.0, 0.0)
    """Steepness of the ground [rad], falling towards a random side. The world's axes tilt with the ground: heights are
    above it, and what is drawn is the direction of gravity."""
    noise: SensorNoise | None = None
    """Errors of the senses, with `observation` "robot"; None for none."""

    @model_validator(mode="after")
    def _can_stand_on_the_slope(self) -> Self:
        if self.slope[1] > STEEPEST:
            raise ValueError(f"expected a slope of at most {STEEPEST:g} rad, got {self.slope[1]:g}")
        return self

    @model_validator(mode="after")
    def _latency_is_short(self) -> Self:
        low, high = self.latency
        if not 0 <= low <= high <= MAX_LATENCY:
            raise ValueError(
                f"expected a latency [low, high] with 0 <= low <= high <= {MAX_LATENCY} control steps, "
                f"got {list(self.latency)}"
            )
        return self

    @property
    def of_the_body(self) -> bool:
        """Whether the simulated bodies, motors or delays differ from the model's."""
        return self.model_copy(update={"noise": None}) != Randomisation()


MAX_LATENCY = 10
STEEPEST = 0.8
"""Steepest ground [rad], 46 degrees."""
USUAL: dict[str, Any] = {
    "friction": (0.5, 1.25),
    "mass": (0.9, 1.1),
    "payload": (0.0, 0.1),
    "gains": (0.9, 1.1),
    "motor_strength": (0.9, 1.1),
    "latency": (0, 1),
    "noise": {},
}
"""Ranges of the size that trainings of walking robots use, such as those of legged_gym (Rudin et al., 2022)."""

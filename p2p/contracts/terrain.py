"""Terrain: the uneven ground of a session, as data."""

import math
from typing import Literal, Self

from pydantic import Field, model_validator

from p2p.contracts.base import Contract
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidConfig

MAX_HEIGHTS = 1_000_000
"""Most heights of a terrain: 4 MB in every copy of the model."""
ACROSS_M = 1.0
"""Spacing of the heights of steps along their edges, where nothing changes [m]."""
FLAT_M = 0.8
"""Flat ground about a start, at least [m]."""
ASIDE = 0.25
"""How far from the middle of the lower flat ground episodes on "steps" begin at most, as a share of `flat_m`."""
_CELLS = {"rough": 0.1, "steps": 0.025}


class Terrain(Contract):
    """Uneven ground in place of the floor, the same in all episodes of a training, its selection and its report.

    Each episode begins on one of some flat patches, drawn by the episode's seed, those of trainings on others than
    judged ones. Flat patches are at height 0.
    """

    kind: Literal["rough", "steps"]
    """"rough" is smoothed noise; "steps" are flights of stairs up to platforms and down again, ahead of the robot and
    behind it."""
    height: float = Field(gt=0, le=1, allow_inf_nan=False)
    """Of "rough" the largest height above and below the flat patches; of "steps" that of one step [m]."""
    cell: float | None = Field(default=None, ge=0.01, le=1, allow_inf_nan=False)
    """Distance between neighbouring heights, between which the ground is two triangles [m]; None takes 0.1 for "rough",
    and 0.025 for "steps", where it is the horizontal length of a riser."""
    depth: float = Field(default=0.3, ge=0.05, le=10, allow_inf_nan=False)
    """Of "steps": horizontal length of a step, its riser included [m]."""
    count: int = Field(default=5, ge=1, le=100)
    """Of "steps": in a flight."""
    flat: float | None = Field(default=None, ge=0.1, le=20, allow_inf_nan=False)
    """Distance to each side of the start up to which the ground is flat, at least [m]; None takes 0.8, or as far as the
    robot reaches in its stance if that is more."""
    size: float = Field(default=60.0, ge=2, le=1000, allow_inf_nan=False)
    """Side of the square field, beyond which there is no ground [m]. Episodes begin in the middle of it, a quarter of
    this or more from its edges."""
    seed: int = Field(default=0, ge=0, le=2**32 - 1)
    """Of the noise and of the places where episodes begin."""

    @property
    def spacing(self) -> float:
        """Distance between neighbouring heights, those of "steps" in the direction in which they change [m]."""
        return self.cell if self.cell is not None else _CELLS[self.kind]

    @property
    def flat_m(self) -> float:
        """Distance from a start up to which the ground is flat, of a robot that reaches no further [m]."""
        return self.flat if self.flat is not None else FLAT_M

    @property
    def words(self) -> str:
        """What it is, in words."""
        if self.kind == "rough":
            return f"rough, up to {100 * self.height:g} cm above and below the level"
        return (
            f"flights of {self.count} steps, {100 * self.height:g} cm high and {100 * self.depth:g} cm deep, up to a "
            "platform and down again"
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of heights across and along the direction in which the heights of "steps" change."""
        across = self.spacing if self.kind == "rough" else ACROSS_M
        return round(self.size / across) + 1, round(self.size / self.spacing) + 1

    @property
    def half_period(self) -> float:
        """From the middle of the lower flat ground to that of a platform, of "steps" [m]."""
        return self.lower_m + (self.count - 1) * self.depth + self.flat_m

    @property
    def lower_m(self) -> float:
        """From the middle of the lower flat ground to the first step, of "steps" [m]."""
        return (1.0 + ASIDE) * self.flat_m + self.spacing

    @model_validator(mode="after")
    def _says_what_its_kind_has(self) -> Self:
        given = [name for name in ("depth", "count") if getattr(self, name) != type(self).model_fields[name].default]
        if self.kind == "rough" and given:
            raise ValueError(f'{" and ".join(given)} are of kind "steps", and this is "rough"; leave that out')
        return self

    @model_validator(mode="after")
    def _is_of_a_size(self) -> Self:
        number = math.prod(self.shape)
        if number > MAX_HEIGHTS:
            raise ValueError(
                f"a field of {self.size:g} m with a height every {self.spacing:g} m has {number:,} heights; expected "
                f"at most {MAX_HEIGHTS:,}: give a larger cell or a smaller size"
            )
        if self.spacing > self.flat_m or self.flat_m > self.size / 8:
            raise ValueError(
                f"expected cell <= flat <= size / 8, got cell {self.spacing:g}, flat {self.flat_m:g} and size "
                f"{self.size:g} m"
            )
        if self.kind == "steps" and self.depth < 2 * self.spacing:
            raise ValueError(f"expected a depth of two cells of {self.spacing:g} m or more, got {self.depth:g} m")
        if self.kind == "steps" and self.half_period > self.size / 2:
            raise ValueError(
                f"a flight of {self.count} steps between flat ground takes {self.half_period:g} m; expected at most "
                f"half of the size, {self.size / 2:g} m"
            )
        return self

    def require(self, env: EnvSpec) -> None:
        """Refuse a robot that cannot have it.

        Raises:
            InvalidConfig: it is none from a model file, or it is not the only thing there that moves freely.
        """
        if env.robot is None:
            raise InvalidConfig(
                f"terrain is for robots from a model file, and {env.env_id} comes with Gymnasium or a module, whose "
                "own observations, rewards and falls take the floor for level. Leave terrain out."
            )
        own = [joint for joint in env.joints if joint.body != env.robot.loose]
        free = [joint.qpos_index for joint in own if joint.kind == "free"]
        if not free or free[0] != 0:
            raise InvalidConfig(
                f"terrain is for robots with a free base, and {env.env_id} has none: it stays where it is, or its "
                "policy would see where on the field it is and learn that by heart. Leave terrain out."
            )
        if len(free) > 1:
            raise InvalidConfig(
                f"terrain begins episodes at other places than the model, and {env.env_id} has other bodies that move "
                "freely, which would be left behind. Leave terrain out."
            )

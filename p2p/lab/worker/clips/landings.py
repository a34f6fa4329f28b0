"""Landings that are prescribed by physics alone: how hard a robot comes down that does not yield, and one that does."""

import json
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.envs import catalog
from p2p.rewards.features import Features
from p2p.rewards.part_sequences import GRAVITY
from p2p.worker.known_motions.motion_player import MotionPlayer
from p2p.worker.known_motions.robots import ROBOTS, Robot

Floats = NDArray[np.float64]

HELD = 300.0
"""Stiffness with which motors hold a pose that is not to yield [N m/rad, within their limits]."""
PHASES = 8
"""Drops that are averaged over, whose touch-downs fall at different moments of a control step."""
FALLEN_S = 1.0
"""Time that is simulated [s]."""
HEIGHTS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6)
"""Heights of the drops that are stored [m]."""


@dataclass(frozen=True)
class Legs:
    """How a robot holds its joints while it comes down."""

    bend: float = 0.0
    """Share of its crouch it is in when it touches the floor."""
    yields: float = 0.0
    """Share of its crouch it gives way by, from touch-down on."""
    over_s: float = 0.15
    """Time in which it does [s]."""
    stiffness: float = HELD
    """Of the hold [N m/rad]."""
    damping: float = 0.1
    """Of the hold, as a share of its stiffness [s]."""


STIFF = Legs()
SOFT = {
    "HalfCheetah-v5": Legs(bend=0.2, stiffness=10.0),
    "Hopper-v5": Legs(bend=0.2, yields=1.0, over_s=0.2),
    "Walker2d-v5": Legs(bend=0.4, stiffness=60.0),
    "Humanoid-v5": Legs(bend=0.8, stiffness=60.0),
}
"""Robots that can land softly, and how: found by trying bends, yields and stiffnesses. For an ant none was found."""


class Landings:
    """Drops of one robot, from the pose in which it stands.

    Args:
        robot: A robot that has a floor.
    """

    def __init__(self, robot: Robot) -> None:
        self._spec = catalog.load(robot.env_id)
        self._stage = MotionPlayer(self._spec, robot.settles, np.array(robot.crouch or 0.0), ("impact",))
        model = self._stage.model
        joints = model.actuator_trnid[:, 0]
        self._model = model
        self._gear = model.actuator_gear[:, 0]
        self._at = model.jnt_qposadr[joints]
        self._speed = model.jnt_dofadr[joints]
        self._crouch = np.zeros(model.nq)
        self._crouch[self._stage.first_joint :] = self._stage.crouch

    def dropped(self, clearance: float, legs: Legs = STIFF) -> Features:
        """Features of a fall from a height, `impact` among them, after every control step, shape (T,).

        Args:
            clearance: Of its lowest point above where it rests, at the start [m].
            legs: How it holds its joints.
        """
        model = self._model
        dt = self._spec.dt
        start = self._stage.rest + legs.bend * self._crouch
        start[self._stage.height_index] += clearance - self._stage.lift_of(start[None])[0]
        data = mujoco.MjData(model)
        data.qpos[:] = start
        low, high = model.actuator_ctrlrange.T
        qpos = [start]
        qvel = [np.zeros(model.nv)]
        actions = []
        touched = None
        for step in range(round(FALLEN_S / dt)):
            given = 0.0 if touched is None else legs.yields * min(1.0, (step - touched) * dt / legs.over_s)
            aim = (start + given * self._crouch)[self._at]
            torque = legs.stiffness * (aim - data.qpos[self._at] - legs.damping * data.qvel[self._speed])
            data.ctrl[:] = np.clip(torque / self._gear, low, high)
            mujoco.mj_step(model, data, nstep=round(dt / model.opt.timestep))
            touched = step if touched is None and data.ncon else touched
            qpos.append(data.qpos.copy())
            qvel.append(data.qvel.copy())
            actions.append(data.ctrl.copy())
        return self._stage.measured(np.array(qpos), np.array(qvel), np.array(actions)).features

    def falls(self, height: float, legs: Legs = STIFF) -> list[Features]:
        """Falls of nearly the same height, whose touch-downs are spread over a control step."""
        step = np.sqrt(2.0 * GRAVITY * height) * self._spec.dt
        raised = height + step * ((np.arange(PHASES) + 0.5) / PHASES - 0.5)
        return [self.dropped(float(clearance), legs) for clearance in raised]

    def impact(self, height: float, legs: Legs = STIFF) -> float:
        """Largest impact of a fall [weights], the median over `PHASES` falls."""
        return float(np.median([features["impact"].max() for features in self.falls(height, legs)]))


def stiff_drops(robot: Robot) -> dict[str, float]:
    """Impact of a fall on legs that do not yield, by its height in m [weights]: the data of `stiff_drops.json`."""
    landings = Landings(robot)
    return {f"{height:g}": round(landings.impact(height), 1) for height in HEIGHTS}


if __name__ == "__main__":
    print(json.dumps({env_id: stiff_drops(robot) for env_id, robot in ROBOTS.items() if env_id in SOFT}, indent=2))

"""Motion between two control steps of a recorded rollout, simulated again from the recorded states.

Every control step starts from the state that was recorded, and must end in the next one. Where it does not, as in an
environment that does more than MuJoCo's steps with its actions, states between the two are interpolated instead.
"""

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.worker.render.camera import Floats

TOLERANCE = 1e-6
"""Largest difference from a recorded joint position that counts as the same [rad or m]."""


@dataclass(frozen=True)
class RecordedStates:
    """Recorded states of T control steps."""

    initial_qpos: Floats
    """Shape (nq,)."""
    initial_qvel: Floats
    """Shape (nv,)."""
    qpos: Floats
    """After every control step, shape (T, nq)."""
    qvel: Floats
    """Shape (T, nv)."""
    action: NDArray[np.floating]
    """Shape (T, nu)."""


@dataclass(frozen=True)
class FinerMotion:
    """A recorded motion in steps of the physics."""

    qpos: Floats
    """After every step of the physics, shape (T * frame_skip, nq); each last one of a control step as recorded."""
    interpolated: int
    """Control steps within which the states are interpolated."""
    worst: float
    """Largest difference of a simulated joint position from the recorded one [rad or m]."""

    @property
    def note(self) -> str:
        """Source of the states between control steps, in words."""
        if not self.interpolated:
            return "simulated again between control steps"
        return f"{self.interpolated} control steps could not be simulated again and are interpolated"


def refine(model: mujoco.MjModel, states: RecordedStates, frame_skip: int) -> FinerMotion:
    """Run the recorded actions again, one physics step at a time.

    Args:
        model: The simulated model.
        states: What was recorded.
        frame_skip: Steps of the physics in one control step.
    """
    # As after a reset, the solver included: it begins each search at its last solution.
    data = mujoco.MjData(model)
    data.qpos[:] = states.initial_qpos
    data.qvel[:] = states.initial_qvel
    mujoco.mj_forward(model, data)
    motion = np.empty((len(states.qpos), frame_skip, model.nq))
    interpolated = 0
    worst = 0.0
    qpos = states.initial_qpos
    qvel = states.initial_qvel
    for step, (next_qpos, next_qvel) in enumerate(zip(states.qpos, states.qvel, strict=True)):
        if simulated := states.action.shape[1] == model.nu:
            data.qpos[:] = qpos
            data.qvel[:] = qvel
            data.ctrl[:] = states.action[step]
            for inner in range(frame_skip):
                mujoco.mj_step(model, data)
                motion[step, inner] = data.qpos
            mujoco.mj_rnePostConstraint(model, data)
            difference = float(np.nan_to_num(np.abs(data.qpos - next_qpos), nan=np.inf).max())
            worst = max(worst, difference)
            simulated = difference <= TOLERANCE
        if not simulated:
            interpolated += 1
            # Joint positions at equal times after `before` up to `after`, shape (count, nq).
            change = np.empty(model.nv)
            path = np.empty((frame_skip, model.nq))
            mujoco.mj_differentiatePos(model, change, 1.0, qpos, next_qpos)
            for number, place in enumerate(path, start=1):
                place[:] = qpos
                mujoco.mj_integratePos(model, place, change, number / frame_skip)
            motion[step] = path
        motion[step, -1] = qpos = next_qpos
        qvel = next_qvel
    return FinerMotion(motion.reshape(-1, model.nq), interpolated, worst)

"""Environment of a robot that came as a model file."""

from typing import Any

import gymnasium
import mujoco
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from p2p.contracts.env import RobotModel
from p2p.worker.engine.height_field import height_field
from p2p.worker.engine.loose_thing import LooseThing
from p2p.worker.engine.terrain import LaidTerrain

MAX_EPISODE_STEPS = 1000
RESET_NOISE = 0.02
"""Largest change of a position, and standard deviation of a velocity, at an episode's start [m, rad, m/s, rad/s]."""


class RobotEnv(gymnasium.Env[NDArray[np.float64], NDArray[np.float32]]):
    """Observes positions but x and y of a free base, and velocities, as they are; pays speed along x and standing.

    A thing that an arm is to reach is seen whole, and lies elsewhere in each episode. On a terrain the height of a free
    base is that above the ground below it, where it is observed and judged healthy.

    Args:
        robot: Its model and stance.
        frame_skip: Simulator steps in a control step.
        terminate_when_unhealthy: Whether an episode ends where the torso leaves its healthy heights.
        reset_noise_scale: Noise at an episode's start.
        laid: The terrain it stands on; None for the floor of its model.
        training: Whether episodes begin at the places of a training, not at those of judged rollouts.
    """

    def __init__(
        self,
        robot: RobotModel,
        frame_skip: int,
        terminate_when_unhealthy: bool = True,
        reset_noise_scale: float = RESET_NOISE,
        laid: LaidTerrain | None = None,
        training: bool = False,
    ) -> None:
        self.model = mujoco.MjModel.from_xml_string(robot.xml if laid is None else laid.xml)
        self._ground = height_field(self.model)
        self._starts: NDArray[np.float64] | None = None
        if laid is not None:
            self._starts = laid.training_starts if training else laid.judged_starts
        self.data = mujoco.MjData(self.model)
        self.frame_skip = frame_skip
        self.init_qpos = np.array(robot.lying or robot.stance)
        self.init_qvel = np.zeros(self.model.nv)
        self._reset_noise_scale = reset_noise_scale
        self._noise_of_positions = np.full(self.model.nq, reset_noise_scale)
        if robot.start_noise_m is not None:
            self._noise_of_positions[:3] = min(robot.start_noise_m, reset_noise_scale)
        self._terminate_when_unhealthy = terminate_when_unhealthy and robot.healthy is not None
        self._healthy_z_range = robot.healthy or (-np.inf, np.inf)
        first_is_free = int(self.model.jnt_type[0]) == int(mujoco.mjtJoint.mjJNT_FREE)
        self._skip = 2 if first_is_free and robot.loose is None else 0
        self._loose = LooseThing(self.model, robot.loose, self.init_qpos) if robot.loose is not None else None
        seen = self.model.nq - self._skip + self.model.nv
        self.observation_structure = {"skipped_qpos": self._skip}
        self.observation_space = Box(-np.inf, np.inf, (seen,), np.float64)
        low, high = self.model.actuator_ctrlrange.astype(np.float32).T
        self.action_space = Box(low, high, dtype=np.float32)

    @property
    def dt(self) -> float:
        """Control period [s]."""
        return float(self.model.opt.timestep) * self.frame_skip

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Begin an episode in the stance, or lying, with noise."""
        super().reset(seed=seed, options=options)
        mujoco.mj_resetData(self.model, self.data)
        noise = self._noise_of_positions
        qpos = self.init_qpos + self.np_random.uniform(-noise, noise)
        qvel = self.init_qvel + self._reset_noise_scale * self.np_random.standard_normal(self.model.nv)
        if self._starts is not None:
            qpos[:2] += self._starts[self.np_random.integers(len(self._starts))]
        if self._loose is not None:
            self._loose.lay(self.np_random, qpos, qvel)
        self.set_state(qpos, qvel)
        return self._get_obs(), {}

    def set_state(self, qpos: NDArray[np.float64], qvel: NDArray[np.float64]) -> None:
        """Put it into a state."""
        self.data.qpos[:] = qpos
        self.data.qvel[:] = qvel
        mujoco.mj_forward(self.model, self.data)

    def step(self, action: NDArray[np.float32]) -> tuple[NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        """Make one control step."""
        before = float(self.data.qpos[0])
        self.data.ctrl[:] = action
        mujoco.mj_step(self.model, self.data, nstep=self.frame_skip)
        mujoco.mj_rnePostConstraint(self.model, self.data)
        velocity = (float(self.data.qpos[0]) - before) / self.dt
        low, high = self._healthy_z_range
        healthy = bool(low < self._positions()[2] < high) if self._skip else True
        ended = self._terminate_when_unhealthy and not healthy
        return self._get_obs(), velocity + healthy, ended, False, {"x_velocity": velocity}

    def _get_obs(self) -> NDArray[np.float64]:
        return np.concatenate([self._positions()[self._skip :], self.data.qvel])

    def _positions(self) -> NDArray[np.float64]:
        """Positions, with the height of a free base above the ground below it, shape (nq,)."""
        qpos: NDArray[np.float64] = self.data.qpos
        if self._ground is None:
            return qpos
        qpos = qpos.copy()
        qpos[2] -= self._ground.height(qpos[0], qpos[1])
        return qpos

"""Any robot that came as a model file."""

from typing import Any

import numpy as np

from p2p.worker.engine.frame import Booleans, Floats, Outcome
from p2p.worker.engine.tasks.task import ControlSteps, Moment, VectorisedTask, between, judged


class Robot(VectorisedTask):
    """reward = v_x + [healthy]; on a terrain the height of a free base is that above the ground below it."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.noise = env._reset_noise_scale
        self.noise_of_positions = env._noise_of_positions
        self.skip = env._skip
        self.ground = env._ground
        self.starts = env._starts
        self.loose = env._loose
        self.ends, self.heights = bool(env._terminate_when_unhealthy), env._healthy_z_range

    def start(self, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Uniform noise on positions, normal noise on velocities; a thing to be reached laid somewhere."""
        qpos = self.init_qpos + generator.uniform(-self.noise_of_positions, self.noise_of_positions)
        qvel = self.init_qvel + self.noise * generator.standard_normal(self.nv)
        if self.starts is not None:
            qpos[:2] += self.starts[generator.integers(len(self.starts))]
        if self.loose is not None:
            self.loose.lay(generator, qpos, qvel)
        return qpos, qvel

    def observe(self, now: Moment) -> Floats:
        """Positions but x and y of a free base, and velocities."""
        return np.concatenate([self.above_ground(now.qpos)[:, self.skip :], now.qvel], axis=1)

    def terminated(self, now: Moment) -> Booleans:
        """Where not healthy, if that ends episodes."""
        return ~self.healthy(now.qpos) if self.ends else super().terminated(now)

    def healthy(self, qpos: Floats) -> Booleans:
        """Whether the torso's height is in its range; always so for a robot that is not free."""
        if not self.skip:
            return np.ones(len(qpos), dtype=np.bool_)
        return between(self.above_ground(qpos)[:, 2], self.heights)

    def above_ground(self, qpos: Floats) -> Floats:
        """Positions, with the height of a free base above the ground below it, shaped as `qpos`, (m, nq)."""
        if self.ground is None:
            return qpos
        above = qpos.copy()
        above[:, 2] -= self.ground.height(qpos[:, 0], qpos[:, 1])
        return above

    def outcome(self, step: ControlSteps) -> Outcome:
        """Speed along x, and one for being healthy."""
        velocity = (step.after.qpos[:, 0] - step.before.qpos[:, 0]) / self.dt
        return judged(velocity + self.healthy(step.after.qpos), x_velocity=velocity)

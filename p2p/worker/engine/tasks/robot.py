"""Any robot that came as a model file."""

from typing import Any

import numpy as np

from p2p.worker.engine.frame import Booleans, Floats, Outcome
from p2p.worker.engine.tasks.task import ControlSteps, Moment, VectorisedTask, between, judged, uniform


class Robot(VectorisedTask):
    """reward = v_x + [healthy]."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.noise, self.skip = env._reset_noise_scale, env._skip
        self.ends, self.heights = bool(env._terminate_when_unhealthy), env._healthy_z_range

    def start(self, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Uniform noise on positions, normal noise on velocities."""
        qpos = self.init_qpos + uniform(generator, self.noise, self.nq)
        return qpos, self.init_qvel + self.noise * generator.standard_normal(self.nv)

    def observe(self, now: Moment) -> Floats:
        """Positions but x and y of a free base, and velocities."""
        return np.concatenate([now.qpos[:, self.skip :], now.qvel], axis=1)

    def terminated(self, now: Moment) -> Booleans:
        """Where not healthy, if that ends episodes."""
        return ~self.healthy(now.qpos) if self.ends else super().terminated(now)

    def healthy(self, qpos: Floats) -> Booleans:
        """Whether the torso's height is in its range; always so for a robot that is not free."""
        return between(qpos[:, 2], self.heights) if self.skip else np.ones(len(qpos), dtype=np.bool_)

    def outcome(self, step: ControlSteps) -> Outcome:
        """Speed along x, and one for being healthy."""
        velocity = (step.after.qpos[:, 0] - step.before.qpos[:, 0]) / self.dt
        return judged(velocity + self.healthy(step.after.qpos), x_velocity=velocity)

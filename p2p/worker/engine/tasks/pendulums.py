"""InvertedPendulum and InvertedDoublePendulum: poles on a cart, paid for not falling."""

from typing import Any

import numpy as np

from p2p.worker.engine.frame import Booleans, Floats, Outcome
from p2p.worker.engine.tasks.task import ControlSteps, Moment, VectorisedTask, judged, uniform


class InvertedPendulum(VectorisedTask):
    """reward = 1 while the pole is within 0.2 rad of upright; then it ends."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.noise = env._reset_noise_scale

    def start(self, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Uniform noise on positions and velocities."""
        qpos = self.init_qpos + uniform(generator, self.noise, self.nq)
        return qpos, self.init_qvel + uniform(generator, self.noise, self.nv)

    def observe(self, now: Moment) -> Floats:
        """Positions and velocities."""
        return np.concatenate((now.qpos, now.qvel), axis=1)

    def terminated(self, now: Moment) -> Booleans:
        """Where the pole leans too far or a number is not finite."""
        finite = np.isfinite(now.qpos).all(axis=1) & np.isfinite(now.qvel).all(axis=1)
        return np.asarray(~finite | (np.abs(now.qpos[:, 1]) > 0.2))

    def outcome(self, step: ControlSteps) -> Outcome:
        """Reward and info of InvertedPendulum-v5."""
        survive = (~step.after.terminated).astype(np.float64)
        return judged(survive, reward_survive=survive)


class InvertedDoublePendulum(VectorisedTask):
    """reward = w_h [z > 1] - (0.01 x² + (z - 2)²) - (0.001 ω₁² + 0.005 ω₂²), with the tip at (x, z).

    The tip is where MjData shows it, one sub-step behind the positions.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.fields = ("site_xpos", "qfrc_constraint")
        self.noise = env._reset_noise_scale
        self.healthy_reward = env._healthy_reward

    def start(self, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Uniform noise on positions, normal noise on velocities."""
        qpos = self.init_qpos + uniform(generator, self.noise, self.nq)
        return qpos, self.init_qvel + generator.standard_normal(self.nv) * self.noise

    def observe(self, now: Moment) -> Floats:
        """Place of the cart, sines and cosines of the angles, velocities, and the constraint force on the cart."""
        angles = now.qpos[:, 1:]
        force = now.fields["qfrc_constraint"][:, :1]
        velocities = np.clip(now.qvel, -10, 10)
        return np.concatenate(
            (now.qpos[:, :1], np.sin(angles), np.cos(angles), velocities, np.clip(force, -10, 10)), axis=1
        )

    def terminated(self, now: Moment) -> Booleans:
        """Where the tip is at 1 m or below."""
        return np.asarray(now.fields["site_xpos"][:, 0, 2] <= 1)

    def probes(self, now: Moment) -> dict[str, Floats]:
        """Where the tip is, x and z."""
        return {"tip": now.fields["site_xpos"][:, 0, ::2].copy()}

    def outcome(self, step: ControlSteps) -> Outcome:
        """Reward and info of InvertedDoublePendulum-v5."""
        x, z = step.after.probes["tip"].T
        first, second = step.after.qvel[:, 1], step.after.qvel[:, 2]
        distance = 0.01 * _squared(x) + _squared(z - 2)
        velocity = 1e-3 * _squared(first) + 5e-3 * _squared(second)
        survive = self.healthy_reward * ~step.after.terminated
        return judged(
            survive - distance - velocity,
            reward_survive=survive,
            distance_penalty=-distance,
            velocity_penalty=-velocity,
        )


def _squared(values: Floats) -> Floats:
    """By the C library's `pow`, which rounds as Gymnasium's `**` on single numbers does and on arrays does not."""
    return np.asarray(np.float_power(values, 2))

"""Ant: four legs, paid for the speed along x."""

from typing import Any

import numpy as np

from p2p.worker.engine.frame import Booleans, Floats, Frame, Outcome
from p2p.worker.engine.tasks.task import ControlSteps, Moment, VectorisedTask, effort, judged, length, uniform


class Ant(VectorisedTask):
    """reward = w_f v_x + w_h [healthy] - w_c |a|² - w_k |contact forces, clipped|².

    The speed is that of the main body as MjData shows it, one sub-step behind the positions.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.fields = ("xpos", "cfrc_ext")
        self.noise = env._reset_noise_scale
        self.main_body = int(env.data.body(env._main_body).id)
        self.forward_weight = env._forward_reward_weight
        self.control_weight = env._ctrl_cost_weight
        self.contact_weight = env._contact_cost_weight
        self.forces = env._contact_force_range
        self.healthy_reward = env._healthy_reward
        self.ends = bool(env._terminate_when_unhealthy)
        self.heights = env._healthy_z_range
        self.skip = 2 if env._exclude_current_positions_from_observation else 0
        self.shows_forces = bool(env._include_cfrc_ext_in_observation)

    def start(self, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Uniform noise on positions, normal noise on velocities."""
        qpos = self.init_qpos + uniform(generator, self.noise, self.nq)
        return qpos, self.init_qvel + self.noise * generator.standard_normal(self.nv)

    def observe(self, now: Moment) -> Floats:
        """Positions but x and y, velocities, and the clipped contact forces of all bodies but the world."""
        parts = [now.qpos[:, self.skip :], now.qvel]
        if self.shows_forces:
            forces = now.fields["cfrc_ext"][:, 1:]
            parts.append(np.clip(forces.reshape(len(forces), -1), *self.forces))
        return np.concatenate(parts, axis=1)

    def terminated(self, now: Moment) -> Booleans:
        """Where not healthy, if that ends episodes."""
        return ~self.healthy(now) if self.ends else super().terminated(now)

    def healthy(self, now: Moment | Frame) -> Booleans:
        """Whether the torso's height is in its range and everything is finite."""
        finite = np.isfinite(now.qpos).all(axis=1) & np.isfinite(now.qvel).all(axis=1)
        return np.asarray(finite & (self.heights[0] <= now.qpos[:, 2]) & (now.qpos[:, 2] <= self.heights[1]))

    def probes(self, now: Moment) -> dict[str, Floats]:
        """Place of the main body and the sum of the squared clipped contact forces."""
        forces = np.clip(now.fields["cfrc_ext"].reshape(len(now.qpos), -1), *self.forces)
        return {
            "main_body": now.fields["xpos"][:, self.main_body, :2].copy(),
            "contact": np.square(forces).sum(axis=1),
        }

    def outcome(self, step: ControlSteps) -> Outcome:
        """Reward and info of Ant-v5."""
        velocity = (step.after.probes["main_body"] - step.before.probes["main_body"]) / self.dt
        forward = velocity[:, 0] * self.forward_weight
        survive = self.healthy(step.after) * self.healthy_reward
        control = self.control_weight * effort(step.actions)
        contact = self.contact_weight * step.after.probes["contact"]
        return judged(
            forward + survive - (control + contact),
            x_position=step.after.qpos[:, 0],
            y_position=step.after.qpos[:, 1],
            distance_from_origin=length(step.after.qpos[:, :2]),
            x_velocity=velocity[:, 0],
            y_velocity=velocity[:, 1],
            reward_forward=forward,
            reward_ctrl=-control,
            reward_contact=-contact,
            reward_survive=survive,
        )

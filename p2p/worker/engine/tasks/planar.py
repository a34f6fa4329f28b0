"""HalfCheetah, Swimmer, Hopper and Walker2d: runners in a plane, paid for the speed along x."""

from typing import Any

import numpy as np

from p2p.worker.engine.frame import Booleans, Floats, Frame, Outcome
from p2p.worker.engine.tasks.task import ControlSteps, Moment, VectorisedTask, between, effort, judged, length, uniform


class Runner(VectorisedTask):
    """What the four share: weights of speed and effort, and how many leading positions are not shown."""

    hidden = 1

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.noise = env._reset_noise_scale
        self.forward_weight = env._forward_reward_weight
        self.control_weight = env._ctrl_cost_weight
        self.skip = self.hidden if env._exclude_current_positions_from_observation else 0

    def start(self, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Uniform noise on positions and velocities."""
        qpos = self.init_qpos + uniform(generator, self.noise, self.nq)
        return qpos, self.init_qvel + uniform(generator, self.noise, self.nv)

    def observe(self, now: Moment) -> Floats:
        """Positions but the hidden ones, then velocities."""
        return np.concatenate((now.qpos[:, self.skip :], now.qvel), axis=1)

    def speed(self, step: ControlSteps, axis: int = 0) -> Floats:
        """Mean speed along x or y in the step [m/s]."""
        return np.asarray((step.after.qpos[:, axis] - step.before.qpos[:, axis]) / self.dt)


class HalfCheetah(Runner):
    """reward = w_f v_x - w_c |a|²; never ends."""

    def start(self, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Uniform noise on positions, normal noise on velocities."""
        qpos = self.init_qpos + uniform(generator, self.noise, self.nq)
        return qpos, self.init_qvel + self.noise * generator.standard_normal(self.nv)

    def outcome(self, step: ControlSteps) -> Outcome:
        """Reward and info of HalfCheetah-v5."""
        speed = self.speed(step)
        forward = self.forward_weight * speed
        cost = self.control_weight * effort(step.actions)
        return judged(
            forward - cost,
            x_position=step.after.qpos[:, 0],
            x_velocity=speed,
            reward_forward=forward,
            reward_ctrl=-cost,
        )


class Swimmer(Runner):
    """reward = w_f v_x - w_c |a|²; never ends."""

    hidden = 2

    def outcome(self, step: ControlSteps) -> Outcome:
        """Reward and info of Swimmer-v5."""
        speed = self.speed(step)
        forward = self.forward_weight * speed
        cost = self.control_weight * effort(step.actions)
        return judged(
            forward - cost,
            x_position=step.after.qpos[:, 0],
            y_position=step.after.qpos[:, 1],
            distance_from_origin=length(step.after.qpos[:, :2]),
            x_velocity=speed,
            y_velocity=self.speed(step, axis=1),
            reward_forward=forward,
            reward_ctrl=-cost,
        )


class Walker2d(Runner):
    """reward = w_f v_x + w_h [healthy] - w_c |a|²; ends when the torso leaves its range of height or angle."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.healthy_reward = env._healthy_reward
        self.ends = bool(env._terminate_when_unhealthy)
        self.heights = env._healthy_z_range
        self.angles = env._healthy_angle_range

    def observe(self, now: Moment) -> Floats:
        """Positions but the hidden one, then velocities within ±10."""
        return np.concatenate((now.qpos[:, self.skip :], np.clip(now.qvel, -10, 10)), axis=1)

    def healthy(self, now: Moment | Frame) -> Booleans:
        """Whether each torso is in its range of height and angle."""
        return between(now.qpos[:, 1], self.heights) & between(now.qpos[:, 2], self.angles)

    def terminated(self, now: Moment) -> Booleans:
        """Where not healthy, if that ends episodes."""
        return ~self.healthy(now) if self.ends else super().terminated(now)

    def outcome(self, step: ControlSteps) -> Outcome:
        """Reward and info of Walker2d-v5 and Hopper-v5."""
        speed = self.speed(step)
        forward = self.forward_weight * speed
        cost = self.control_weight * effort(step.actions)
        survive = self.healthy(step.after) * self.healthy_reward
        return judged(
            forward + survive - cost,
            x_position=step.after.qpos[:, 0],
            z_distance_from_origin=step.after.qpos[:, 1] - self.init_qpos[1],
            x_velocity=speed,
            reward_forward=forward,
            reward_ctrl=-cost,
            reward_survive=survive,
        )


class Hopper(Walker2d):
    """As Walker2d; it also ends when any other position or velocity leaves its range."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.states = env._healthy_state_range

    def healthy(self, now: Moment | Frame) -> Booleans:
        """Whether the torso, and all that moves but x and z, is in its range."""
        moving = between(now.qpos[:, 2:], self.states).all(axis=1) & between(now.qvel, self.states).all(axis=1)
        return moving & super().healthy(now)

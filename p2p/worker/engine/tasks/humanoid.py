"""Humanoid and HumanoidStandup: one body, paid for running and for standing up."""

from typing import Any

import numpy as np

from p2p.worker.engine.frame import Booleans, Floats, Outcome
from p2p.worker.engine.tasks.task import ControlSteps, Moment, VectorisedTask, between, judged, length, uniform

_SHOWN = ("cinert", "cvel", "qfrc_actuator", "cfrc_ext")
_TENDONS = ("ten_length", "ten_velocity")


class HumanoidBody(VectorisedTask):
    """What both share: the long observation, the start, and the costs that they read from the simulator."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.noise = env._reset_noise_scale
        self.control_weight = env._ctrl_cost_weight
        self.skip = 2 if env._exclude_current_positions_from_observation else 0
        self.shown = tuple(name for name in _SHOWN if getattr(env, f"_include_{name}_in_observation") is True)
        self.n_tendons = int(env.model.ntendon)
        tendons = _TENDONS if self.n_tendons else ()
        self.fields = tuple(dict.fromkeys((*self.shown, "cfrc_ext", "ctrl", *tendons)))

    def start(self, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Uniform noise on positions and velocities."""
        qpos = self.init_qpos + uniform(generator, self.noise, self.nq)
        return qpos, self.init_qvel + uniform(generator, self.noise, self.nv)

    def observe(self, now: Moment) -> Floats:
        """Positions but x and y, velocities, then inertias, velocities and forces of all bodies but the world."""
        parts = [now.qpos[:, self.skip :], now.qvel]
        for name in self.shown:
            hidden = 6 if name == "qfrc_actuator" else 1  # the root joint has no actuators
            parts.append(now.fields[name][:, hidden:].reshape(len(now.qpos), -1))
        return np.concatenate(parts, axis=1)

    def probes(self, now: Moment) -> dict[str, Floats]:
        """Sums of squared controls and contact forces, and the tendons."""
        rows = len(now.qpos)
        tendons = {name: now.fields[name].copy() if self.n_tendons else np.zeros((rows, 0)) for name in _TENDONS}
        control = np.square(now.fields["ctrl"]).sum(axis=1)
        return {
            "control": control,
            "contact": np.square(now.fields["cfrc_ext"].reshape(rows, -1)).sum(axis=1),
        } | tendons


class Humanoid(HumanoidBody):
    """reward = w_f v_x + w_h [healthy] - w_c |u|² - clip(w_k |contact forces|²).

    The speed is that of the centre of mass as MjData shows it, one sub-step behind the positions.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.fields = (*self.fields, "xipos")
        self.masses: Floats = env.model.body_mass.copy()
        self.forward_weight = env._forward_reward_weight
        self.healthy_reward = env._healthy_reward
        self.contact_weight = env._contact_cost_weight
        self.contact_range = env._contact_cost_range
        self.heights = env._healthy_z_range
        self.ends = bool(env._terminate_when_unhealthy)

    def terminated(self, now: Moment) -> Booleans:
        """Where not healthy, if that ends episodes."""
        return ~between(now.qpos[:, 2], self.heights) if self.ends else super().terminated(now)

    def probes(self, now: Moment) -> dict[str, Floats]:
        """Also the centre of mass, x and y."""
        centre = np.einsum("b,nbj->nj", self.masses, now.fields["xipos"]) / self.masses.sum()
        return super().probes(now) | {"centre": centre[:, :2]}

    def outcome(self, step: ControlSteps) -> Outcome:
        """Reward and info of Humanoid-v5. It reads the controls from the simulator, not the actions."""
        velocity = (step.after.probes["centre"] - step.before.probes["centre"]) / self.dt
        forward = self.forward_weight * velocity[:, 0]
        survive = between(step.after.qpos[:, 2], self.heights) * self.healthy_reward
        control = self.control_weight * step.after.probes["control"]
        contact = np.clip(self.contact_weight * step.after.probes["contact"], *self.contact_range)
        return judged(
            forward + survive - (control + contact),
            x_position=step.after.qpos[:, 0],
            y_position=step.after.qpos[:, 1],
            tendon_length=step.after.probes["ten_length"],
            tendon_velocity=step.after.probes["ten_velocity"],
            distance_from_origin=length(step.after.qpos[:, :2]),
            x_velocity=velocity[:, 0],
            y_velocity=velocity[:, 1],
            reward_survive=survive,
            reward_forward=forward,
            reward_ctrl=-control,
            reward_contact=-contact,
        )


class HumanoidStandup(HumanoidBody):
    """reward = w_u z / timestep - w_c |u|² - clip(w_i |contact forces|²) + 1, without w_u: Gymnasium ignores it."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.timestep = float(env.model.opt.timestep)
        self.impact_weight = env._impact_cost_weight
        self.impact_range = env._impact_cost_range

    def outcome(self, step: ControlSteps) -> Outcome:
        """Reward and info of HumanoidStandup-v5. It reads the controls from the simulator, not the actions."""
        height = step.after.qpos[:, 2]
        up = height / self.timestep
        control = self.control_weight * step.after.probes["control"]
        impact = np.clip(self.impact_weight * step.after.probes["contact"], *self.impact_range)
        return judged(
            up - control - impact + 1,
            x_position=step.after.qpos[:, 0],
            y_position=step.after.qpos[:, 1],
            z_distance_from_origin=height - self.init_qpos[2],
            tendon_length=step.after.probes["ten_length"],
            tendon_velocity=step.after.probes["ten_velocity"],
            reward_linup=up,
            reward_quadctrl=-control,
            reward_impact=-impact,
        )

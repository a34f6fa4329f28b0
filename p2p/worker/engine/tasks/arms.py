"""Reacher and Pusher: arms, paid for a short distance to a goal that is drawn at the start."""

from typing import Any

import numpy as np

from p2p.worker.engine.frame import Floats, Outcome
from p2p.worker.engine.tasks.task import ControlSteps, Moment, VectorisedTask, effort, judged, length, uniform

_GOAL_RADIUS = 0.2
"""Reacher's goals lie within it [m]."""
_CLEARANCE = 0.17
"""Pusher's object starts further than this from the goal [m]."""


class Reacher(VectorisedTask):
    """reward = -w_d |fingertip - target| - w_c |a|²; never ends."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.fields = ("xpos",)
        self.fingertip, self.target = (int(env.data.body(name).id) for name in ("fingertip", "target"))
        self.distance_weight = env._reward_dist_weight
        self.control_weight = env._reward_control_weight

    def start(self, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Uniform noise on everything; the goal uniform in a disc; a target at rest."""
        qpos = uniform(generator, 0.1, self.nq) + self.init_qpos
        goal = uniform(generator, _GOAL_RADIUS, 2)
        while not np.linalg.norm(goal) < _GOAL_RADIUS:
            goal = uniform(generator, _GOAL_RADIUS, 2)
        qpos[-2:] = goal
        qvel = self.init_qvel + uniform(generator, 0.005, self.nv)
        qvel[-2:] = 0
        return qpos, qvel

    def observe(self, now: Moment) -> Floats:
        """Cosines and sines of the joints, the target, joint velocities, and the way from target to fingertip."""
        angles = now.qpos[:, :2]
        return np.concatenate(
            (np.cos(angles), np.sin(angles), now.qpos[:, 2:], now.qvel[:, :2], self._gap(now)[:, :2]), axis=1
        )

    def probes(self, now: Moment) -> dict[str, Floats]:
        """The way from target to fingertip."""
        return {"gap": self._gap(now)}

    def outcome(self, step: ControlSteps) -> Outcome:
        """Reward and info of Reacher-v5."""
        distance = -length(step.after.probes["gap"]) * self.distance_weight
        control = -effort(step.actions) * self.control_weight
        return judged(distance + control, reward_dist=distance, reward_ctrl=control)

    def _gap(self, now: Moment) -> Floats:
        places = now.fields["xpos"]
        return np.asarray(places[:, self.fingertip] - places[:, self.target])


class Pusher(VectorisedTask):
    """reward = -w_d |object - goal| - w_c |a|² - w_n |object - tip|; never ends."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.fields = ("xpos",)
        self.bodies = [int(env.data.body(name).id) for name in ("tips_arm", "object", "goal")]
        self.near_weight = env._reward_near_weight
        self.distance_weight = env._reward_dist_weight
        self.control_weight = env._reward_control_weight

    def start(self, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """The arm as modelled, the object anywhere but near the goal, small velocities of the arm."""
        place = np.zeros(2)
        while not np.linalg.norm(place) > _CLEARANCE:
            place = np.concatenate((generator.uniform(-0.3, 0, 1), generator.uniform(-0.2, 0.2, 1)))
        qpos = self.init_qpos.copy()
        qpos[-4:] = (*place, 0.0, 0.0)
        qvel = self.init_qvel + uniform(generator, 0.005, self.nv)
        qvel[-4:] = 0
        return qpos, qvel

    def observe(self, now: Moment) -> Floats:
        """Joint positions and velocities of the arm, then where the tip, the object and the goal are."""
        places = now.fields["xpos"][:, self.bodies].reshape(len(now.qpos), -1)
        return np.concatenate((now.qpos[:, :7], now.qvel[:, :7], places), axis=1)

    def outcome(self, step: ControlSteps) -> Outcome:
        """Reward and info of Pusher-v5."""
        tip, pushed, goal = np.split(step.after.observations[:, -9:], 3, axis=1)
        near = -length(pushed - tip) * self.near_weight
        distance = -length(pushed - goal) * self.distance_weight
        control = -effort(step.actions) * self.control_weight
        return judged(distance + control + near, reward_dist=distance, reward_ctrl=control, reward_near=near)

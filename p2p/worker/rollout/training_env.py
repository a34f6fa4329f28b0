"""Training environments with automatic reset."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.curriculum import EpisodeGrowth
from p2p.contracts.training import TrainConfig
from p2p.worker.engine.vec_env import Block, Step, VecEnv
from p2p.worker.rollout.assistance import Assistant
from p2p.worker.rollout.curriculum import Pusher, StartFollower, grown
from p2p.worker.rollout.ending import EndRule
from p2p.worker.rollout.policy_inputs import PolicyInputs
from p2p.worker.rollout.starts import StartPlacer
from p2p.worker.saved_state import State, fill, joined, part

RECENT_EPISODES = 10
"""What the metrics average over."""

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


class TrainingEnv:
    """n environments with automatic reset.

    The first episodes have staggered lengths, so that the environments are not all in the same phase of an episode.

    Args:
        env: The environments.
        inputs: What the policy sees of them.
        first_seed: Environment i is first reset with `first_seed + i`; later resets draw on from there.
        placer: Where some of the episodes begin; None for the environment's own starts.
        rule: What ends an episode besides the environment's own rule and the time; None for nothing.
        config: Whose curriculum changes starts, episodes and forces; None for no curriculum.

    Raises:
        InvalidConfig: the environments cannot have the curriculum: they take no forces, or lack a feature.
    """

    def __init__(
        self,
        env: VecEnv,
        inputs: PolicyInputs,
        first_seed: int,
        placer: StartPlacer | None = None,
        rule: EndRule | None = None,
        config: TrainConfig | None = None,
    ) -> None:
        changing = config.curriculum if config is not None else None
        self._env = env
        self._inputs = inputs
        self._placer = placer
        self._rule = rule
        if rule is not None:
            env.ended_by = rule.ended_by
        if placer is not None:
            env.begun_turns = placer.begun_turns
        self.n = env.n
        self.simulation = env.simulation
        self._growth = _Growth(changing.episodes, env) if changing and changing.episodes else None
        self._pusher = Pusher(changing.pushes, env, first_seed) if changing and changing.pushes else None
        self.follow(0.0)
        self._begin(range(env.n), range(first_seed, first_seed + env.n))
        self.reached = inputs.now
        """What the policy saw after the last step, before the resets that followed, shape (n, input_dim)."""
        whole = env.episode_steps
        env.limits[:] = [max(1, whole * (i + 1) // env.n) for i in range(env.n)]
        self.shortened: Booleans = env.limits < whole
        """Environments whose first episode is shorter than the others, shape (n,)."""
        self._assistant = (
            Assistant(changing.assistance, env.simulation, self.shortened) if changing and changing.assistance else None
        )
        self._has_forces = self._pusher is not None or self._assistant is not None
        if self._has_forces:
            self._pull(np.zeros((env.n, 3)))  # refuses before anything is learnt
        self._starts = (
            StartFollower(changing.starts, env, placer, self.shortened)
            if changing and changing.starts and placer
            else None
        )
        self._origins: list[NDArray[np.intp]] = []

    def follow(self, progress: float) -> None:
        """Go on in the curriculum, to a share of the training's steps."""
        if self._growth is not None:
            self._env.episode_steps = self._growth.steps(progress)
        if self._pusher is not None:
            self._pusher.follow(progress)

    def succeed(self, success: float) -> None:
        """Leave the starts by the success at a checkpoint, in [0, 1]."""
        if self._starts is not None:
            self._starts.succeed(success)

    @property
    def course(self) -> dict[str, float]:
        """Where the curriculum is, for the metrics."""
        found: dict[str, float] = {}
        if self._starts is not None and self._placer is not None:
            found["curriculum_start_share"] = self._placer.share
            if self._placer.backward is not None:
                found["curriculum_start_state"] = self._placer.backward.present
        if self._growth is not None:
            found["curriculum_episode_s"] = self._env.episode_steps * self._env.spec.dt
        if self._pusher is not None:
            found["curriculum_push_speed"] = self._pusher.speed
        if self._assistant is not None:
            found["curriculum_assistance"] = self._assistant.share
        return found

    @property
    def observations(self) -> Floats:
        """What the policy sees now, shape (n, input_dim)."""
        return self._inputs.now

    def step(self, actions: NDArray[np.floating]) -> Step:
        """Make one control step of all environments with `actions`, shape (n, action_dim), and the necessary resets."""
        if self._starts is not None and self._placer is not None:
            self._origins.append(self._placer.origins.copy())
        if self._has_forces:
            self._pull(self._forces())
        step = self._env.step(actions)
        self._inputs.follow(step)
        self.reached = self._inputs.now
        ended = step.ended.tolist()
        if ended:
            self._env.limits[ended] = self._env.episode_steps
            if self._pusher is not None:
                self._pusher.end(ended)
            self._begin(ended, [None] * len(ended))
        return step

    def take_block(self) -> Block:
        """Steps since the last call."""
        block = self._env.take_block()
        if self._starts is not None:
            self._starts.follow(block, np.array(self._origins))
            self._origins = []
        if self._assistant is not None:
            self._assistant.follow(block)
        return block

    def state(self) -> State:
        """State of the environments and of their random starts, between two blocks."""
        placer = self._placer.state() if self._placer else {}
        rule = self._rule.state() if self._rule else {}
        starts = self._starts.state() if self._starts else {}
        pushes = self._pusher.state() if self._pusher else {}
        assistance = self._assistant.state() if self._assistant else {}
        own = {"placer": placer, "rule": rule, "starts": starts, "pushes": pushes, "assistance": assistance}
        return joined({"envs": self._env.state(), "inputs": self._inputs.state(), **own})

    def restore(self, state: State) -> None:
        """Continue from a saved state.

        Raises:
            ValueError: they cannot be brought there.
        """
        self._env.restore(part(state, "envs"))
        self._inputs.restore(part(state, "inputs"))
        if self._placer:
            self._placer.restore(part(state, "placer"))
        if self._rule:
            self._rule.restore(part(state, "rule"))
        if self._starts:
            self._starts.restore(part(state, "starts"))
        if self._pusher:
            self._pusher.restore(part(state, "pushes"))
        if self._assistant:
            self._assistant.restore(part(state, "assistance"))

    def close(self) -> None:
        """Free the environments."""
        self._env.close()

    def _pull(self, forces: Floats) -> None:
        self.simulation.push(self._env.spec.morphology.torso, forces)

    def _forces(self) -> Floats:
        """On the torsos in the next control step, shape (n, 3) [N]."""
        forces = np.zeros((self.n, 3))
        if self._pusher is not None:
            forces += self._pusher.forces()
        if self._assistant is not None:
            forces += self._assistant.forces(self._env.now)
        return forces

    def _begin(self, ids: Sequence[int], seeds: Sequence[int | None]) -> None:
        frame = self._env.simulation.reset(ids, seeds)
        self._env.begin(ids, self._placer.apply(ids, frame) if self._placer else frame, seeds)
        self._inputs.begin(ids)


class _Growth:
    """Length of the episodes that begin at a share of the training."""

    def __init__(self, growth: EpisodeGrowth, env: VecEnv) -> None:
        self._growth = growth
        self._dt = env.spec.dt
        self._whole = env.episode_steps

    def steps(self, progress: float) -> int:
        """[control steps]."""
        length_s = grown(self._growth.start_s, self._whole * self._dt, self._growth.until, progress)
        return max(1, round(length_s / self._dt))


@dataclass(frozen=True, slots=True)
class Episode:
    """One finished training episode."""

    episode_return: float
    length: int
    """[steps]."""


class EpisodeLog:
    """Returns and lengths of the episodes in n environments.

    Args:
        shortened: Environments whose first episode is cut short and not listed, shape (n,).
    """

    def __init__(self, shortened: Booleans) -> None:
        self._shortened = shortened.copy()
        self._returns = np.zeros(len(shortened))
        self._lengths = np.zeros(len(shortened), dtype=np.int64)
        self.recent: deque[Episode] = deque(maxlen=RECENT_EPISODES)
        """The last finished whole episodes, oldest first."""
        self.whole = 0
        self.count = 0
        """Finished whole episodes; all of them, the shortened first ones included."""

    def add(self, rewards: Floats, ends: Booleans) -> None:
        """Count the next steps: rewards and ends of episodes, both of shape (T, n)."""
        for row, last in zip(rewards, ends, strict=True):
            self._returns += row
            self._lengths += 1
            if last.any():
                ids = np.flatnonzero(last)
                self.count += len(ids)
                for i in ids[~self._shortened[ids]]:
                    self.whole += 1
                    self.recent.append(Episode(float(self._returns[i]), int(self._lengths[i])))
                self._shortened[ids] = False
                self._returns[ids] = 0.0
                self._lengths[ids] = 0

    def state(self) -> State:
        """Episodes under way and counts so far."""
        return {
            "shortened": self._shortened,
            "returns": self._returns,
            "lengths": self._lengths,
            "counts": np.array([self.whole, self.count]),
            "recent_returns": np.array([episode.episode_return for episode in self.recent]),
            "recent_lengths": np.array([episode.length for episode in self.recent], dtype=np.int64),
        }

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        fill(self._shortened, state["shortened"])
        fill(self._returns, state["returns"])
        fill(self._lengths, state["lengths"])
        self.whole, self.count = state["counts"].tolist()
        recent = zip(state["recent_returns"].tolist(), state["recent_lengths"].tolist(), strict=True)
        self.recent.extend(Episode(*pair) for pair in recent)

"""Collect rollouts for the learner's update."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.training import TrainConfig
from p2p.worker.engine.vec_env import Block
from p2p.worker.learners.learner import Learner, RolloutBatch
from p2p.worker.learners.normalizer import ObservationNormalizer, RewardNormalizer
from p2p.worker.learners.ppo import generalized_advantages
from p2p.worker.reward.evaluator import RewardEvaluator
from p2p.worker.rollout.curriculum import RewardWeights
from p2p.worker.rollout.mirror import Mirror
from p2p.worker.rollout.training_env import EpisodeLog, TrainingEnv
from p2p.worker.saved_state import State, fill, joined, part

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _TimeUp:
    """Truncated episodes, whose value is bootstrapped."""

    t: int
    ids: NDArray[np.intp]
    observations: Floats32
    """What they ended in, normalised, shape (len(ids), obs_dim)."""


class Collector:
    """Collect one rollout after another.

    Within a rollout nothing is computed step by step but the physics, the observations and the actions. Rewards are
    evaluated at its end, for all steps at once.

    Args:
        config: Of the training.
        env: Where it takes place.
        learner: What acts.
        reward: What is learned.
        mirror: Whose mirror images are learned from as well; None for none.
    """

    def __init__(
        self,
        config: TrainConfig,
        env: TrainingEnv,
        learner: Learner,
        reward: RewardEvaluator,
        mirror: Mirror | None = None,
    ) -> None:
        self._config = config
        self._env = env
        self._learner = learner
        self._reward = reward
        self._mirror = mirror
        self.simulation = env.simulation
        self._low = env.simulation.action_low
        self._high = env.simulation.action_high
        dim = env.observations.shape[1]
        self.observations = ObservationNormalizer(dim, config.clip_obs, config.normalize_obs)
        self.rewards = RewardNormalizer(env.n, config.gamma, config.clip_reward, config.normalize_reward)
        self.log = EpisodeLog(env.shortened)
        self.term_means: dict[str, float] = {}
        """Mean of every reward term per step of the last rollout, as the reward has it."""
        self._weights = RewardWeights(config.curriculum) if config.curriculum and config.curriculum.weights else None
        self.course: dict[str, float] = {}
        """Where the curriculum was in the last rollout."""
        self._seen = self.observations.update_and_apply(env.observations)

    def normalize_as(self, observations: State, rewards: State) -> None:
        """Normalise by these statistics from now on, before the first rollout; without normaliser, none are needed.

        Args:
            observations: Mean, variance, count, as of `RunningMeanStd.state`.
            rewards: Those of the discounted returns.
        """
        if self._config.normalize_obs:
            self.observations.restore({name: array.copy() for name, array in observations.items()})
        self.rewards.statistics.restore(rewards)
        self._seen = self.observations.update_and_apply(self._env.observations)

    def collect(self, progress: float = 0.0) -> RolloutBatch:
        """Collect the next n_steps of all environments.

        Args:
            progress: Share of the training's steps that were made before, in [0, 1).

        Raises:
            RewardFailed: the reward raised, or returned what is not a finite number.
            InvalidConfig: the reward cannot be weighted as the curriculum asks.
        """
        self._env.follow(progress)
        steps = self._config.n_steps
        n = self._env.n
        observations = np.empty((steps + 1, *self._seen.shape), dtype=np.float32)
        actions = np.empty((steps, n, len(self._low)), dtype=np.float32)
        log_probs = np.empty((steps, n), dtype=np.float32)
        images = np.empty((steps, *self._seen.shape), dtype=np.float32) if self._mirror is not None else None
        cut: list[_TimeUp] = []
        for t in range(steps):
            observations[t] = self._seen
            if images is not None and self._mirror is not None:
                # of what is not normalised yet: the statistics of both sides differ
                images[t] = self.observations.apply(self._mirror.observations.apply(self._env.observations))
            actions[t], log_probs[t] = self._learner.act(self._seen)
            step = self._env.step(np.clip(actions[t], self._low, self._high))
            self._seen = self.observations.update_and_apply(self._env.observations)
            if (ids := np.flatnonzero(step.truncated & ~step.terminated)).size:
                cut.append(_TimeUp(t, ids, self.observations.apply(self._env.reached[ids])))
        observations[steps] = self._seen
        block = self._env.take_block()
        table = self._reward.evaluate(block)
        self.term_means = dict(zip(self._reward.names, table[:, 1:].mean(axis=0).tolist(), strict=True))
        self.log.add(block.grid(table[:, 0]), block.ends)
        rewards = self.rewards.apply(self._learnt_from(table, progress, block), block.ends).astype(np.float32)
        # A truncated episode would have gone on: its last reward includes gamma times the value of what follows.
        for end in cut:
            rewards[end.t, end.ids] += np.float32(self._config.gamma) * self._learner.values(end.observations)
        values = self._learner.values(observations.reshape(-1, observations.shape[2])).reshape(steps + 1, n)
        advantages, returns = generalized_advantages(
            rewards, values, block.ends, self._config.gamma, self._config.gae_lambda
        )
        batch = RolloutBatch(
            observations=observations[:-1].reshape(steps * n, -1),
            actions=actions.reshape(steps * n, -1),
            log_probs=log_probs.ravel(),
            advantages=advantages.ravel(),
            returns=returns.ravel(),
            values=values[:-1].ravel(),
        )
        return batch if images is None else self._with_images(batch, images.reshape(steps * n, -1))

    def _with_images(self, batch: RolloutBatch, observations: Floats32) -> RolloutBatch:
        """A rollout, followed by its mirror image, which is as good (Abdolhosseini et al., On learning symmetric
        locomotion, 2019, "duplicate tuples").

        The policy that acted need not be symmetric: the probability of a mirrored action is its own.
        """
        assert self._mirror is not None, "there are images"
        actions = self._mirror.actions.apply(batch.actions).astype(np.float32)
        return RolloutBatch(
            observations=np.concatenate([batch.observations, observations]),
            actions=np.concatenate([batch.actions, actions]),
            log_probs=np.concatenate([batch.log_probs, self._learner.log_probs(observations, actions)]),
            advantages=np.tile(batch.advantages, 2),
            returns=np.tile(batch.returns, 2),
            values=np.concatenate([batch.values, self._learner.values(observations)]),
        )

    def _learnt_from(self, table: Floats, progress: float, block: Block) -> Floats:
        """Rewards, shape (T, n), with the weights of the curriculum, if it has some."""
        self.course = self._env.course
        if self._weights is None:
            return block.grid(table[:, 0])
        factors = self._weights.at(progress)
        self.course |= {f"curriculum_weight_{term}": factor for term, factor in factors.items()}
        return block.grid(self._weights.apply(table, self._reward.names, factors))

    def succeed(self, success: float) -> None:
        """Leave the starts of a curriculum by the success at a checkpoint, in [0, 1]."""
        self._env.succeed(success)

    def state(self) -> State:
        """State of the next rollout, apart from the learner's."""
        parts = {
            "env": self._env.state(),
            "reward": self._reward.state(),
            "observations": self.observations.state(),
            "rewards": self.rewards.state(),
            "log": self.log.state(),
        }
        return {"seen": self._seen, **joined(parts)}

    def restore(self, state: State) -> None:
        """Continue from a saved state.

        Raises:
            RewardFailed: the reward raised, or gave no answer.
            ValueError: the state is of another training, or the environments cannot be brought there.
        """
        fill(self._seen, state["seen"])
        self._env.restore(part(state, "env"))
        self._reward.restore(part(state, "reward"))
        self.observations.restore(part(state, "observations"))
        self.rewards.restore(part(state, "rewards"))
        self.log.restore(part(state, "log"))

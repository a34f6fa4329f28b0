"""What happens while stable-baselines3 learns: a row of metrics per rollout, and an evaluation at each point."""

import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback

from p2p.contracts.training import TrainConfig
from p2p.store.iterations import IterationRecord
from p2p.worker.ppo import Episode, LearnerEnv

RECENT_EPISODES = 10
RECENT_ROLLOUTS = 20
LOSSES = {
    "policy_loss": "policy_gradient_loss",
    "value_loss": "value_loss",
    "approx_kl": "approx_kl",
    "clip_fraction": "clip_fraction",
    "explained_variance": "explained_variance",
    "policy_std": "std",
    "learning_rate": "learning_rate",
}
"""Our name -> the one stable-baselines3 logs it by."""


class TrainingCallback(BaseCallback):
    """Writes metrics and calls for evaluations.

    The losses of a rollout are known only after the update that follows it, so its row is written when the next
    rollout begins, or the training ends.

    Args:
        record: The run.
        config: Its configuration.
        env: What it learns in.
        evaluate: Called with the step at each evaluation point, the last time at the end.
    """

    def __init__(
        self, record: IterationRecord, config: TrainConfig, env: LearnerEnv, evaluate: Callable[[int], None]
    ) -> None:
        super().__init__()
        self._record, self._config, self._env, self._evaluate = record, config, env, evaluate
        count = config.num_evals
        self._points = deque(config.total_timesteps * (i + 1) / count for i in range(count))
        self._iteration = 0
        self._episodes_seen = 0
        self._began = self._rollout_began = self._rollout_ended = time.perf_counter()
        self._speeds: deque[tuple[int, float]] = deque(maxlen=RECENT_ROLLOUTS)

    def _on_rollout_start(self) -> None:
        if self._iteration:
            self._write_row()
            self._evaluate_if_due()
        self._rollout_began = time.perf_counter()

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self._iteration += 1
        self._rollout_ended = time.perf_counter()

    def _on_training_end(self) -> None:
        self._write_row()
        self._points.clear()
        self._evaluate(self.num_timesteps)

    def _evaluate_if_due(self) -> None:
        """Evaluate once when at least one point has been passed, but leave the last one to the end."""
        due = [point for point in self._points if point <= self.num_timesteps]
        if due and len(due) < len(self._points):
            self._evaluate(self.num_timesteps)
            for _ in due:
                self._points.popleft()

    def _write_row(self) -> None:
        now = time.perf_counter()
        rollout_time, train_time = self._rollout_ended - self._rollout_began, now - self._rollout_ended
        self._speeds.append((self._config.n_envs * self._config.n_steps, rollout_time + train_time))
        steps, seconds = (sum(column) for column in zip(*self._speeds, strict=True))
        row = {
            "global_step": self.num_timesteps,
            "iteration": self._iteration,
            **self._losses(),
            **_episode_numbers(self._env.episodes[-RECENT_EPISODES:]),
            "episodes_per_rollout": len(self._env.episodes) - self._episodes_seen,
            "sps": steps / seconds,
            "elapsed_time": now - self._began,
            "rollout_time": rollout_time,
            "train_time": train_time,
            "device": str(self.model.device),
            **{f"reward_term_{name}": value for name, value in self._env.drain_terms().items()},
        }
        self._episodes_seen = len(self._env.episodes)
        self._record.append_scalars(row)

    def _losses(self) -> dict[str, float | None]:
        """Numbers of the last update; `entropy` is the Gaussian's own [nats], `grad_norm` the last minibatch's."""
        logged: dict[str, Any] = self.model.logger.name_to_value
        losses = {name: _number(logged.get(f"train/{theirs}")) for name, theirs in LOSSES.items()}
        negative = _number(logged.get("train/entropy_loss"))
        gradients = [p.grad.norm() for p in self.model.policy.parameters() if p.grad is not None]
        return losses | {
            "entropy": None if negative is None else -negative,
            "grad_norm": float(torch.stack(gradients).norm()) if gradients else None,
        }


def _episode_numbers(episodes: list[Episode]) -> dict[str, float | None]:
    """Over the last whole episodes; None before the first one has ended."""
    returns = [episode.episode_return for episode in episodes]
    lengths = [episode.length for episode in episodes]
    return {
        "episodic_return": float(np.mean(returns)) if returns else None,
        "episodic_return_std": float(np.std(returns)) if returns else None,
        "episodic_return_min": min(returns, default=None),
        "episodic_return_max": max(returns, default=None),
        "episode_length": float(np.mean(lengths)) if lengths else None,
    }


def _number(value: Any) -> float | None:
    """A JSON number, or None for what is absent or not finite."""
    return float(value) if value is not None and np.isfinite(value) else None

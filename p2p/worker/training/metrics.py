"""Row of metrics for each rollout of a training."""

import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from p2p.contracts.training import TrainConfig
from p2p.store.iterations import IterationRecord
from p2p.worker.rollout.training_env import EpisodeLog
from p2p.worker.saved_state import State

RECENT_ROLLOUTS = 20

Scalars = Mapping[str, float | None]


class Metrics:
    """Appends one row per rollout to a run's metrics.

    Args:
        record: The run.
        config: Its configuration.
    """

    def __init__(self, record: IterationRecord, config: TrainConfig) -> None:
        self._record = record
        self._config = config
        self._rollouts = 0
        self._episodes_seen = 0
        self._began = time.perf_counter()
        self._seconds: dict[str, float] = {}
        self._speeds: deque[tuple[int, float]] = deque(maxlen=RECENT_ROLLOUTS)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Measure the time of a part of this rollout's work, for the column `name`."""
        begun = time.perf_counter()
        yield
        self._seconds[name] = time.perf_counter() - begun

    def write(self, learner: Scalars, log: EpisodeLog, terms: Scalars) -> None:
        """Write the row of the last rollout.

        Args:
            learner: Numbers of its update; what is not finite is written as null.
            log: Episodes so far.
            terms: Mean of every reward term per step.
        """
        self._rollouts += 1
        size = self._config.n_envs * self._config.n_steps
        self._speeds.append((size, sum(self._seconds.values())))
        steps, seconds = (sum(column) for column in zip(*self._speeds, strict=True))
        # JSON has no numbers for what is not finite.
        finite = {
            name: float(value) if value is not None and np.isfinite(value) else None for name, value in learner.items()
        }
        returns = [episode.episode_return for episode in log.recent]
        lengths = [episode.length for episode in log.recent]
        row = {
            "global_step": self._rollouts * size,
            "iteration": self._rollouts,
            **finite,
            # Of the last whole episodes; None before the first has ended.
            "episodic_return": float(np.mean(returns)) if returns else None,
            "episodic_return_std": float(np.std(returns)) if returns else None,
            "episodic_return_min": min(returns, default=None),
            "episodic_return_max": max(returns, default=None),
            "episode_length": float(np.mean(lengths)) if lengths else None,
            "episodes_per_rollout": log.whole - self._episodes_seen,
            "sps": steps / seconds,
            "elapsed_time": time.perf_counter() - self._began,
            **self._seconds,
            "device": self._config.device,
            **{f"reward_term_{name}": value for name, value in terms.items()},
        }
        self._episodes_seen = log.whole
        self._record.append_scalars(row)

    def state(self) -> State:
        """State of the next row, except the speed."""
        elapsed = time.perf_counter() - self._began
        return {"counts": np.array([self._rollouts, self._episodes_seen]), "elapsed": np.array(elapsed)}

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        self._rollouts, self._episodes_seen = state["counts"].tolist()
        self._began = time.perf_counter() - float(state["elapsed"])

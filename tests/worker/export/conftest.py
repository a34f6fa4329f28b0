"""A checkpoint as a training leaves it, without the training."""

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from p2p.contracts.env import EnvSpec
from p2p.contracts.reward import RewardSpec, RewardTerm
from p2p.contracts.training import Evaluation, Purpose, TrainConfig, first_seed
from p2p.store.arrays import save_arrays
from p2p.store.iterations import IterationRecord
from p2p.store.policy import NumpyPolicy
from p2p.worker.reward_source.loader import LoadedReward
from p2p.worker.rollout.episodes import RecordedRollout, labelled, run_episodes

STEP = 4096


def random_actor_critic(spec: EnvSpec, activation: str = "tanh", normalized: bool = True) -> NumpyPolicy:
    """Networks of different widths, and statistics that are far from 0 and 1."""
    rng = np.random.default_rng(0)

    def network(*sizes: int) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
        weights = tuple(rng.normal(0.0, s[0] ** -0.5, s).astype(np.float32) for s in itertools.pairwise(sizes))
        return weights, tuple(rng.normal(0.0, 0.2, size).astype(np.float32) for size in sizes[1:])

    weights, biases = network(spec.obs_dim, 32, 24, spec.action_dim)
    value_weights, value_biases = network(spec.obs_dim, 16, 1)
    return NumpyPolicy(
        weights=weights,
        biases=biases,
        activation=activation,
        mean=rng.normal(0.0, 2.0, spec.obs_dim) if normalized else np.zeros(spec.obs_dim),
        variance=rng.uniform(0.1, 4.0, spec.obs_dim) if normalized else np.ones(spec.obs_dim) - 1e-8,
        clip=10.0 if normalized else float("inf"),
        low=np.array([actuator.low for actuator in spec.action], dtype=np.float32),
        high=np.array([actuator.high for actuator in spec.action], dtype=np.float32),
        log_std=rng.normal(-0.5, 0.1, spec.action_dim).astype(np.float32),
        value_weights=value_weights,
        value_biases=value_biases,
        observation_count=4112.0,
        reward_mean=1.5,
        reward_variance=7.0,
        reward_count=4096.0,
        gamma=0.97,
        clip_reward=5.0,
    )


def save_rollouts(
    run: IterationRecord, evaluated: object, rollouts: list[RecordedRollout], spec: EnvSpec, purpose: Purpose
) -> None:
    """Write an evaluation with the trajectories of its labelled rollouts."""
    labels = labelled([(rollout.episode_return,) for rollout in rollouts])
    evaluated.save_evaluation(
        Evaluation(
            run_id=run.iteration_id,
            checkpoint=STEP,
            purpose=purpose,
            dt=spec.dt,
            rollouts=tuple(rollout.summary(labels.get(i)) for i, rollout in enumerate(rollouts)),
        )
    )
    recorded = run if purpose is Purpose.SELECTION else evaluated
    for index, label in labels.items():
        arrays = {
            name: rollouts[index].arrays[name]
            for name in ("obs", "observed", "action", "qpos")
            if name in rollouts[index].arrays
        }
        save_arrays(recorded.trajectory(STEP, label), arrays)


@pytest.fixture
def make_checkpoint(
    tmp_path: Path, cheetah: EnvSpec, small: TrainConfig, legacy_reward: str
) -> Callable[..., IterationRecord]:
    """Writes a run with one checkpoint and its selection rollouts; returns the run."""

    def make(policy: NumpyPolicy | None = None, spec: EnvSpec = cheetah, **changes: object) -> IterationRecord:
        policy = policy or random_actor_critic(spec)
        config = small.model_copy(update={"env_id": spec.env_id, **changes})
        run = IterationRecord(tmp_path / "iter_1" / "baseline_seed_1")
        run.save_config(config)
        run.save_env_spec(spec)
        run.save_reward_source(legacy_reward)
        term = RewardTerm(name="speed", description="forward | velocity")
        run.save_reward_spec(RewardSpec(latex="r = v_x", terms=(term,), description="Runs <fast>."))
        policy.save(run.checkpoint(STEP).policy_path)
        first = first_seed(Purpose.SELECTION, config.seed)
        rollouts = run_episodes(config, spec, policy, range(first, first + 4), LoadedReward(legacy_reward))
        save_rollouts(run, run.checkpoint(STEP), rollouts, spec, Purpose.SELECTION)
        return run

    return make

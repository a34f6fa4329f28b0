"""Evaluation episodes: deterministic actions, Gymnasium's own starts, always run their whole time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.intent import Intent
from p2p.contracts.rollout import Rollout
from p2p.contracts.training import TrainConfig
from p2p.rewards.features import Features
from p2p.worker.reward_loader import LoadedReward
from p2p.worker.vec_env import Step, VecEnv

Arrays = dict[str, NDArray[Any]]
SLOTS = 25
"""Episodes run side by side."""
LABELS = {"p10": 0.1, "median": 0.5, "p90": 0.9}
"""The rollouts that are kept whole, by their place in the order."""


class Policy(Protocol):
    """What acts."""

    def act(self, observations: NDArray[np.floating]) -> NDArray[np.floating]:
        """Actions, shape (B, action_dim), for observations of shape (B, obs_dim); rows do not depend on each other."""
        ...


@dataclass(frozen=True, slots=True)
class RecordedRollout:
    """One episode, whole."""

    seed: int
    episode_return: float
    arrays: Arrays
    """The fields of a trajectory file, see `trajectory`, without those that follow from the states."""
    features: Features
    """Name -> shape (T,)."""
    terms: Features
    """Name of a reward term -> shape (T,)."""

    @property
    def length(self) -> int:
        """[steps]."""
        return len(self.arrays["reward"])

    def summary(self, label: str | None = None) -> Rollout:
        """The numbers of the episode."""
        return Rollout(seed=self.seed, episode_return=self.episode_return, length=self.length, label=label)


def judged_config(config: TrainConfig, intent: Intent | None) -> TrainConfig:
    """The configuration with the episodes an intent is judged by."""
    if intent is None:
        return config
    return config.model_copy(update={"episode_s": intent.episode_s, "max_episode_steps": None})


def run_episodes(
    config: TrainConfig, spec: EnvSpec, policy: Policy, seeds: Sequence[int], reward: LoadedReward | None = None
) -> list[RecordedRollout]:
    """Run one episode per seed. An episode is the same to the bit whichever others are run with it.

    Args:
        config: Episode length, side info and `env_kwargs`.
        spec: Which environment.
        policy: What acts.
        seeds: Seed of each episode's reset.
        reward: The trained reward; None takes Gymnasium's.

    Returns:
        The episodes, in the order of `seeds`.

    Raises:
        RewardFailed: the reward raised, or returned what is not a finite number.
    """
    rollouts: list[RecordedRollout] = []
    for start in range(0, len(seeds), SLOTS):
        wave = seeds[start : start + SLOTS]
        env = VecEnv(config, spec, len(wave), reward)
        rollouts += _run_wave(env, policy, wave)
        env.close()
    return rollouts


def labelled(order: Sequence[tuple[float, ...]]) -> dict[int, str]:
    """Index -> label of the rollouts at the 10th, 50th and 90th percentile of `order`, which holds one key each."""
    ranks = sorted(range(len(order)), key=lambda index: order[index])
    return {ranks[round(share * (len(ranks) - 1))]: label for label, share in LABELS.items()}


def trajectory(rollout: RecordedRollout, spec: EnvSpec, model: mujoco.MjModel) -> Arrays:
    """The arrays of a trajectory file, for T steps, K terms, F features and B bodies.

    Sample t describes control step t: `obs` before it, `next_obs`, `qpos`, `qvel` and what follows from them after it.
    Observations and actions are float32, states and rewards float64; nothing is rounded.

    | array | shape | |
    |---|---|---|
    | step, timestamp | (T,) | from 1; [s] |
    | obs, next_obs, action | (T, …) | |
    | reward, reward_terms, _reward_term_names | (T,), (T, K), (K,) | |
    | features, _feature_names | (T, F), (F,) | |
    | terminated, truncated | (T,) | bool |
    | initial_qpos, initial_qvel | (nq,), (nv,) | after the reset |
    | qpos, qvel | (T, nq), (T, nv) | |
    | control_cost | (T,) | sum of squared actions |
    | xpos, xquat, cvel | (T, B, 3), (T, B, 4), (T, B, 6) | in the world; cvel as MuJoCo defines it |
    | cfrc_ext | (T, B, 6) | torque and force on each body in the step [N m, N] |
    """
    arrays = dict(rollout.arrays)
    steps = np.arange(1, rollout.length + 1)
    arrays |= {"step": steps, "timestamp": steps * spec.dt}
    arrays["control_cost"] = np.sum(arrays["action"].astype(np.float64) ** 2, axis=1)
    arrays["reward_terms"], arrays["_reward_term_names"] = _table(rollout.terms, rollout.length)
    arrays["features"], arrays["_feature_names"] = _table(rollout.features, rollout.length)
    return arrays | _bodies(model, arrays["qpos"], arrays["qvel"])


def _run_wave(env: VecEnv, policy: Policy, seeds: Sequence[int]) -> list[RecordedRollout]:
    frame = env.reset(range(env.n), list(seeds))
    observations, before, actions, steps, forces = frame.observations, [], [], [], []
    for _ in range(env.episode_steps):
        chosen = policy.act(observations)
        step = env.step(chosen)
        before.append(observations)
        actions.append(chosen)
        steps.append(step)
        forces.append(env.simulation.contact_forces())
        observations = step.observations
    table = _stacked(steps) | {
        "obs": np.array(before, dtype=np.float32),
        "action": np.array(actions, dtype=np.float32),
        "cfrc_ext": np.array(forces, dtype=np.float32),
    }
    start = {"initial_qpos": frame.qpos, "initial_qvel": frame.qvel}
    return [_rollout(env, seed, i, steps, {**_column(table, i), **_row(start, i)}) for i, seed in enumerate(seeds)]


def _stacked(steps: Sequence[Step]) -> Arrays:
    """Fields of T steps with leading axes (T, n)."""
    return {
        "next_obs": np.array([step.observations for step in steps], dtype=np.float32),
        "reward": np.array([step.rewards for step in steps]),
        "terminated": np.array([step.terminated for step in steps]),
        "truncated": np.array([step.truncated for step in steps]),
        "qpos": np.array([step.qpos for step in steps]),
        "qvel": np.array([step.qvel for step in steps]),
    }


def _rollout(env: VecEnv, seed: int, i: int, steps: Sequence[Step], arrays: Arrays) -> RecordedRollout:
    features = {name: np.array([step.features[name][i] for step in steps]) for name in steps[0].features}
    terms = {name: np.array([step.terms[i, k] for step in steps]) for k, name in enumerate(env.term_names)}
    return RecordedRollout(seed, float(arrays["reward"].sum()), arrays, features, terms)


def _column(table: Arrays, i: int) -> Arrays:
    return {name: np.ascontiguousarray(values[:, i]) for name, values in table.items()}


def _row(table: Arrays, i: int) -> Arrays:
    return {name: values[i] for name, values in table.items()}


def _table(columns: Features, length: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
    values = np.stack(list(columns.values()), axis=1) if columns else np.zeros((length, 0))
    return values, np.array(list(columns), dtype=np.str_)


def _bodies(model: mujoco.MjModel, qpos: NDArray[np.float64], qvel: NDArray[np.float64]) -> Arrays:
    """Poses and velocities of all bodies at the given states, and not a sub-step behind them."""
    data = mujoco.MjData(model)
    rows = list(_body_rows(model, data, qpos, qvel))
    return {name: np.array([row[k] for row in rows]) for k, name in enumerate(("xpos", "xquat", "cvel"))}


def _body_rows(
    model: mujoco.MjModel, data: mujoco.MjData, qpos: NDArray[np.float64], qvel: NDArray[np.float64]
) -> Iterator[tuple[NDArray[np.float32], ...]]:
    for position, velocity in zip(qpos, qvel, strict=True):
        data.qpos[:], data.qvel[:] = position, velocity
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        yield data.xpos.astype(np.float32), data.xquat.astype(np.float32), data.cvel.astype(np.float32)

"""Evaluation episodes: deterministic actions, Gymnasium's own starts, full length."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.analysis.predicates import measure
from p2p.analysis.scoring import Scores, score
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidConfig
from p2p.contracts.intent import Intent
from p2p.contracts.training import Rollout, TrainConfig
from p2p.rewards.features import Features
from p2p.worker.engine.forward_kinematics import ForwardMotion
from p2p.worker.engine.vec_env import Block, VecEnv
from p2p.worker.reward.evaluator import Reward, run_steps, steps_of
from p2p.worker.reward.inputs import RewardInputs
from p2p.worker.reward.recorded_steps import Columns
from p2p.worker.reward_source.info_names import texts_in
from p2p.worker.rollout.policy_inputs import PolicyInputs

Arrays = dict[str, NDArray[Any]]
Floats = NDArray[np.float64]
SLOTS = 5
"""Episodes run side by side: their states are held until the last has ended, and more are not run faster."""
LABELS = {"p10": 0.1, "median": 0.5, "p90": 0.9}
"""The rollouts that are kept whole, by their place in the order."""


class Policy(Protocol):
    """A policy that acts."""

    def act(self, observations: NDArray[np.floating]) -> NDArray[np.floating]:
        """Actions, shape (B, action_dim), for observations, shape (B, obs_dim); rows are independent."""
        ...


@dataclass(frozen=True, slots=True)
class RecordedRollout:
    """One recorded episode."""

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
    """Configuration with the episode length and the commands that an intent is judged by.

    Raises:
        InvalidConfig: the intent is about commands, and the training had none.
    """
    if intent is None:
        return config
    if intent.commands is not None and config.commands is None:
        raise InvalidConfig("The criteria are about commands, and the training gave none. Leave out `commands: null`.")
    commands = intent.commands or config.commands
    return config.model_copy(update={"episode_s": intent.episode_s, "max_episode_steps": None, "commands": commands})


def run_episodes(
    config: TrainConfig,
    spec: EnvSpec,
    policy: Policy,
    seeds: Sequence[int],
    reward: Reward | None = None,
    extra_features: frozenset[str] = frozenset(),
    randomise: bool = False,
) -> list[RecordedRollout]:
    """Run one episode per seed; each is bit-identical regardless of the others.

    Args:
        config: Episode length, commands, side info and `env_kwargs`.
        spec: Which environment.
        policy: What acts.
        seeds: Seed of each episode's reset.
        reward: The trained reward; None takes Gymnasium's.
        extra_features: Features of parts and expressions that are recorded too; names of anything else are passed over.
        randomise: Whether the robots differ from the model, as the configuration's `randomisation` says.

    Returns:
        The episodes, in the order of `seeds`.

    Raises:
        RewardFailed: the reward raised, or returned what is not a finite number.
    """
    rollouts: list[RecordedRollout] = []
    for start in range(0, len(seeds), SLOTS):
        wave = seeds[start : start + SLOTS]
        env = VecEnv(config, spec, len(wave), randomise=randomise)
        rollouts += _run_wave(env, PolicyInputs(config, env, seeds=wave), policy, wave, reward, extra_features)
        env.close()
    return rollouts


def scores_of(intent: Intent, rollouts: Sequence[RecordedRollout], spec: EnvSpec) -> Scores:
    """Measured scores of rollouts by an intent's criteria."""
    measured = [measure(intent, rollout.features, spec.dt) for rollout in rollouts]
    return score(intent, measured, [rollout.summary() for rollout in rollouts])


def judged_order(rollouts: Sequence[RecordedRollout], scores: Scores | None) -> list[tuple[float, float]]:
    """Sort key of each rollout for `labelled`: how well it meets the criteria, never its trained return.

    Generated code computes the return, so a return in this key would let it choose what a judge with eyes is shown.
    Among rollouts of the same score, and where code can measure nothing, a draw from the reset seeds decides.

    Args:
        rollouts: All of one checkpoint.
        scores: Their scores; None without criteria, where nothing is judged and the return decides.
    """
    if scores is None:
        return [(rollout.episode_return, 0.0) for rollout in rollouts]
    marks = [rollout.intent_score for rollout in scores.rollouts] or [0.0] * len(rollouts)
    # Uniform in [0, 1), from a seed that generated code does not know.
    hashes = [hashlib.sha256(f"shown {rollout.seed}".encode()).digest() for rollout in rollouts]
    draws = [int.from_bytes(one[:6]) / 2.0**48 for one in hashes]
    return list(zip(marks, draws, strict=True))


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
    | observed | (T, O) | what `observe` and commands append to `obs` for the policy; only where they do |
    | seen | (T, I) | all that the policy was shown, where that is not `obs` with `observed` |
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
    # Computed anew: the simulation's own poses are one sub-step behind the states.
    motions = ForwardMotion(model).read(arrays["qpos"], arrays["qvel"])
    return arrays | {name: getattr(motions, name).astype(np.float32) for name in ("xpos", "xquat", "cvel")}


def _run_wave(
    env: VecEnv,
    seen: PolicyInputs,
    policy: Policy,
    seeds: Sequence[int],
    reward: Reward | None,
    extra_features: frozenset[str],
) -> list[RecordedRollout]:
    start = env.reset(range(env.n), list(seeds))
    seen.begin(range(env.n))
    forces = []
    appended = []
    shown = []
    for _ in range(env.episode_steps):
        appended.append(seen.appended.astype(np.float32))
        now = seen.now
        shown.append(now.astype(np.float32) if seen.by_senses else now[:, :0])
        seen.follow(env.step(policy.act(now)))
        forces.append(env.simulation.contact_forces().astype(np.float32))
    block = env.take_block()
    inputs = RewardInputs(
        env.simulation, None, extra_features | (texts_in(reward.source) if reward is not None else extra_features)
    )
    columns = inputs.read(block)
    recorded = (*env.spec.feature_names, *sorted(extra_features & inputs.extra_features))
    features = {name: block.grid(columns[name]) for name in recorded}
    rewards, terms = _rewards(env, block, columns, reward)
    table: Arrays = {
        "obs": block.grid(block.before.observations).astype(np.float32),
        "next_obs": block.grid(block.after.observations).astype(np.float32),
        "action": block.grid(block.actions).astype(np.float32),
        "reward": rewards,
        "terminated": block.terminated,
        "truncated": block.truncated,
        "qpos": block.grid(block.after.qpos),
        "qvel": block.grid(block.after.qvel),
        "cfrc_ext": np.array(forces),
    }
    if appended[0].shape[1]:
        table["observed"] = np.array(appended)
    if seen.by_senses:
        table["seen"] = np.array(shown)
    return [
        RecordedRollout(
            seed=seed,
            episode_return=float(rewards[:, i].sum()),
            arrays=_column(table, i) | {"initial_qpos": start.qpos[i], "initial_qvel": start.qvel[i]},
            features=_column(features, i),
            terms=_column(terms, i),
        )
        for i, seed in enumerate(seeds)
    ]


def _rewards(env: VecEnv, block: Block, columns: Columns, reward: Reward | None) -> tuple[Floats, Features]:
    """Rewards, shape (T, n), and their terms by name, each of that shape; Gymnasium's own without terms."""
    if reward is None:
        return block.grid(env.simulation.outcome(block.before, block.after, block.actions).rewards), {}
    rows, names = run_steps(reward, steps_of(block, columns))
    table = block.grid(rows)
    return table[:, :, 0], {name: table[:, :, 1 + k] for k, name in enumerate(names)}


def _column(table: Mapping[str, NDArray[Any]], i: int) -> Arrays:
    return {name: np.ascontiguousarray(values[:, i]) for name, values in table.items()}


def _table(columns: Features, length: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
    values = np.stack(list(columns.values()), axis=1) if columns else np.zeros((length, 0))
    return values, np.array(list(columns), dtype=np.str_)

"""stable-baselines3 PPO on our environments, and its policy as plain arrays."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3 import PPO
from stable_baselines3.common import vec_env as sb3
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.running_mean_std import RunningMeanStd

from p2p.contracts.training import TrainConfig
from p2p.worker.policy import EPSILON, NumpyPolicy
from p2p.worker.start_states import StartPlacer
from p2p.worker.vec_env import Step, VecEnv

ACTIVATIONS = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh}


@dataclass(frozen=True, slots=True)
class Episode:
    """One finished training episode."""

    episode_return: float
    length: int
    """[steps]."""


class LearnerEnv(sb3.VecEnv):
    """Our environments as stable-baselines3 wants them: a finished one is reset at once.

    The first episodes have staggered lengths, so that the environments are not all in the same phase of an episode.

    Args:
        env: The environments.
        first_seed: Environment i is first reset with `first_seed + i`; later resets draw on from there.
        placer: Where some of the episodes begin; None for the environment's own starts.
    """

    def __init__(self, env: VecEnv, first_seed: int, placer: StartPlacer | None) -> None:
        self._env, self._first_seed, self._placer = env, first_seed, placer
        super().__init__(env.n, env.simulation.observation_space, env.simulation.action_space)
        self._returns = np.zeros(env.n)
        self._lengths = np.zeros(env.n, dtype=np.int64)
        self._staggered = np.zeros(env.n, dtype=np.bool_)
        self._term_sum: NDArray[np.float64] = np.zeros(0)
        self._term_steps = 0
        self.episodes: list[Episode] = []
        """Finished whole episodes, oldest first."""
        self.n_episodes = 0
        """Finished episodes, the shortened first ones included."""

    def reset(self) -> NDArray[np.float64]:
        """Begin new episodes everywhere; observations of shape (n, obs_dim)."""
        n = self._env.n
        observations = self._begin(range(n), range(self._first_seed, self._first_seed + n))
        whole = self._env.episode_steps
        self._env.limits[:] = [max(1, whole * (i + 1) // n) for i in range(n)]
        self._staggered[:] = self._env.limits < whole
        return observations

    def step_async(self, actions: NDArray[Any]) -> None:
        """Hand over the actions of the next step."""
        self._env.step_async(actions)

    def step_wait(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_], list[dict[str, Any]]]:
        """Make that step.

        Raises:
            RewardFailed: the reward raised, or returned what is not a finite number; the learner sees nothing of it.
        """
        step = self._env.step_wait()
        self._returns += step.rewards
        self._lengths += 1
        self._add_terms(step)
        done = step.terminated | step.truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self._env.n)]
        observations = step.observations
        ids = np.flatnonzero(done).tolist()
        if ids:
            observations = observations.copy()
            self._finish(ids, step, infos)
            observations[ids] = self._begin(ids, [None] * len(ids))
        return observations, step.rewards, done, infos

    def drain_terms(self) -> dict[str, float]:
        """Mean of every reward term per step since the last call."""
        steps, total = self._term_steps, self._term_sum
        self._term_sum, self._term_steps = np.zeros(0), 0
        return {name: float(value / steps) for name, value in zip(self._env.term_names, total, strict=False)}

    def close(self) -> None:
        """Free the environments."""
        self._env.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:  # noqa: ARG002  # the signature is given
        """One value per environment; they have none to show."""
        return [None] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Not possible: the environments are arrays."""
        raise NotImplementedError(f"{attr_name} cannot be set from outside")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Not possible: the environments are arrays."""
        raise NotImplementedError(f"{method_name} cannot be called from outside")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:  # noqa: ARG002  # as above
        """False for every environment."""
        return [False] * len(list(self._get_indices(indices)))

    def _begin(self, ids: Sequence[int], seeds: Iterable[int | None]) -> NDArray[np.float64]:
        frame = self._env.simulation.reset(ids, list(seeds))
        if self._placer is not None:
            frame = self._placer.apply(ids, frame)
        self._returns[list(ids)], self._lengths[list(ids)] = 0.0, 0
        return self._env.begin(ids, frame).observations

    def _finish(self, ids: Sequence[int], step: Step, infos: list[dict[str, Any]]) -> None:
        self.n_episodes += len(ids)
        for i in ids:
            infos[i]["terminal_observation"] = step.observations[i]
            infos[i]["TimeLimit.truncated"] = bool(step.truncated[i] and not step.terminated[i])
            if not self._staggered[i]:
                self.episodes.append(Episode(float(self._returns[i]), int(self._lengths[i])))
            self._staggered[i] = False
            self._env.limits[i] = self._env.episode_steps

    def _add_terms(self, step: Step) -> None:
        total = step.terms.sum(axis=0)
        self._term_sum = self._term_sum + total if self._term_steps else total
        self._term_steps += self._env.n


def make_learner(config: TrainConfig, env: LearnerEnv) -> PPO:
    """PPO as configured, on one thread; the same seed gives the same policy to the bit."""
    torch.set_num_threads(1)
    normalized = sb3.VecNormalize(
        env,
        norm_obs=config.normalize_obs,
        norm_reward=config.normalize_reward,
        clip_obs=config.clip_obs,
        clip_reward=config.clip_reward,
        gamma=config.gamma,
        epsilon=EPSILON,
    )
    layers = list(config.net_arch)
    model = PPO(
        "MlpPolicy",
        normalized,
        learning_rate=_schedule(config),
        n_steps=config.n_steps,
        batch_size=config.batch_size,
        n_epochs=config.n_epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_range,
        ent_coef=config.ent_coef,
        vf_coef=config.vf_coef,
        max_grad_norm=config.max_grad_norm,
        target_kl=config.target_kl,
        policy_kwargs={
            "net_arch": {"pi": layers, "vf": layers},
            "activation_fn": ACTIVATIONS[config.activation],
            "log_std_init": config.log_std_init,
            "optimizer_kwargs": {"fused": True},  # 6 % more steps per second in all
        },
        seed=config.seed,
        device=config.device,
    )
    model.set_logger(Logger(folder=None, output_formats=[]))
    return model


def export_policy(model: PPO) -> NumpyPolicy:
    """The mean action of the current policy with the current normaliser, as plain arrays."""
    network, space = model.policy, model.action_space
    linear = [m for m in (*network.mlp_extractor.policy_net, network.action_net) if isinstance(m, torch.nn.Linear)]
    normalizer = model.get_vec_normalize_env()
    assert normalizer is not None, "a learner always has a normaliser, if an idle one"
    assert isinstance(space, gymnasium.spaces.Box), "actions are continuous"
    mean, variance = _statistics(normalizer)
    return NumpyPolicy(
        weights=tuple(_array(layer.weight).T.copy() for layer in linear),
        biases=tuple(_array(layer.bias) for layer in linear),
        activation=next(name for name, cls in ACTIVATIONS.items() if cls is network.activation_fn),
        mean=mean,
        variance=variance,
        clip=normalizer.clip_obs if normalizer.norm_obs else float("inf"),
        low=space.low,
        high=space.high,
    )


def _statistics(normalizer: sb3.VecNormalize) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and variance of the observations; such that nothing changes where they are not normalised."""
    if not normalizer.norm_obs:
        dim = normalizer.observation_space.shape or ()
        return np.zeros(dim), np.ones(dim) - EPSILON
    statistics = cast(RunningMeanStd, normalizer.obs_rms)  # a dict only for observations that are dicts
    return statistics.mean.copy(), statistics.var.copy()


def _array(tensor: Any) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.detach().cpu().numpy().astype(np.float32)
    return array


def _schedule(config: TrainConfig) -> Callable[[float], float]:
    """Learning rate over the share of the training that remains, in [0, 1]."""
    start, end = config.learning_rate, config.learning_rate * config.learning_rate_end
    return lambda remaining: end + (start - end) * remaining

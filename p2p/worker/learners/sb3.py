"""stable-baselines3's PPO behind the same interface: its policy, its rollout buffer, its `train()`."""

from typing import Self

import numpy as np
import torch
from gymnasium.spaces import Box
from numpy.typing import NDArray
from stable_baselines3 import PPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import ConstantSchedule

from p2p.contracts.training import TrainConfig
from p2p.worker.learners.learner import Floats, Networks, RolloutBatch
from p2p.worker.learners.sb3_arguments import ppo_arguments
from p2p.worker.learners.torch_generators import global_generators, restore_global_generators
from p2p.worker.saved_state import State, joined, part

LOGGED = {
    "policy_loss": "policy_gradient_loss",
    "value_loss": "value_loss",
    "approx_kl": "approx_kl",
    "clip_fraction": "clip_fraction",
    "policy_std": "std",
    "n_updates": "n_updates",
}
"""Our name -> the one `train()` logs it by."""
Linears = list[torch.nn.Linear]


class Sb3Learner:
    """See `Learner`. Draws from torch's and numpy's global generators, which it seeds.

    Args:
        config: Hyperparameters, sizes of the networks, seed, device.
        observation_space: One observation, as the learner is given it.
        action_space: One action.
    """

    def __init__(self, config: TrainConfig, observation_space: Box, action_space: Box) -> None:
        torch.set_num_threads(1)
        arguments = ppo_arguments(config, config.net_arch, config.net_arch)
        # the policy's own eps, which it forgets when it is given arguments; fused: 6 % more steps per second in all
        arguments["policy_kwargs"]["optimizer_kwargs"] = {"eps": 1e-5, "fused": True}
        model = PPO(
            "MlpPolicy",
            None,  # type: ignore[arg-type]  # as PPO.load does
            **arguments,
            seed=config.seed,
            device=config.device,
            _init_setup_model=False,
        )
        model.observation_space = observation_space
        model.action_space = action_space
        model.n_envs = config.n_envs
        model._setup_model()
        model.set_logger(Logger(folder=None, output_formats=[]))
        self.model = model
        """The PPO itself. It has no environment."""
        self._grad_norms = _GradientNorms(self.model.policy)

    @classmethod
    def for_spaces(cls, config: TrainConfig, observation_space: Box, action_space: Box) -> Self:
        """Learner for these spaces."""
        return cls(config, observation_space, action_space)

    def act(self, observations: Floats) -> tuple[Floats, Floats]:
        """See `Learner.act`."""
        with torch.no_grad():
            distribution = self.model.policy.get_distribution(self._tensor(observations))
            actions = distribution.get_actions()
            return _array(actions), _array(distribution.log_prob(actions))

    def log_probs(self, observations: Floats, actions: Floats) -> Floats:
        """See `Learner.log_probs`."""
        with torch.no_grad():
            distribution = self.model.policy.get_distribution(self._tensor(observations))
            return _array(distribution.log_prob(self._tensor(actions)))

    def values(self, observations: Floats) -> Floats:
        """See `Learner.values`."""
        with torch.no_grad():
            return _array(self.model.policy.predict_values(self._tensor(observations)))[:, 0]

    def update(self, batch: RolloutBatch, learning_rate: float) -> dict[str, float]:
        """See `Learner.update`."""
        buffer = self.model.rollout_buffer
        buffer.buffer_size = len(batch) // buffer.n_envs
        buffer.observations = batch.observations
        buffer.actions = batch.actions
        buffer.values = batch.values
        buffer.log_probs = batch.log_probs
        buffer.advantages = batch.advantages
        buffer.returns = batch.returns
        buffer.full = buffer.generator_ready = True  # ready: its rows are flat already
        self.model.lr_schedule = ConstantSchedule(learning_rate)
        self._grad_norms.clear()
        self.model.train()
        logged = self.model.logger.name_to_value
        scalars = {name: float(logged[f"train/{theirs}"]) for name, theirs in LOGGED.items()}
        return scalars | {"entropy": -float(logged["train/entropy_loss"]), "grad_norm": self._grad_norms.mean()}

    def networks(self) -> Networks:
        """See `Learner.networks`."""
        policy = self._policy_layers()
        value = self._value_layers()
        return Networks(
            weights=tuple(_array(layer.weight).T.copy() for layer in policy),
            biases=tuple(_array(layer.bias).copy() for layer in policy),
            value_weights=tuple(_array(layer.weight).T.copy() for layer in value),
            value_biases=tuple(_array(layer.bias).copy() for layer in value),
            log_std=_array(self.model.policy.log_std).copy(),
        )

    def load(self, networks: Networks, optimizer: State | None = None) -> None:
        """See `Learner.load`."""
        policy = zip(self._policy_layers(), networks.weights, networks.biases, strict=True)
        value = zip(self._value_layers(), networks.value_weights, networks.value_biases, strict=True)
        with torch.no_grad():
            for layer, weights, biases in (*policy, *value):
                layer.weight.copy_(torch.from_numpy(weights.T))
                layer.bias.copy_(torch.from_numpy(biases))
            self.model.policy.log_std.copy_(torch.from_numpy(networks.log_std))
        self.model.policy.optimizer.state.clear()
        if optimizer is not None:
            self._restore_moments(optimizer)

    def optimizer(self) -> State:
        """See `Learner.optimizer`."""
        moments = self.model.policy.optimizer.state_dict()["state"]
        return joined({str(i): {name: _array(value) for name, value in one.items()} for i, one in moments.items()})

    def state(self) -> State:
        """See `Learner.state`; with torch's and numpy's global generators, which it draws from."""
        policy = self.model.policy
        return {"n_updates": np.array(self.model._n_updates)} | joined(
            {
                "parameters": {name: _array(value) for name, value in policy.state_dict().items()},
                "moments": self.optimizer(),
                "generator": global_generators(),
            }
        )

    def restore(self, state: State) -> None:
        """See `Learner.restore`."""
        self.model._n_updates = int(state["n_updates"])
        policy = self.model.policy
        policy.load_state_dict({name: torch.tensor(value) for name, value in part(state, "parameters").items()})
        self._restore_moments(part(state, "moments"))
        restore_global_generators(part(state, "generator"))

    def _restore_moments(self, moments: State) -> None:
        """Continue from an optimiser's moments.

        Raises:
            ValueError: they are of another learner.
        """
        policy = self.model.policy
        found = {name.partition(".")[0] for name in moments}
        wanted = {str(i) for i in range(len(list(policy.parameters())))}
        if found - wanted:
            raise ValueError(f"expected the moments of {len(wanted)} parameters, got those of {sorted(found)}")
        optimizer = policy.optimizer.state_dict()
        optimizer["state"] = {
            int(i): {name: torch.tensor(value) for name, value in part(moments, i).items()} for i in sorted(found)
        }
        policy.optimizer.load_state_dict(optimizer)

    def _tensor(self, array: Floats) -> torch.Tensor:
        return torch.as_tensor(array, device=self.model.device)

    def _policy_layers(self) -> Linears:
        return _linears((*self.model.policy.mlp_extractor.policy_net, self.model.policy.action_net))

    def _value_layers(self) -> Linears:
        return _linears((*self.model.policy.mlp_extractor.value_net, self.model.policy.value_net))


class _GradientNorms:
    """Gradient norm of each minibatch before clipping, which `train()` does not report."""

    def __init__(self, policy: torch.nn.Module) -> None:
        self._squares: list[torch.Tensor] = []
        self._steps = 0
        parameters = list(policy.parameters())
        self._per_step = len(parameters)
        for parameter in parameters:
            parameter.register_post_accumulate_grad_hook(self._take)  # type: ignore[no-untyped-call]  # torch has no type

    def clear(self) -> None:
        """Reset."""
        self._squares.clear()

    def mean(self) -> float:
        """Mean since the last reset; 0 without minibatches."""
        if not self._squares:
            return 0.0
        return float(torch.stack(self._squares).view(-1, self._per_step).sum(dim=1).sqrt().mean())

    def _take(self, parameter: torch.Tensor) -> None:
        assert parameter.grad is not None, "a hook of the gradient"
        gradient = parameter.grad.flatten()
        self._squares.append(gradient.dot(gradient))


def _linears(modules: tuple[torch.nn.Module, ...]) -> Linears:
    return [module for module in modules if isinstance(module, torch.nn.Linear)]


def _array(tensor: torch.Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.detach().cpu().numpy()
    return array

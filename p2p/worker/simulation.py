"""n Gymnasium environments of one kind, stepped in this process.

The seam to the engine: whatever simulates faster takes the place of this class.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidConfig
from p2p.worker.mujoco_warnings import redirect_warnings

Floats = NDArray[np.float64]
EnvKwargs = Mapping[str, bool | int | float | str]
TERMINATE = "terminate_when_unhealthy"
SIDE_INFO = ("qpos", "qvel", "xpos", "xquat", "cfrc_ext", "actuator_force")


@dataclass(frozen=True, slots=True)
class Frame:
    """What n environments show after a control step."""

    observations: Floats
    """Shape (n, obs_dim)."""
    qpos: Floats
    """Shape (n, nq)."""
    qvel: Floats
    """Shape (n, nv)."""
    rewards: Floats
    """Gymnasium's own, shape (n,)."""
    terminated: NDArray[np.bool_]
    """The environment's own rule, shape (n,)."""
    infos: list[dict[str, Any]]
    """Gymnasium's, one new dict per environment."""


class Simulation:
    """n environments of one kind. Nothing resets itself and no time limit applies.

    Args:
        spec: Which environment.
        n: How many.
        env_kwargs: Passed to `gymnasium.make`.
        terminate_when_unhealthy: Passed too where the environment knows it.

    Raises:
        InvalidConfig: the environment refuses `env_kwargs`.
    """

    def __init__(
        self, spec: EnvSpec, n: int, env_kwargs: EnvKwargs | None = None, terminate_when_unhealthy: bool = False
    ) -> None:
        redirect_warnings()
        kwargs: dict[str, Any] = dict(env_kwargs or {})
        if _knows(spec.env_id, TERMINATE):
            kwargs[TERMINATE] = terminate_when_unhealthy
        try:
            self._envs: list[Any] = [
                gymnasium.make(spec.env_id, disable_env_checker=True, **kwargs).unwrapped for _ in range(n)
            ]
        except (TypeError, ValueError, AssertionError, OSError) as error:
            raise InvalidConfig(f"{spec.env_id} does not take env_kwargs {dict(env_kwargs or {})}: {error}.") from error
        _require_same_body(self._envs[0], spec)
        self.spec, self.n = spec, n
        self.observation_space: gymnasium.spaces.Box = self._envs[0].observation_space
        self.action_space: gymnasium.spaces.Box = self._envs[0].action_space
        self.model = self._envs[0].model
        self._actions: Floats = np.zeros((n, spec.action_dim))

    def reset(self, ids: Sequence[int], seeds: Sequence[int | None]) -> Frame:
        """Begin new episodes in the environments `ids`; the frame holds only those, in that order.

        Args:
            ids: Which environments.
            seeds: Seed of each reset; None draws on from the environment's own generator.
        """
        results = [self._envs[i].reset(seed=seed) for i, seed in zip(ids, seeds, strict=True)]
        return self._frame(ids, [(obs, 0.0, False, False, info) for obs, info in results])

    def place(self, i: int, qpos: Floats, qvel: Floats) -> Floats:
        """Put environment `i` into a state; returns its observation there, shape (obs_dim,)."""
        self._envs[i].set_state(qpos, qvel)
        return np.asarray(self._envs[i]._get_obs(), dtype=np.float64)

    def step_async(self, actions: NDArray[Any]) -> None:
        """Hand over the actions of the next control step, shape (n, action_dim)."""
        self._actions = actions

    def step_wait(self) -> Frame:
        """Make that step in all environments."""
        return self._frame(
            range(self.n), [env.step(action) for env, action in zip(self._envs, self._actions, strict=True)]
        )

    def contact_forces(self) -> Floats:
        """External force and torque on every body in the last step, shape (n, nbody, 6) [N m, N]."""
        return np.array([env.data.cfrc_ext for env in self._envs])

    def side_info(self, i: int) -> dict[str, Floats]:
        """Copies of the simulator's named arrays of environment `i`."""
        return {name: getattr(self._envs[i].data, name).copy() for name in SIDE_INFO}

    def close(self) -> None:
        """Free the environments."""
        for env in self._envs:
            env.close()

    def _frame(self, ids: Sequence[int], results: Sequence[tuple[Any, ...]]) -> Frame:
        observations, rewards, terminated, _, infos = zip(*results, strict=True)
        return Frame(
            observations=np.array(observations, dtype=np.float64),
            qpos=np.array([self._envs[i].data.qpos for i in ids]),
            qvel=np.array([self._envs[i].data.qvel for i in ids]),
            rewards=np.array(rewards, dtype=np.float64),
            terminated=np.array(terminated, dtype=np.bool_),
            infos=list(infos),
        )


def _require_same_body(env: Any, spec: EnvSpec) -> None:
    """Refuse an environment whose time or joints are not those that features and criteria are measured by."""
    found, expected = (env.dt, env.model.nq, env.model.nv), (spec.dt, spec.nq, spec.nv)
    if found[1:] != expected[1:] or abs(found[0] - expected[0]) > 1e-9:
        raise InvalidConfig(
            f"env_kwargs change the body of {spec.env_id}: expected (dt, nq, nv) = {expected}, got {found}. "
            "Leave frame_skip and xml_file as they are."
        )


def compiled_model(spec: EnvSpec, env_kwargs: EnvKwargs | None = None) -> mujoco.MjModel:
    """The model an environment simulates."""
    return Simulation(spec, 1, env_kwargs).model


def _knows(env_id: str, argument: str) -> bool:
    """True when the environment's constructor has this argument."""
    entry = gymnasium.spec(env_id).entry_point
    cls = gymnasium.envs.registration.load_env_creator(entry) if isinstance(entry, str) else entry
    return cls is not None and argument in inspect.signature(cls).parameters

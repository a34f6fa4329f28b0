"""n Gymnasium environments stepped one by one: slow, and correct for any environment.

A plain list: Gymnasium's own vector environment refuses to go on with an episode that has ended.
"""

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidConfig
from p2p.worker.engine.episode_record import EpisodeRecord
from p2p.worker.engine.frame import SIDE_INFO, Floats, Frame, Outcome
from p2p.worker.saved_state import State, joined, part

_REWARD = "reward"
_INFO = "info "
Result = tuple[Any, float, bool, dict[str, Any]]


class GymSimulation:
    """A `Simulation` that asks each environment itself. Reward and info of a step travel in the frame's probes.

    Args:
        spec: Which environment.
        make: Makes one such environment, unwrapped.
        n: How many.
        reason: Why nothing faster is used, for people.
    """

    def __init__(self, spec: EnvSpec, make: Callable[[], Any], n: int, reason: str = "asked for") -> None:
        self.spec = spec
        self.n = n
        self.engine = f"gymnasium: {reason}"
        # The numeric entries of an environment's info, found by one step: name -> NaNs of its shape.
        probe = make()
        probe.reset(seed=0)
        _, _, _, _, info = probe.step(np.zeros(probe.action_space.shape, dtype=np.float32))
        probe.close()
        values = {name: np.asarray(value) for name, value in info.items()}
        self._blank = {
            name: np.full(value.shape, np.nan) for name, value in values.items() if value.dtype.kind in "fiub"
        }
        envs = self._envs = [make() for _ in range(n)]
        self._episodes = [EpisodeRecord(env) for env in envs]
        self.model = envs[0].model
        self.observation_space: gymnasium.spaces.Box = envs[0].observation_space
        self.action_space: gymnasium.spaces.Box = envs[0].action_space
        self.observation_dim = int(np.prod(self.observation_space.shape))
        self.action_low: NDArray[np.float32] = self.action_space.low
        self.action_high: NDArray[np.float32] = self.action_space.high

    def reset(self, ids: Sequence[int], seeds: Sequence[int | None]) -> Frame:
        """Begin new episodes in the environments `ids`; the frame holds only those, in that order.

        Args:
            ids: Which environments.
            seeds: Seed of each reset; None draws on from the environment's own generator.
        """
        shown = [self._episodes[i].reset(seed) for i, seed in zip(ids, seeds, strict=True)]
        return self._frame(ids, [(observation, np.nan, False, {}) for observation in shown])

    def place(self, i: int, qpos: Floats, qvel: Floats) -> Frame:
        """Put environment `i` into a state; the frame holds only that one."""
        self._episodes[i].place(qpos, qvel)
        return self._frame([i], [(self._envs[i]._get_obs(), np.nan, False, {})])

    def push(self, body: str, forces: Floats) -> None:  # noqa: ARG002  (Protocol)
        """Refuse to push: a saved state is an episode that is repeated, and a push would not be.

        Raises:
            InvalidConfig: always.
        """
        raise InvalidConfig(
            "curriculum.pushes and curriculum.assistance need MuJoCo's batches, and these environments run without "
            f"({self.engine}). Remove them."
        )

    def step(self, actions: NDArray[np.floating]) -> Frame:
        """Make one control step in all environments with `actions`, shape (n, action_dim)."""
        results: list[Result] = []
        for episode, action in zip(self._episodes, actions, strict=True):
            observation, reward, terminated, _, info = episode.step(action)
            results.append((observation, reward, terminated, info))
        return self._frame(range(self.n), results)

    def outcome(self, before: Frame, after: Frame, actions: NDArray[np.floating]) -> Outcome:  # noqa: ARG002  (Protocol)
        """Gymnasium's reward and info of the steps that ended in `after`, for any number of rows."""
        info = {name.removeprefix(_INFO): column for name, column in after.probes.items() if name.startswith(_INFO)}
        return Outcome(after.probes[_REWARD], info)

    def contact_forces(self) -> Floats:
        """Torque and force on every body in the last step, shape (n, nbody, 6) [N m, N]; zero after a reset."""
        return np.array([env.data.cfrc_ext for env in self._envs])

    def side_info_all(self) -> dict[str, Floats]:
        """Copies of the simulator's named arrays, name -> shape (n, ...)."""
        return {name: np.array([getattr(env.data, name) for env in self._envs]) for name in SIDE_INFO}

    def side_info(self, i: int) -> dict[str, Floats]:
        """Copies of the simulator's named arrays of environment `i`."""
        return {name: getattr(self._envs[i].data, name).copy() for name in SIDE_INFO}

    def state(self) -> State:
        """How every environment got where it is."""
        return joined({str(i): episode.state() for i, episode in enumerate(self._episodes)})

    def restore(self, state: State) -> None:
        """Go through the same episodes again.

        Raises:
            ValueError: an environment does not end where the other one was.
        """
        for i, episode in enumerate(self._episodes):
            episode.restore(part(state, str(i)))

    def close(self) -> None:
        """Free the environments."""
        for env in self._envs:
            env.close()

    def _frame(self, ids: Sequence[int], results: Sequence[Result]) -> Frame:
        observations, rewards, terminated, infos = zip(*results, strict=True)
        probes = {_REWARD: np.array(rewards, dtype=np.float64)}
        for name, blank in self._blank.items():
            probes[_INFO + name] = np.array([info.get(name, blank) for info in infos], dtype=np.float64)
        return Frame(
            observations=np.array(observations, dtype=np.float64).reshape(len(results), -1),
            qpos=np.array([self._envs[i].data.qpos for i in ids]),
            qvel=np.array([self._envs[i].data.qvel for i in ids]),
            terminated=np.array(terminated, dtype=np.bool_),
            probes=probes,
        )

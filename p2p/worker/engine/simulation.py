"""Simulation interface, and the choice of the fastest correct one."""

from collections.abc import Sequence
from typing import Any, Protocol

import gymnasium
import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.terrain import Terrain
from p2p.worker.engine.batch_simulation import BatchSimulation, disagreement
from p2p.worker.engine.environment import EnvKwargs, make_environment
from p2p.worker.engine.frame import Floats, Frame, Outcome
from p2p.worker.engine.gym_simulation import GymSimulation
from p2p.worker.engine.library import BatchUnavailable, unavailable
from p2p.worker.engine.tasks.registry import describe
from p2p.worker.saved_state import State


class Simulation(Protocol):
    """n environments of one kind. Nothing resets itself and no time limit applies; a finished one goes on."""

    spec: EnvSpec
    n: int
    engine: str
    """"batch", or "gymnasium: " and why it is not the batch."""
    model: mujoco.MjModel
    observation_dim: int
    action_low: NDArray[np.float32]
    """Shape (action_dim,)."""
    action_high: NDArray[np.float32]
    """Shape (action_dim,)."""
    observation_space: gymnasium.spaces.Box
    action_space: gymnasium.spaces.Box

    def reset(self, ids: Sequence[int], seeds: Sequence[int | None]) -> Frame:
        """Begin new episodes in the environments `ids`, each at most once; the frame holds only those, in that order.

        A seed of None draws on from the environment's own generator.
        """
        ...

    def place(self, i: int, qpos: Floats, qvel: Floats) -> Frame:
        """Put environment `i` into a state; the frame holds only that one."""
        ...

    def push(self, body: str, forces: Floats) -> None:
        """Push a body of every environment with `forces`, shape (n, 3) [N] in the world, until the next call or reset.

        Raises:
            InvalidConfig: it could not go on from a saved state after that.
        """
        ...

    def step(self, actions: NDArray[np.floating]) -> Frame:
        """Make one control step in all environments with `actions`, shape (n, action_dim), handed on as they are."""
        ...

    def outcome(self, before: Frame, after: Frame, actions: NDArray[np.floating]) -> Outcome:
        """Gymnasium's reward and info of the steps from `before` to `after` with `actions`, for any number of rows."""
        ...

    def contact_forces(self) -> Floats:
        """Torque and force on every body in the last step, shape (n, nbody, 6) [N m, N]; zero after a reset."""
        ...

    def side_info(self, i: int) -> dict[str, Floats]:
        """Copies of the simulator's named arrays of environment `i`."""
        ...

    def side_info_all(self) -> dict[str, Floats]:
        """Side info of all environments, name -> shape (n, ...)."""
        ...

    def state(self) -> State:
        """Everything the next steps and resets depend on, between two steps."""
        ...

    def restore(self, state: State) -> None:
        """Restore the state of another simulation of the same environments.

        Raises:
            ValueError: it cannot.
        """
        ...

    def close(self) -> None:
        """Free the environments."""
        ...


def make_simulation(
    spec: EnvSpec,
    n: int,
    env_kwargs: EnvKwargs | None = None,
    terminate_when_unhealthy: bool = False,
    threads: int = 1,
    terrain: Terrain | None = None,
    training: bool = False,
) -> Simulation:
    """Fastest simulation that equals Gymnasium's.

    MuJoCo's batches where this machine has them and the environment has a vectorised description that agrees with
    what is installed; a list of Gymnasium environments for everything else.

    Args:
        spec: Which environment.
        n: How many.
        env_kwargs: Passed to `gymnasium.make`.
        terminate_when_unhealthy: Passed too where the environment knows it.
        threads: Physics threads. Results do not depend on it.
        terrain: Ground of all of them; None for the floor of the model.
        training: Whether their episodes begin at the places on the terrain that are a training's.

    Raises:
        InvalidConfig: the environment refuses `env_kwargs`, or they change the body; or it cannot have the terrain.
    """

    def make() -> Any:
        return make_environment(spec, env_kwargs, terminate_when_unhealthy, terrain, training)

    env = make()
    try:
        return _batch(spec, env, n, threads)
    except BatchUnavailable as reason:
        return GymSimulation(spec, make, n, str(reason))


def _batch(spec: EnvSpec, env: Any, n: int, threads: int) -> BatchSimulation:
    if (reason := unavailable()) is not None:
        raise BatchUnavailable(reason)
    task = describe(env)
    if task is None:
        raise BatchUnavailable(f"{type(env).__name__} has no vectorised description")
    difference = disagreement(spec, env, task)
    if difference is not None:
        raise BatchUnavailable(f"{type(env).__name__} is not as described: {difference}")
    return BatchSimulation(spec, env, task, n, threads)

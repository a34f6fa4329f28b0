"""n environments of one kind as one MuJoCo batch: the physics in C, everything else on whole arrays."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import mujoco
import numpy as np
from gymnasium.utils import seeding
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.randomisation import Randomisation
from p2p.worker.engine.frame import SIDE_INFO, Booleans, Floats, Frame, Outcome
from p2p.worker.engine.library import NativeBatch
from p2p.worker.engine.morphology import index_of
from p2p.worker.engine.randomiser import Randomiser
from p2p.worker.engine.tasks.task import ControlSteps, Moment, VectorisedTask
from p2p.worker.saved_state import State, fill, generator_state, joined, part, restore_generator

_CONTACT_FORCES = ("mj_rnePostConstraint",)
"""Gymnasium calls it after every step: without a sensor that needs them, MuJoCo computes no contact forces."""
_STATE = {
    "qpos": mujoco.mjtState.mjSTATE_QPOS,
    "qvel": mujoco.mjtState.mjSTATE_QVEL,
    "ctrl": mujoco.mjtState.mjSTATE_CTRL,
}
_COMPARED_STEPS = 3
_RTOL = 1e-6
_ATOL = 1e-9
"""Tolerances against Gymnasium, which sums some costs in single precision."""


class BatchSimulation:
    """A `Simulation` on MuJoCo's batches; the same to the bit as one Gymnasium environment each.

    Args:
        spec: Which environment.
        env: One such environment, unwrapped; only read.
        task: Its vectorised description.
        n: How many.
        threads: Physics threads. Results do not depend on it.

    Raises:
        BatchUnavailable: MuJoCo has no batches here, or refuses one of this model.
    """

    engine = "batch"

    def __init__(self, spec: EnvSpec, env: Any, task: VectorisedTask, n: int, threads: int = 1) -> None:
        self.spec = spec
        self.n = n
        self.model = env.model
        self.observation_space: gymnasium.spaces.Box = env.observation_space
        self.action_space: gymnasium.spaces.Box = env.action_space
        self.observation_dim = int(self.observation_space.shape[0])
        self.action_low: NDArray[np.float32] = self.action_space.low
        self.action_high: NDArray[np.float32] = self.action_space.high
        self._task = task
        self._frame_skip = int(env.frame_skip)
        self._batch = NativeBatch(self.model, n, threads)
        self._qpos, self._qvel, self._ctrl = (self._batch.component(part) for part in _STATE.values())
        self._fields = {name: self._field(name) for name in task.fields}
        self._forces_always = "cfrc_ext" in task.fields
        self._forces_missing = np.zeros(n, dtype=np.bool_)
        self._generators: list[np.random.Generator | None] = [None] * n
        self.randomiser: Randomiser | None = None
        """Makes the robots of new episodes differ from the model; None leaves them as they are."""

    def randomise(self, randomisation: Randomisation) -> Randomiser:
        """Draw the robot of every later episode."""
        torso = index_of(self.model, "body", self.spec.morphology.torso)
        self.randomiser = Randomiser(randomisation, self.model, torso, self._batch)
        return self.randomiser

    def reset(self, ids: Sequence[int], seeds: Sequence[int | None]) -> Frame:
        """Begin new episodes in the environments `ids`, each at most once; the frame holds only those, in that order.

        Args:
            ids: Which environments.
            seeds: Seed of each reset; None draws on from the environment's own generator.
        """
        rows = np.array(ids, dtype=np.int32)
        if self.randomiser is not None:
            self.randomiser.begin(ids, seeds)
        self._batch.reset(in_order := np.sort(rows))
        for i, seed in zip(rows.tolist(), seeds, strict=True):
            self._qpos[i], self._qvel[i] = self._task.start(self._generator(i, seed))
        self._batch.forward(in_order)
        self._forces_missing[rows] = False
        return self._frame(rows, ended=False)

    def place(self, i: int, qpos: Floats, qvel: Floats) -> Frame:
        """Put environment `i` into a state; the frame holds only that one."""
        self._complete_forces()
        self._qpos[i] = qpos
        self._qvel[i] = qvel
        rows = np.array([i], dtype=np.int32)
        self._batch.forward(rows)
        return self._frame(rows, ended=False)

    def push(self, body: str, forces: Floats) -> None:
        """Push a body of every environment with `forces`, shape (n, 3) [N], until the next call or reset."""
        first = 6 * int(self.model.body(body).id)
        self._batch.component(mujoco.mjtState.mjSTATE_XFRC_APPLIED)[:, first : first + 3] = forces

    def step(self, actions: NDArray[np.floating]) -> Frame:
        """Make one control step in all environments with `actions`, shape (n, action_dim)."""
        self.advance(actions)
        return self.frame()

    def advance(self, actions: NDArray[np.floating]) -> None:
        """The physics of a step; nothing is read."""
        if actions.shape != self._ctrl.shape:
            raise ValueError(f"Expected actions of shape {self._ctrl.shape}, got {actions.shape}.")
        self._ctrl[:] = actions if self.randomiser is None else self.randomiser.delayed(actions)
        self._batch.step(self._frame_skip)
        if self._forces_always:
            self._batch.apply(_CONTACT_FORCES)
        else:
            self._forces_missing[:] = True

    def frame(self) -> Frame:
        """What all environments show after a step."""
        return self._frame(slice(None), ended=True)

    def outcome(self, before: Frame, after: Frame, actions: NDArray[np.floating]) -> Outcome:
        """Gymnasium's reward and info of the steps from `before` to `after` with `actions`, for any number of rows."""
        return self._task.outcome(ControlSteps(before, after, actions))

    def contact_forces(self) -> Floats:
        """Torque and force on every body in the last step, shape (n, nbody, 6) [N m, N]; zero after a reset."""
        self._complete_forces()
        return self._field("cfrc_ext").copy()

    def side_info_all(self) -> dict[str, Floats]:
        """Copies of the simulator's named arrays, name -> shape (n, ...)."""
        self._complete_forces()
        return {name: self._field(name).copy() for name in SIDE_INFO}

    def side_info(self, i: int) -> dict[str, Floats]:
        """Copies of the simulator's named arrays of environment `i`."""
        self._complete_forces()
        return {name: self._field(name)[i].copy() for name in SIDE_INFO}

    def state(self) -> State:
        """Physics and generators of all environments, between two steps."""
        known = {str(i): generator_state(g) for i, g in enumerate(self._generators) if g is not None}
        drawn = self.randomiser.state() if self.randomiser is not None else {}
        return {"physics": self._batch.rows, **joined({"generator": known, "randomiser": drawn})}

    def restore(self, state: State) -> None:
        """Be where another one was. What MuJoCo computes from the state is there again after the next step.

        Raises:
            ValueError: the state is of other environments.
        """
        if self.randomiser is not None:
            self.randomiser.restore(part(state, "randomiser"))
        fill(self._batch.rows, state["physics"])
        self._forces_missing[:] = False
        for name, words in part(state, "generator").items():
            restore_generator(self._generator(int(name), None), words)

    def close(self) -> None:
        """Free the environments."""
        self._batch.close()

    def _field(self, name: str) -> Floats:
        """A live view of a part of the state or of what MuJoCo computes from it, shape (n, ...)."""
        if name in _STATE:
            return self._batch.component(_STATE[name])
        return self._batch.output(name)

    def _generator(self, i: int, seed: int | None) -> np.random.Generator:
        """The source of an environment's starts: begun anew with a seed, else continued."""
        generator = self._generators[i]
        if generator is None or seed is not None:
            generator, _ = seeding.np_random(seed)
            self._generators[i] = generator
        return generator

    def _complete_forces(self) -> None:
        """Compute the contact forces where the last step left them out."""
        if self._forces_missing.any():
            self._batch.apply(_CONTACT_FORCES, np.flatnonzero(self._forces_missing).astype(np.int32))
            self._forces_missing[:] = False

    def _frame(self, rows: NDArray[np.int32] | slice, ended: bool) -> Frame:
        fields = {name: field[rows] for name, field in self._fields.items()}
        now = Moment(self._qpos[rows].copy(), self._qvel[rows].copy(), fields)
        terminated: Booleans = self._task.terminated(now) if ended else np.zeros(len(now.qpos), dtype=np.bool_)
        return Frame(self._task.observe(now), now.qpos, now.qvel, terminated, self._task.probes(now))


def disagreement(spec: EnvSpec, env: Any, task: VectorisedTask) -> str | None:
    """First difference from the installed Gymnasium environment in a reset and a few steps; None if there is none.

    Args:
        spec: Which environment.
        env: One such environment, unwrapped; it is stepped.
        task: The description.

    Raises:
        BatchUnavailable: MuJoCo refuses a batch of this model.
    """
    vectorised = BatchSimulation(spec, env, task, 1)
    space = env.action_space
    generator = np.random.default_rng(0)
    before = vectorised.reset([0], [0])
    observation, _ = env.reset(seed=0)
    if not _close(before.observations[0], observation):
        return "its first observation differs"
    for _ in range(_COMPARED_STEPS):
        action = generator.uniform(space.low, space.high).astype(np.float32)
        after = vectorised.step(action[None])
        observation, reward, terminated, _, info = env.step(action)
        found = vectorised.outcome(before, after, action[None])
        if not _close(after.observations[0], observation) or bool(after.terminated[0]) != bool(terminated):
            return "its observation or its end differs"
        if not _close(found.rewards[0], reward) or set(found.info) != set(info):
            return "its reward differs"
        if not all(_close(found.info[name][0], value) for name, value in info.items()):
            return "its info differs"
        before = after
    vectorised.close()
    return None


def _close(found: Any, expected: Any) -> bool:
    return np.shape(found) == np.shape(expected) and np.allclose(found, expected, rtol=_RTOL, atol=_ATOL)

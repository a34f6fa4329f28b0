"""Where everything is at given joint positions, for whole blocks of states at once.

After `mj_step` the world positions in MjData belong to the last sub-step's start. Here they are computed from the joint
positions themselves, so saved states give the same as live ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from p2p.worker.engine.frame import Floats
from p2p.worker.engine.library import BatchUnavailable, NativeBatch, unavailable

_CHUNK = 16
"""Rows computed at once. A row of HalfCheetah takes 1.1 µs at 16 and 0.8 at 64, which needs 9 MB more."""
_POSES = ("xpos", "xquat", "xmat", "geom_xpos", "geom_xmat")
_MOTIONS = ("xpos", "xquat", "cvel")


@dataclass(frozen=True, slots=True)
class Poses:
    """What `mj_kinematics` computes of B states, in world coordinates; new arrays."""

    xpos: Floats
    """Places of the bodies, shape (B, nbody, 3) [m]."""
    xquat: Floats
    """Their orientations (w, x, y, z), shape (B, nbody, 4)."""
    xmat: Floats
    """The same as rotation matrices by rows, shape (B, nbody, 9)."""
    geom_xpos: Floats
    """Centres of the geoms, shape (B, ngeom, 3) [m]."""
    geom_xmat: Floats
    """Their rotation matrices by rows, shape (B, ngeom, 9)."""


@dataclass(frozen=True, slots=True)
class Motions:
    """Where the bodies are in B states and how they move; new arrays."""

    xpos: Floats
    """Shape (B, nbody, 3) [m]."""
    xquat: Floats
    """Shape (B, nbody, 4)."""
    cvel: Floats
    """Rotational and translational velocity as MuJoCo defines it, shape (B, nbody, 6) [rad/s, m/s]."""


class ForwardKinematics:
    """Reads poses from joint positions; the same to the bit as `mj_kinematics` on an MjData of its own.

    Args:
        model: The simulated model.
        threads: Results do not depend on it.
    """

    def __init__(self, model: mujoco.MjModel, threads: int = 1) -> None:
        self._reader = _reader(model, ("mj_kinematics",), _POSES, threads)

    def read(self, qpos: Floats) -> Poses:
        """The poses at joint positions of shape (B, nq)."""
        return Poses(*self._reader.read(qpos, None))


class ForwardMotion:
    """Reads poses and velocities of the bodies from states.

    Args:
        model: The simulated model.
        threads: Results do not depend on it.
    """

    def __init__(self, model: mujoco.MjModel, threads: int = 1) -> None:
        functions = ("mj_kinematics", "mj_comPos", "mj_comVel")
        self._reader = _reader(model, functions, _MOTIONS, threads)

    def read(self, qpos: Floats, qvel: Floats) -> Motions:
        """The motions at joint positions of shape (B, nq) and velocities of shape (B, nv)."""
        return Motions(*self._reader.read(qpos, qvel))


class ForwardFields:
    """Reads any float fields of MjData after C functions of the form `f(model, data)` at given states.

    Every state is computed on its own: the solver starts from nothing, so results do not depend on the other rows.

    Args:
        model: The simulated model.
        functions: Names of the functions, in the order in which they run.
        fields: Names of the fields.
        threads: Results do not depend on it.
    """

    def __init__(
        self, model: mujoco.MjModel, functions: Sequence[str], fields: Sequence[str], threads: int = 1
    ) -> None:
        self._reader = _reader(model, functions, fields, threads)
        self._names = tuple(fields)

    def read(self, qpos: Floats, qvel: Floats, ctrl: Floats) -> dict[str, Floats]:
        """The fields by name, each of shape (B, ...), matrices by rows.

        Args:
            qpos: Joint positions, shape (B, nq).
            qvel: Joint velocities, shape (B, nv).
            ctrl: Controls, shape (B, nu).
        """
        return dict(zip(self._names, self._reader.read(qpos, qvel, ctrl), strict=True))


def _reader(
    model: mujoco.MjModel, functions: Sequence[str], fields: Sequence[str], threads: int
) -> "_BatchReader | _LoopReader":
    if unavailable() is None:
        try:
            return _BatchReader(model, functions, fields, threads)
        except BatchUnavailable:
            pass  # a model that MuJoCo's batches refuse is read state by state
    return _LoopReader(model, functions, fields)


class _BatchReader:
    """Runs C functions on chunks of states in a batch of its own."""

    def __init__(self, model: mujoco.MjModel, functions: Sequence[str], fields: Sequence[str], threads: int) -> None:
        self._batch = NativeBatch(model, _CHUNK, threads)
        self._functions = functions
        self._qpos = self._batch.component(mujoco.mjtState.mjSTATE_QPOS)
        self._qvel = self._batch.component(mujoco.mjtState.mjSTATE_QVEL)
        self._ctrl = self._batch.component(mujoco.mjtState.mjSTATE_CTRL)
        self._warmstart = self._batch.component(mujoco.mjtState.mjSTATE_WARMSTART)
        outputs = [self._batch.output(name) for name in fields]
        # Rotation matrices by rows, as MjData holds them in Python.
        self._fields = [out.reshape(*out.shape[:2], 9) if out.shape[2:] == (3, 3) else out for out in outputs]

    def read(self, qpos: Floats, qvel: Floats | None, ctrl: Floats | None = None) -> list[Floats]:
        """The fields, each of shape (B, ...)."""
        found = [np.empty((len(qpos), *field.shape[1:])) for field in self._fields]
        for start in range(0, len(qpos), _CHUNK):
            rows = slice(start, min(start + _CHUNK, len(qpos)))
            ids = np.arange(rows.stop - start, dtype=np.int32)
            self._qpos[: len(ids)] = qpos[rows]
            if qvel is not None:
                self._qvel[: len(ids)] = qvel[rows]
            if ctrl is not None:
                self._ctrl[: len(ids)] = ctrl[rows]
                self._warmstart[: len(ids)] = 0.0
            self._batch.apply(self._functions, ids)
            for target, field in zip(found, self._fields, strict=True):
                target[rows] = field[: len(ids)]
        return found


class _LoopReader:
    """Runs the same functions of MuJoCo's Python package, state by state."""

    def __init__(self, model: mujoco.MjModel, functions: Sequence[str], fields: Sequence[str]) -> None:
        self._model = model
        self._data = mujoco.MjData(model)
        self._functions = [getattr(mujoco, name) for name in functions]
        self._fields = [getattr(self._data, name) for name in fields]

    def read(self, qpos: Floats, qvel: Floats | None, ctrl: Floats | None = None) -> list[Floats]:
        """The fields, each of shape (B, ...)."""
        found = [np.empty((len(qpos), *field.shape)) for field in self._fields]
        model = self._model
        data = self._data
        state = self._data.qpos
        velocities = self._data.qvel
        for index, row in enumerate(qpos):
            state[:] = row
            if qvel is not None:
                velocities[:] = qvel[index]
            if ctrl is not None:
                data.ctrl[:] = ctrl[index]
                data.qacc_warmstart[:] = 0.0
            for function in self._functions:
                function(model, data)
            for target, field in zip(found, self._fields, strict=True):
                target[index] = field
        return found

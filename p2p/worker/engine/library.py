"""MuJoCo's C functions for batches, called directly.

`mujoco.batch.Batch` steps many simulations of one model, but has no way to run a function such as
`mj_rnePostConstraint` on each of them. The C interface has (`mjb_apply`), and it is used here for everything.
"""

import ctypes
import functools
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ids = NDArray[np.int32]
Stage = mujoco.mjtStage

_POINTER = ctypes.c_void_p
_INT = ctypes.c_int
_INTS = ctypes.POINTER(ctypes.c_int)
_ERROR_LENGTH = 500
_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "mjb_makeBatch": (_POINTER, (_POINTER, _INT, _POINTER, ctypes.c_char_p, _INT)),
    "mjb_deleteBatch": (None, (_POINTER,)),
    "mjb_nstate": (_INT, (_POINTER,)),
    "mjb_state": (_POINTER, (_POINTER,)),
    "mjb_stateComponent": (_POINTER, (_POINTER, _INT, _INTS)),
    "mjb_expand": (_POINTER, (_POINTER, ctypes.c_char_p, _INTS, _INTS)),
    "mjb_setConst": (_INT, (_POINTER, _POINTER, _INT)),
    "mjb_output": (_POINTER, (_POINTER, ctypes.c_char_p, _INTS, _INTS)),
    "mjb_step": (_INT, (_POINTER, _POINTER, _INT, _INT, _INT)),
    "mjb_forward": (_INT, (_POINTER, _POINTER, _INT, _INT)),
    "mjb_reset": (_INT, (_POINTER, _POINTER, _INT, _POINTER, _INT)),
    "mjb_apply": (_INT, (_POINTER, _POINTER, _INT, _POINTER, _POINTER, _INT)),
    "mjb_status": (_INTS, (_POINTER,)),
    "mjb_error": (ctypes.c_char_p, (_POINTER, _INT)),
}


class BatchUnavailable(Exception):
    """MuJoCo's batch functions cannot be used here, or not for this model."""


class _Config(ctypes.Structure):
    """`mjBatchConfig`."""

    _fields_ = (("nthread", ctypes.c_int), ("persistent", ctypes.c_bool))


class NativeBatch:
    """n simulations of a copy of one model, each with an MjData of its own.

    State components are live views of what the next call starts from. Outputs are what the last call computed: after
    `step` they are one sub-step behind the state, as in MjData after `mj_step`.

    Args:
        model: What is simulated.
        n: How many simulations.
        threads: Physics threads, the caller's included. Results do not depend on it.

    Raises:
        BatchUnavailable: this MuJoCo has no batches, or refuses one of this model.
    """

    def __init__(self, model: mujoco.MjModel, n: int, threads: int = 1) -> None:
        self._library = _load()
        self.n = n
        message = ctypes.create_string_buffer(_ERROR_LENGTH)
        config = _Config(threads, True)
        self._batch = self._library.mjb_makeBatch(model._address, n, ctypes.byref(config), message, _ERROR_LENGTH)
        if not self._batch:
            raise BatchUnavailable(f"MuJoCo makes no batch of this model: {message.value.decode()}")
        self._finalizer = weakref.finalize(self, self._library.mjb_deleteBatch, self._batch)
        self._first = self._library.mjb_state(self._batch)
        self._rows = _doubles(self._first, (n, self._library.mjb_nstate(self._batch)))
        self._templates = mujoco.MjData(model)
        self._outputs: dict[str, Floats] = {}

    def component(self, part: mujoco.mjtState) -> Floats:
        """A live view of one part of the state of all simulations, shape (n, size)."""
        size = ctypes.c_int()
        address = self._library.mjb_stateComponent(self._batch, int(part), ctypes.byref(size))
        start = (address - self._first) // 8 if size.value else 0
        return self._rows[:, start : start + size.value]

    def output(self, name: str) -> Floats:
        """A live view of a float field of MjData, shape (n, ...): as the last call on each simulation left it."""
        if name not in self._outputs:
            shape = (self.n, *getattr(self._templates, name).shape)
            size = ctypes.c_int()
            width = ctypes.c_int()
            address = self._library.mjb_output(self._batch, name.encode(), ctypes.byref(size), ctypes.byref(width))
            if not address or width.value != 8:
                raise BatchUnavailable(f"MuJoCo's batches do not give {name}")
            self._outputs[name] = _doubles(address, shape)
            self._refresh(None, 0)
        return self._outputs[name]

    def expand(self, name: str) -> Floats:
        """Give each simulation its own values of a float field of the model; a live view, shape (n, size), flat.

        After a change of masses or inertias call `set_constants`.
        """
        size = ctypes.c_int()
        width = ctypes.c_int()
        address = self._library.mjb_expand(self._batch, name.encode(), ctypes.byref(size), ctypes.byref(width))
        if not address or width.value != 8:
            raise BatchUnavailable(f"MuJoCo's batches do not expand {name}")
        return _doubles(address, (self.n, size.value))

    def set_constants(self, ids: Ids) -> None:
        """`mj_setConst` on the models of some simulations, sorted and unique."""
        self._check(self._library.mjb_setConst(self._batch, ids.ctypes.data, len(ids)))

    @property
    def rows(self) -> Floats:
        """A live view of the whole state of all simulations, what the solver starts from included, shape (n, size)."""
        return self._rows

    def step(self, n_steps: int) -> None:
        """Advance all simulations by `n_steps` calls to `mj_step`."""
        self._check(self._library.mjb_step(self._batch, None, 0, n_steps, _NONE))

    def reset(self, ids: Ids) -> None:
        """`mj_resetData` on some simulations, sorted and unique."""
        self._check(self._library.mjb_reset(self._batch, ids.ctypes.data, len(ids), None, _NONE))

    def forward(self, ids: Ids) -> None:
        """`mj_forward` on some simulations, sorted and unique."""
        self._check(self._library.mjb_forward(self._batch, ids.ctypes.data, len(ids), _ALL))

    def apply(self, names: Sequence[str], ids: Ids | None = None) -> None:
        """Run C functions of the form `f(model, data)`, one after the other, and bring the outputs up to date.

        Args:
            names: Such as `mj_rnePostConstraint`.
            ids: On which simulations, sorted and unique; None for all.
        """
        where, count = (None, 0) if ids is None else (ids.ctypes.data, len(ids))
        for name in names:
            self._check(self._library.mjb_apply(self._batch, where, count, _function(name), None, 0))
        self._refresh(where, count)

    def close(self) -> None:
        """Free the simulations. The views must not be used any more."""
        self._finalizer()

    def _refresh(self, where: int | None, count: int) -> None:
        """Copy the outputs out, which `mjb_apply` leaves undone: a forward pass of no stages does only that."""
        self._check(self._library.mjb_forward(self._batch, where, count, _NONE))

    def _check(self, failures: int) -> None:
        """Raise what MuJoCo's own functions raise when the engine gives up."""
        if not failures:
            return
        status = self._library.mjb_status(self._batch)
        first = next(i for i in range(self.n) if status[i])
        raise mujoco.FatalError(self._library.mjb_error(self._batch, first).decode())


_NONE = int(Stage.mjSTAGE_NONE)
_ALL = int(Stage.mjSTAGE_ACC)


def unavailable() -> str | None:
    """Why MuJoCo's batches cannot be used on this machine; None when they can."""
    try:
        _probe()
    except BatchUnavailable as reason:
        return str(reason)
    return None


_PROBE = """
<mujoco><worldbody><geom type="plane" size="1 1 1"/>
  <body pos="0 0 1"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>
"""


@functools.cache
def _probe() -> None:
    """Check on a falling ball that a C function runs on every simulation and its result can be read."""
    model = mujoco.MjModel.from_xml_string(_PROBE)
    batch = NativeBatch(model, 2)
    qpos = batch.component(mujoco.mjtState.mjSTATE_QPOS)
    found = batch.output("xpos")
    batch.reset(np.arange(2, dtype=np.int32))
    qpos[:, 2] = (3.0, 7.0)
    batch.apply(("mj_kinematics",))
    if found[:, 1, 2].tolist() != [3.0, 7.0]:
        raise BatchUnavailable("a function given to mjb_apply had no effect")
    batch.close()


@functools.cache
def _load() -> ctypes.CDLL:
    """The library that the Python package of MuJoCo has loaded, with its batch functions declared."""
    files = [*Path(mujoco.__file__).parent.glob("*mujoco*.so*"), *Path(mujoco.__file__).parent.glob("*mujoco*.dylib")]
    files += Path(mujoco.__file__).parent.glob("mujoco.dll")
    if not files:
        raise BatchUnavailable("the shared library of MuJoCo is not where its Python package is")
    if np.dtype(getattr(mujoco, "MJTNUM_DTYPE", np.float64)) != np.float64:
        raise BatchUnavailable("this MuJoCo computes in single precision")
    library = ctypes.CDLL(str(files[0]))
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name, None)
        if function is None:
            raise BatchUnavailable(f"MuJoCo {mujoco.__version__} has no {name}; 4.0 and later do")
        function.restype = result
        function.argtypes = arguments
    return library


@functools.cache
def _function(name: str) -> ctypes.c_void_p:
    """Address of a function (model, data): it ignores the further arguments that `mjb_apply` passes."""
    return ctypes.cast(getattr(_load(), name), ctypes.c_void_p)


def _doubles(address: int, shape: tuple[int, ...]) -> Floats:
    """An array over memory of MuJoCo's; empty when there is none."""
    count = int(np.prod(shape))
    if not count:
        return np.zeros(shape)
    return np.ctypeslib.as_array((ctypes.c_double * count).from_address(address)).reshape(shape)

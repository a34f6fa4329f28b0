"""Supervise the OpenGL process: time limits, and its last error."""

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.worker.render.camera import Floats, Views
from p2p.worker.render.gl_child import HEADER, IDLE_S, LARGEST

Frame = NDArray[np.uint8]

CHILD = Path(__file__).with_name("gl_child.py")
PATIENCE_S = 30.0
"""Longest wait for one picture, the start of the process included [s]."""
AHEAD = 2
"""Pictures asked for before the first is read, so that drawing and encoding overlap."""


class GlFailure(Exception):
    """OpenGL failed; the message is the last line of its error."""


class GlProcess:
    """Process that renders with one of MuJoCo's OpenGL platforms.

    Args:
        platform: Value of MUJOCO_GL: "egl" or "osmesa".

    Raises:
        GlFailure: no process can be started.
    """

    def __init__(self, platform: str) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "PYOPENGL_PLATFORM"}
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115  close() ends its life, with the process's
        self._replies, theirs = os.pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(CHILD), str(theirs)],
                stdin=subprocess.PIPE,
                stdout=self._complaints,
                stderr=self._complaints,
                pass_fds=(theirs,),
                env={**environment, "MUJOCO_GL": platform},
                bufsize=0,
            )
        except OSError as error:
            os.close(self._replies)
            self._complaints.close()
            raise GlFailure(f"cannot start a process: {error}") from error
        finally:
            os.close(theirs)
        assert self._process.stdin is not None
        self._requests = self._process.stdin
        os.set_blocking(self._requests.fileno(), False)
        self._model: mujoco.MjModel | None = None
        self._unread = 0
        self._used = time.monotonic()

    @property
    def usable(self) -> bool:
        """False once the process has ended, is about to for lack of work, or owes abandoned pictures."""
        rested = time.monotonic() - self._used
        return self._process.poll() is None and rested < IDLE_S / 2 and not self._unread

    def frames(self, model: mujoco.MjModel, qpos: Floats, views: Views, size: tuple[int, int]) -> Iterator[Frame]:
        """Pictures of shape (height, width, 3), one per row of `qpos`. One such iterator at a time.

        Raises:
            GlFailure: the process ended, took too long, or cannot make pictures that large.
        """
        if max(size) > LARGEST:
            raise GlFailure(f"pictures have at most {LARGEST} pixels a side, asked for {size}")
        if self._model is not model:
            self._send(b"M", _binary(model))
            self._model = model
        camera = (views.distance, views.azimuth, views.elevation)
        for lookat, row in zip(views.lookat, qpos, strict=True):
            self._send(b"F", np.array([*size, *lookat, *camera, *row], dtype=np.float64).tobytes())
            self._unread += 1
            if self._unread == AHEAD:
                yield self._picture(size)
        while self._unread:
            yield self._picture(size)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        with suppress(OSError):
            self._requests.close()
        with suppress(OSError):
            os.close(self._replies)
        self._complaints.close()

    def _send(self, kind: bytes, payload: bytes) -> None:
        rest = memoryview(HEADER.pack(kind, len(payload)) + payload)
        deadline = time.monotonic() + PATIENCE_S
        pipe = self._requests.fileno()
        while rest:
            _, ready, _ = select.select([], [pipe], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise self._failure()
            try:
                rest = rest[os.write(pipe, rest) :]
            except BrokenPipeError as error:
                raise self._failure() from error

    def _picture(self, size: tuple[int, int]) -> Frame:
        width, height = size
        picture = bytearray()
        deadline = time.monotonic() + PATIENCE_S
        while (missing := width * height * 3 - len(picture)) > 0:
            ready, _, _ = select.select([self._replies], [], [], max(0.0, deadline - time.monotonic()))
            part = os.read(self._replies, missing) if ready else b""
            if not part:
                raise self._failure()
            picture += part
        self._unread -= 1
        self._used = time.monotonic()
        return np.frombuffer(picture, np.uint8).reshape(height, width, 3)

    def _failure(self) -> GlFailure:
        try:
            code = self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            return GlFailure(f"no picture within {PATIENCE_S:g} s")
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").strip().splitlines()
        ended = f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        return GlFailure(lines[-1].strip() if lines else ended)


def _binary(model: mujoco.MjModel) -> bytes:
    buffer = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer.tobytes()

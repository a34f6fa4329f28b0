"""Gymnasium's MuJoCo environments without the code that opens windows.

Gymnasium imports its renderer with the first of these environments, and with it glfw and imageio: 3 MB in every
training, and a program that glfw starts to look for its library.
"""

import sys
from types import ModuleType
from typing import Any, NoReturn

RENDERING = "gymnasium.envs.mujoco.mujoco_rendering"


class NoRenderer:
    """Replacement for Gymnasium's `MujocoRenderer`; p2p renders in separate processes."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        pass

    def render(self, *_args: Any) -> NoReturn:
        """Refused."""
        raise RuntimeError("environments are not drawn where they are stepped; use p2p.worker.render.")

    def close(self) -> None:
        """Nothing to close."""


def without_windows() -> None:
    """Make environments without a renderer, unless Gymnasium's is already loaded."""
    if RENDERING not in sys.modules:
        stand_in: Any = ModuleType(RENDERING)
        stand_in.MujocoRenderer = NoRenderer
        sys.modules[RENDERING] = stand_in

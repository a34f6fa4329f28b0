"""Gymnasium's MuJoCo environments without what opens windows, which nobody here does.

Gymnasium imports its renderer with the first of these environments, and with it glfw and imageio: 3 MB in every
training, and a program that glfw starts to look for its library.
"""

import sys
from types import ModuleType
from typing import Any, NoReturn

RENDERING = "gymnasium.envs.mujoco.mujoco_rendering"


class NoRenderer:
    """In the place of Gymnasium's `MujocoRenderer`; p2p draws in processes of its own."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        pass

    def render(self, *_args: Any) -> NoReturn:
        """Refused."""
        raise RuntimeError("environments are not drawn where they are stepped; use p2p.worker.render.")

    def close(self) -> None:
        """Nothing to close."""


def without_windows() -> None:
    """Have the environments made without a renderer, unless this process has loaded Gymnasium's already."""
    if RENDERING not in sys.modules:
        stand_in: Any = ModuleType(RENDERING)
        stand_in.MujocoRenderer = NoRenderer
        sys.modules[RENDERING] = stand_in

"""Render a trajectory with the first working renderer."""

from collections.abc import Iterator

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.worker.render import raycast
from p2p.worker.render.camera import Floats, Views, follow
from p2p.worker.render.find_renderer import RAYCAST, choose_renderer, give_up, process_of
from p2p.worker.render.gl import GlFailure

Frame = NDArray[np.uint8]


def render_frames(
    model: mujoco.MjModel,
    spec: EnvSpec,
    qpos: Floats,
    size: tuple[int, int] = (480, 480),
    renderer: str | None = None,
) -> Iterator[Frame]:
    """Pictures of a trajectory through the environment's camera, which follows the robot.

    Args:
        model: The simulated model.
        spec: The environment it belongs to.
        qpos: Joint positions at every control step, shape (T, nq).
        size: Width and height [px].
        renderer: "egl", "osmesa" or "raycast"; None takes what works here.

    Yields:
        One picture per row of `qpos`, shape (height, width, 3).
    """
    return draw(model, qpos, follow(model, spec, qpos), size, renderer)


def draw(
    model: mujoco.MjModel,
    qpos: Floats,
    views: Views,
    size: tuple[int, int],
    renderer: str | None = None,
) -> Iterator[Frame]:
    """Render given views, one per row of `qpos`; switch to another renderer if OpenGL fails midway."""
    done = 0
    chosen = renderer or choose_renderer()
    while chosen != RAYCAST:
        try:
            for frame in process_of(chosen).frames(model, qpos[done:], views.at(slice(done, None)), size):
                done += 1
                yield frame
        except GlFailure as failure:
            give_up(chosen, str(failure))
            chosen = choose_renderer()
        else:
            return
    yield from raycast.frames(model, qpos[done:], views.at(slice(done, None)), size)

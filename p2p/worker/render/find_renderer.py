"""Find a renderer that works here; OpenGL is tried in a child process because it may crash."""

import atexit
import os
from functools import cache

import mujoco
import numpy as np

from p2p.contracts.errors import EnvironmentProblem, UnknownName
from p2p.contracts.work import RendererReport
from p2p.worker.render.camera import Views
from p2p.worker.render.gl import GlFailure, GlProcess

EGL = "egl"
OSMESA = "osmesa"
RAYCAST = "raycast"
NONE = "none"
PLATFORMS = (EGL, OSMESA)
"""OpenGL platforms that need no display, in the order they are tried."""
VARIABLE = "P2P_RENDERER"
"""Environment variable that asks for one renderer, or with "none" for reports without pictures."""

_processes: dict[str, GlProcess] = {}
_failures: dict[str, str] = {}


def choose_renderer() -> str:
    """First working renderer: "egl", "osmesa", or "raycast", which always works.

    A platform is tried once per process, on one small picture. P2P_RENDERER asks for one renderer; where that one
    fails, the next is taken all the same, so that there are pictures.

    Raises:
        EnvironmentProblem: P2P_RENDERER is "none".
        UnknownName: P2P_RENDERER names no renderer.
    """
    asked = _asked()
    if asked == NONE:
        raise EnvironmentProblem(f"Nothing is drawn here, since {VARIABLE} is {NONE}. Unset it to get pictures.")
    if asked and asked not in (*PLATFORMS, RAYCAST):
        raise UnknownName(f"renderer (in {VARIABLE})", asked, (*PLATFORMS, RAYCAST, NONE))
    order = PLATFORMS if not asked else PLATFORMS[PLATFORMS.index(asked) :] if asked in PLATFORMS else ()
    return next((platform for platform in order if _works(platform)), RAYCAST)


def draws() -> bool:
    """Whether pictures are made on this machine: False where P2P_RENDERER is "none"."""
    return _asked() != NONE


def report() -> RendererReport:
    """Chosen renderer, "none" where nothing is to be drawn, and the error of each one that failed."""
    return RendererReport(chosen=choose_renderer() if draws() else NONE, failures=dict(_failures))


def process_of(platform: str) -> GlProcess:
    """Running process of an OpenGL platform, reused for later pictures.

    Raises:
        GlFailure: none can be started.
    """
    process = _processes.pop(platform, None)
    if process is not None and not process.usable:
        process.close()
        process = None
    _processes[platform] = process or GlProcess(platform)
    return _processes[platform]


def give_up(platform: str, reason: str) -> None:
    """Stop using a platform that failed in this process."""
    _failures[platform] = reason
    if (process := _processes.pop(platform, None)) is not None:
        process.close()


@atexit.register
def forget() -> None:
    """End the rendering processes and reset the probe."""
    while _processes:
        _processes.popitem()[1].close()
    _failures.clear()
    _proven.cache_clear()


def _asked() -> str:
    return os.environ.get(VARIABLE, "").strip().lower()


def _works(platform: str) -> bool:
    return platform not in _failures and _proven(platform)


@cache
def _proven(platform: str) -> bool:
    model = mujoco.MjModel.from_xml_string(_RED_BALL)
    view = Views(np.zeros((1, 3)), distance=3.0, azimuth=90.0, elevation=-10.0)
    try:
        picture = next(process_of(platform).frames(model, np.zeros((1, 0)), view, (32, 32)))
    except GlFailure as failure:
        give_up(platform, str(failure))
        return False
    red, green, blue = (int(part) for part in picture[16, 16])
    if red < 50 or max(green, blue) > red / 2:
        give_up(platform, f"it drew a red ball with the colour ({red}, {green}, {blue})")
        return False
    return True


_RED_BALL = """
<mujoco><worldbody><light pos="0 0 3"/><geom type="sphere" size="0.5" rgba="1 0 0 1"/></worldbody></mujoco>
"""

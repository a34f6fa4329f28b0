"""Videos in real time."""

import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import imageio_ffmpeg
import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import EnvironmentProblem
from p2p.contracts.frame_rate import frame_rate
from p2p.store.files import replacing
from p2p.worker.pictures.key_pictures import ShownRollout
from p2p.worker.pictures.overlay import captions, stamped
from p2p.worker.render.camera import Floats, follow
from p2p.worker.render.find_renderer import RAYCAST, choose_renderer
from p2p.worker.render.frames import draw
from p2p.worker.render.marking import limbs_in_words

ENCODER = (
    *("-threads", "2", "-c:v", "libx264", "-preset", "veryfast", "-crf", "21"),
    *("-pix_fmt", "yuv420p", "-movflags", "+faststart"),
)
"""Plays in every browser, also while it loads."""
RAYCAST_SHARE = 2 / 3
"""Size of what the ray caster draws, as a share of the video's: more than twice as fast, and hard to tell."""


def write_video(  # noqa: PLR0913  a trajectory in its parts
    path: Path,
    model: mujoco.MjModel,
    spec: EnvSpec,
    qpos: Floats,
    dt: float,
    size: tuple[int, int] = (480, 480),
    texts: Sequence[str] = (),
    note: str = "",
) -> None:
    """Write a trajectory as an H.264 video that plays in real time. Only written frames are rendered.

    Args:
        path: The .mp4 file; it appears when it is complete.
        model: The simulated model.
        spec: The environment it belongs to.
        qpos: Joint positions at every control step, shape (T, nq).
        dt: Time from one row of `qpos` to the next [s].
        size: Width and height, both even [px]. The ray caster draws smaller pictures, which are then enlarged.
        texts: Written at the top left at every control step, as many as rows of `qpos`; none for plain frames.
        note: Written at the top right, where there are texts.

    Raises:
        StorageProblem: the file cannot be written.
        EnvironmentProblem: the video encoder does not work on this machine.
    """
    every, fps = frame_rate(dt)
    shown = slice(None, None, every)
    drawn = drawn_size(size)
    frames = draw(model, qpos[shown], follow(model, spec, qpos).at(shown), drawn)
    if texts:
        frames = (stamped(frame, text, note) for frame, text in zip(frames, texts[shown], strict=True))
    encode(path, frames, drawn, size, fps)


def write_rollout_video(path: Path, rollout: ShownRollout) -> None:
    """Write a recorded rollout as a video with time, speed and coloured limbs burnt in.

    Raises:
        StorageProblem: the file cannot be written.
        EnvironmentProblem: the video encoder does not work on this machine.
    """
    texts = captions(rollout, rollout.times)
    spec = rollout.spec
    note = limbs_in_words(rollout.limbs)
    write_video(path, rollout.marked_model, spec, rollout.qpos, spec.dt, texts=texts, note=note)


def encode(
    path: Path, frames: Iterable[NDArray[np.uint8]], drawn: tuple[int, int], size: tuple[int, int], fps: Fraction
) -> None:
    """Write pictures as an H.264 video.

    Args:
        path: The .mp4 file; it appears when it is complete.
        frames: Pictures of shape (height, width, 3).
        drawn: Width and height of the pictures [px].
        size: Width and height of the video, both even [px].
        fps: Frames per second.

    Raises:
        StorageProblem: the file cannot be written.
        EnvironmentProblem: the video encoder does not work on this machine.
    """
    with replacing(path) as temporary:
        source = f"-f rawvideo -pix_fmt rgb24 -s {drawn[0]}x{drawn[1]} -framerate {fps} -i -".split()
        scale = ["-vf", f"scale={size[0]}:{size[1]}:flags=bicubic"] if drawn != size else []
        quiet = ["-y", "-loglevel", "error"]
        command = [imageio_ffmpeg.get_ffmpeg_exe(), *quiet, *source, "-an", *scale, *ENCODER, str(temporary)]
        with tempfile.TemporaryFile() as complaints:
            with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=complaints) as encoder:
                assert encoder.stdin is not None
                with suppress(BrokenPipeError):  # the encoder then says why on its standard error
                    for frame in frames:
                        encoder.stdin.write(frame.tobytes())
                    encoder.stdin.close()
            if encoder.returncode:
                complaints.seek(0)
                lines = complaints.read().decode(errors="replace").strip().splitlines()
                raise EnvironmentProblem(f"Cannot encode a video: {lines[-1] if lines else 'ffmpeg says no reason'}.")


def drawn_size(size: tuple[int, int]) -> tuple[int, int]:
    """Size to render a video's frames in: smaller for the ray caster [px]."""
    if choose_renderer() != RAYCAST:
        return size
    width, height = size
    return max(2, round(width * RAYCAST_SHARE)), max(2, round(height * RAYCAST_SHARE))

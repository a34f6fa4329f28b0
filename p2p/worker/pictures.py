"""Videos of recorded rollouts. A picture that fails is reported and missing; it ends nothing."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import mujoco

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import P2PError
from p2p.store.arrays import load_arrays
from p2p.worker.evaluate import LABELS
from p2p.worker.render.probe import choose_renderer
from p2p.worker.selection import Run
from p2p.worker.simulation import compiled_model
from p2p.worker.video import write_video

NONE = "none"
"""Renderer of a run without videos."""


def film_run(run: Run, first: Sequence[int]) -> str:
    """Make the videos of every checkpoint, those of the steps in `first` before the others; returns the renderer."""
    steps = dict.fromkeys([*first, *(checkpoint.step for checkpoint in run.record.checkpoints())])
    films = [(run.record.trajectory(step, label), run.record.video(step, label)) for step in steps for label in LABELS]
    return film(run.spec, compiled_model(run.spec, run.config.env_kwargs), films)


def film(spec: EnvSpec, model: mujoco.MjModel, films: Iterable[tuple[Path, Path]]) -> str:
    """Make a video of each trajectory file.

    Args:
        spec: The environment they were recorded in.
        model: Its model.
        films: Trajectory and video file of each; trajectories that do not exist are left out.

    Returns:
        What made the pictures, or "none" when there are none.
    """
    renderer = NONE
    for trajectory, video in films:
        arrays = load_arrays(trajectory)
        if arrays is None:
            continue
        try:
            write_video(video, model, spec, arrays["qpos"], spec.dt)
            renderer = choose_renderer()
        except P2PError as error:
            print(f"{video.name} could not be made: {error}", file=sys.stderr)
    return renderer

"""Recorded rollouts whose videos say which row they show: picture i holds the number i in black and white.

So what is on the screen can be read from the screen, and nobody has to trust a time.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from asking import EXAMPLES

from p2p.contracts.env import EnvSpec
from p2p.contracts.frame_rate import frame_rate
from p2p.envs.catalog import load
from p2p.store.iterations import IterationRecord
from p2p.worker.pictures.video import encode

RECORDED = Path(__file__).parents[2] / "session/recorded/session/files"
SESSION = EXAMPLES["session_id"]
BITS, CELL = 12, 16
"""Of a number, and the side of the square that shows one of them [px]."""
WIDTH, HEIGHT = BITS * CELL, 64
TERMS = ("forward", "effort", "trunk")


@dataclass(frozen=True)
class Filmed:
    """A runs directory with a session of two iterations, each with three recorded rollouts."""

    runs_dir: Path
    dt: float
    rows_per_picture: int
    rows: dict[str, int]
    """Label -> recorded rows."""

    @property
    def session_id(self) -> str:
        return SESSION


def film(runs_dir: Path, env_id: str, seconds: float = 5.0) -> Filmed:
    """A session of an environment; its p10 rollout ends early."""
    place = runs_dir / SESSION
    shutil.copytree(RECORDED, place)
    spec = load(env_id)
    every, _ = frame_rate(spec.dt)
    whole = round(seconds / spec.dt)
    rows = {"median": whole, "p10": whole * 3 // 5, "p90": whole}
    for number in (1, 2):
        iteration = IterationRecord(place / f"iter_{number}")
        report = iteration.report.read_evaluation()
        assert report is not None
        IterationRecord(iteration.path / report.run_id).save_env_spec(spec)
        for seed, (label, length) in enumerate(rows.items()):
            path = iteration.report.trajectory(report.checkpoint, label)
            path.parent.mkdir(parents=True, exist_ok=True)
            np.savez(path, **rollout(spec, length, 10 * number + seed))
            write_numbered(iteration.report.video(label), length, spec.dt)
    return Filmed(runs_dir, spec.dt, every, rows)


def rollout(spec: EnvSpec, rows: int, seed: int) -> dict[str, np.ndarray]:
    """Arrays of a recorded rollout: made up, with terms of both signs that sum to the reward."""
    rng = np.random.default_rng(seed)
    time = (np.arange(rows) + 1) * spec.dt
    terms = np.cumsum(rng.normal(0, 0.2, (rows, len(TERMS))), axis=0)
    names = ["time", "velocity_x", "airborne"]
    features = np.column_stack([time, np.sin(2 * time) * 3, (np.sin(7 * time) > 0).astype(float)])
    bodies = len(spec.bodies) + 1
    positions = rng.uniform(0, 1, (1, bodies, 3)) + np.stack([time, 0 * time, 0 * time], axis=1)[:, None, :]
    positions[:, 0] = 0
    return {
        "timestamp": time,
        "reward": terms.sum(axis=1),
        "reward_terms": terms,
        "_reward_term_names": np.array(TERMS),
        "features": features,
        "_feature_names": np.array(names),
        "xpos": positions,
    }


def write_numbered(path: Path, rows: int, dt: float) -> None:
    """A video of so many rows, each of its pictures with its own number."""
    every, fps = frame_rate(dt)
    path.parent.mkdir(parents=True, exist_ok=True)
    pictures = (numbered(i) for i in range(-(-rows // every)))
    encode(path, pictures, (WIDTH, HEIGHT), (WIDTH, HEIGHT), fps)


def numbered(number: int) -> np.ndarray:
    """Picture of a number, shape (HEIGHT, WIDTH, 3): its bits from the left, the lowest first."""
    bits = (number >> np.arange(BITS)) & 1
    line = np.repeat(bits.astype(np.uint8) * 255, CELL)
    return np.repeat(np.tile(line, (HEIGHT, 1))[:, :, None], 3, axis=2)


READ_PICTURE = f"""video => {{
  const canvas = document.createElement("canvas");
  canvas.width = {WIDTH};
  canvas.height = {HEIGHT};
  const pen = canvas.getContext("2d", {{ willReadFrequently: true }});
  pen.drawImage(video, 0, 0, canvas.width, canvas.height);
  let number = 0;
  for (let bit = 0; bit < {BITS}; bit++)
    if (pen.getImageData((bit + 0.5) * {CELL}, canvas.height / 2, 1, 1).data[0] > 127) number += 2 ** bit;
  return number;
}}"""
"""JavaScript: number of the picture that a video shows."""

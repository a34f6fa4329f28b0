"""Verb `portrait`: a picture of a robot as its episodes begin."""

from pathlib import Path

import numpy as np
from PIL import Image

from p2p.contracts.errors import InvalidInput
from p2p.store.files import replacing
from p2p.store.iterations import IterationRecord
from p2p.worker.engine.environment import make_environment
from p2p.worker.render.frames import render_frames

SIZE = (640, 480)
"""Width and height [px]."""


def draw_portrait(job_dir: Path) -> None:
    """Draw `portrait.png` of the environment that `env_spec.json` describes.

    Raises:
        InvalidInput: the directory describes none.
        EnvironmentProblem: nothing is drawn on this machine.
    """
    record = IterationRecord(job_dir)
    spec = record.read_env_spec()
    if spec is None:
        raise InvalidInput(f"{job_dir} describes no environment: there is nothing to draw.")
    env = make_environment(spec)
    (frame,) = render_frames(env.model, spec, np.asarray(env.init_qpos)[None], SIZE)
    with replacing(record.portrait_path) as temporary:
        Image.fromarray(frame).save(temporary, format="PNG", optimize=True)

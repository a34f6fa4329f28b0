"""What a judge is given of a clip, and what any judge must do to be calibrated."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Intent
from p2p.contracts.known_motions import Clip
from p2p.contracts.training import Evaluation, Purpose, Rollout
from p2p.lab.contracts.calibration import ClipVerdict
from p2p.lab.records import ClipsRecord
from p2p.store.arrays import load_arrays, load_features

Features = Mapping[str, NDArray[np.float64]]


class CalibratedJudge(Protocol):
    """A judge whose accuracy is measured: one clip and one set of criteria in, one verdict out."""

    name: str
    """In the report."""

    def judge(self, recording: "ClipRecording", intent: Intent) -> ClipVerdict:
        """Judge one clip. No verdict is `passed=None`, and never a score of 0."""
        ...


@dataclass(frozen=True)
class RecordedClips:
    """The clips of one robot, as they lie on disk."""

    record: ClipsRecord
    dt: float
    """Control period [s]."""
    clips: tuple[Clip, ...]
    features: tuple[Features, ...]
    """Of each clip: name -> shape (T,)."""

    @cached_property
    def qpos(self) -> NDArray[np.float64]:
        """Joint positions, shape (clips, T + 1, nq); read when they are first asked for."""
        states = load_arrays(self.record.states_path)
        if states is None:
            raise InvalidInput(f"{self.record.states_path} is missing or broken. Calibrate again: p2p judge calibrate")
        return np.asarray(states["qpos"])

    def recordings(self) -> tuple["ClipRecording", ...]:
        """One for each clip."""
        return tuple(ClipRecording(self, index) for index in range(len(self.clips)))


@dataclass(frozen=True)
class ClipRecording:
    """One clip: what it is, its features, and its states where a judge looks at pictures."""

    source: RecordedClips
    index: int

    @property
    def clip(self) -> Clip:
        """What it shows. A judge must not read its claims."""
        return self.source.clips[self.index]

    @property
    def dt(self) -> float:
        """Control period [s]."""
        return self.source.dt

    @property
    def features(self) -> Features:
        """Name -> shape (T,)."""
        return self.source.features[self.index]

    def as_report(self) -> Evaluation:
        """The clip as the one report rollout of a policy."""
        rollout = Rollout(seed=0, episode_return=0.0, length=len(self.features["time"]))
        return Evaluation(
            run_id=self.clip.clip_id, checkpoint=0, purpose=Purpose.REPORT, dt=self.dt, rollouts=(rollout,)
        )

    @property
    def qpos(self) -> NDArray[np.float64]:
        """Joint positions, shape (T + 1, nq)."""
        return np.asarray(self.source.qpos[self.index])


def read_clips(directory: Path) -> RecordedClips:
    """The clips in a job's directory.

    Raises:
        InvalidInput: they are missing or broken.
    """
    record = ClipsRecord(directory)
    clips = record.read_clips()
    features = load_features(record.features_path)
    if clips is None or features is None or len(features) != len(clips.clips):
        raise InvalidInput(f"{directory} holds no complete set of clips. Calibrate again: p2p judge calibrate")
    return RecordedClips(record, clips.dt, clips.clips, tuple(features))

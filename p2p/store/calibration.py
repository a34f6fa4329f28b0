"""The calibration of judges on disk: the clips of each robot, films of some, and the report."""

import re
from pathlib import Path

from p2p.contracts.attack import Attack, AttackRequest
from p2p.contracts.calibration import Calibration, ClipSet, ClipsRequest, ClipVideoRequest
from p2p.store import files, layout

_NO_NAME = re.compile(r"[^a-z0-9]+")


class ClipsRecord:
    """The job directory of one robot's clips."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.states_path = path / layout.CLIP_STATES
        self.features_path = path / layout.FEATURES

    def save_request(self, request: ClipsRequest) -> None:
        """Write which clips are to be made."""
        files.write_model(self.path / layout.REQUEST, request)

    def read_request(self) -> ClipsRequest | None:
        """Which clips are to be made."""
        return files.read_model(self.path / layout.REQUEST, ClipsRequest)

    def save_clips(self, clips: ClipSet) -> None:
        """Write `clips.json`, which marks them as complete."""
        files.write_model(self.path / layout.CLIPS, clips)

    def read_clips(self) -> ClipSet | None:
        """The clips; None before they are made."""
        return files.read_model(self.path / layout.CLIPS, ClipSet)

    def film(self, clip_id: str) -> "ClipVideoRecord":
        """The job directory of one clip's film."""
        return ClipVideoRecord(self.path / layout.VIDEOS / clip_id)


class ClipVideoRecord:
    """The job directory of one clip's film."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.video_path = path / layout.VIEW_VIDEO
        self.sheet_path = path / layout.VIEW_SHEET

    def save_request(self, request: ClipVideoRequest) -> None:
        """Write which clip is to be filmed."""
        files.write_model(self.path / layout.REQUEST, request)

    def read_request(self) -> ClipVideoRequest | None:
        """Which clip is to be filmed."""
        return files.read_model(self.path / layout.REQUEST, ClipVideoRequest)


class AttackRecord:
    """The job directory of a search for motions that fool criteria; its finds are clips."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clips = ClipsRecord(path / layout.ATTACK_FINDS)

    def save_request(self, request: AttackRequest) -> None:
        """Write what is attacked."""
        files.write_model(self.path / layout.REQUEST, request)

    def read_request(self) -> AttackRequest | None:
        """What is attacked."""
        return files.read_model(self.path / layout.REQUEST, AttackRequest)

    def save(self, attack: Attack) -> None:
        """Write what was found."""
        files.write_model(self.path / layout.RESULT, attack)

    def read(self) -> Attack | None:
        """What was found; None before it is done."""
        return files.read_model(self.path / layout.RESULT, Attack)


class CalibrationRecord:
    """Everything about the calibration of judges, below the runs directory."""

    def __init__(self, runs: Path) -> None:
        self.path = runs / layout.CALIBRATION
        self.report_path = self.path / layout.REPORT
        """Job directory of the picture, which holds the report too."""
        self.chart_path = self.report_path / layout.PLOT
        self.events_path = self.path / layout.EVENTS
        self.functions_path = self.path / layout.JUDGE_FUNCTIONS
        """A folder for each model that wrote judge functions."""

    def clips(self, env_id: str) -> ClipsRecord:
        """The clips of one robot."""
        return ClipsRecord(self.path / env_id.lower())

    def attack(self, env_id: str, sentence: str) -> AttackRecord:
        """The last search for what fools the criteria of a sentence."""
        return AttackRecord(self.path / layout.ATTACKS / env_id.lower() / _NO_NAME.sub("_", sentence.lower()))

    def policies(self, env_id: str) -> Path:
        """Directory of the runs whose policies make clips of a robot."""
        return self.path / layout.POLICIES / env_id.lower()

    def known_motions(self, env_id: str) -> ClipsRecord:
        """Motions that judge functions are tried on while they are written; others than those they are measured on."""
        return ClipsRecord(self.path / layout.KNOWN_MOTIONS / env_id.lower())

    def discard(self, directory: Path) -> None:
        """Remove what an earlier calibration left in one of its directories."""
        files.discard(directory)


class CalibrationReportRecord:
    """The job directory of the report's picture."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.chart_path = path / layout.PLOT

    def save(self, calibration: Calibration) -> None:
        """Write `report.json`."""
        files.write_model(self.path / layout.CALIBRATION_REPORT, calibration)

    def read(self) -> Calibration | None:
        """The report; None before there is one."""
        return files.read_model(self.path / layout.CALIBRATION_REPORT, Calibration)

"""The lab on disk: clips of each robot, films of some, attacks, the report on judges; measurements of speed."""

import re
from pathlib import Path

from p2p.lab.contracts.attack import Attack, AttackRequest
from p2p.lab.contracts.behaviours import ProcessorTimes
from p2p.lab.contracts.calibration import Calibration, ClipsRequest, ClipVideoRequest
from p2p.lab.contracts.exams import ExamClips, ExamClipsRequest
from p2p.lab.contracts.measurement import MeasureRequest, SpeedMeasurement
from p2p.store import files, layout
from p2p.store.iterations import IterationRecord
from p2p.store.job_records import KnownMotionsRecord
from p2p.store.records import json_file_or_new

CALIBRATION = "calibration"
"""Directory below the runs directory."""
REPORT = "report.json"
POLICIES = "policies"
"""Runs whose policies make clips."""
ATTACKS = "attacks"
"""Searches for motions that fool criteria, by robot and sentence."""
ATTACK_FINDS = "finds"
"""Clips of what such a search found."""
JUDGE_FUNCTIONS = "judge_functions"
"""Folders of judge functions that models wrote."""
EXAM_CLIPS = "exam_clips"
"""Motions that exams are measured on, by suite and robot."""
WARM = "warm"
"""There from when a measurement of speed can begin."""
_NO_NAME = re.compile(r"[^a-z0-9]+")


class ClipsRecord(KnownMotionsRecord):
    """The job directory of the clips of one robot that judges are measured on."""

    def read_request(self) -> ClipsRequest | None:
        """Which clips are to be made."""
        return files.read_model(self.path / layout.REQUEST, ClipsRequest)

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
        self.clips = ClipsRecord(path / ATTACK_FINDS)

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


class ExamClipsRecord:
    """The job directory in which exams judge the motions of one robot."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def save_request(self, request: ExamClipsRequest) -> None:
        """Write which exams are to judge."""
        files.write_model(self.path / layout.REQUEST, request)

    def read_request(self) -> ExamClipsRequest | None:
        """Which exams are to judge."""
        return files.read_model(self.path / layout.REQUEST, ExamClipsRequest)

    def save(self, clips: ExamClips) -> None:
        """Write what they said."""
        files.write_model(self.path / layout.RESULT, clips)

    def read(self) -> ExamClips | None:
        """What they said; None before it is done."""
        return files.read_model(self.path / layout.RESULT, ExamClips)


class BehavioursRecord:
    """What the lab keeps in the directory of a run of the built-in author's grammar, beside the run itself."""

    read_processor_times, save_processor_times = json_file_or_new("processor_times.json", ProcessorTimes)

    def __init__(self, path: Path) -> None:
        self.path = path


class CalibrationRecord:
    """Everything about the calibration of judges, below the runs directory."""

    def __init__(self, runs: Path) -> None:
        self.path = runs / CALIBRATION
        self.report_path = self.path / layout.REPORT
        """Job directory of the picture, which holds the report too."""
        self.chart_path = self.report_path / layout.PLOT
        self.events_path = self.path / layout.EVENTS
        self.functions_path = self.path / JUDGE_FUNCTIONS
        """A folder for each model that wrote judge functions."""

    def clips(self, env_id: str) -> ClipsRecord:
        """The clips of one robot."""
        return ClipsRecord(self.path / env_id.lower())

    def attack(self, env_id: str, sentence: str) -> AttackRecord:
        """The last search for what fools the criteria of a sentence."""
        return AttackRecord(self.path / ATTACKS / env_id.lower() / _NO_NAME.sub("_", sentence.lower()))

    def exam_clips(self, suite: str, env_id: str) -> ExamClipsRecord:
        """What the exams of a suite say of the motions of a robot."""
        return ExamClipsRecord(self.path / EXAM_CLIPS / suite / env_id.lower())

    def policies(self, env_id: str) -> Path:
        """Directory of the runs whose policies make clips of a robot."""
        return self.path / POLICIES / env_id.lower()

    def known_motions(self, env_id: str) -> KnownMotionsRecord:
        """Motions that judge functions are tried on while they are written; others than those they are measured on."""
        return KnownMotionsRecord(self.path / layout.KNOWN_MOTIONS / env_id.lower())

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
        files.write_model(self.path / REPORT, calibration)

    def read(self) -> Calibration | None:
        """The report; None before there is one."""
        return files.read_model(self.path / REPORT, Calibration)


class MeasurementRecord:
    """Request and result of a measurement."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run = IterationRecord(path)
        """The run it is measured on, in the same directory."""
        self._warm = path / WARM

    def save_request(self, request: MeasureRequest) -> None:
        """Write what the worker is to do."""
        files.write_model(self.path / layout.REQUEST, request)

    def read_request(self) -> MeasureRequest | None:
        """What the worker is to do."""
        return files.read_model(self.path / layout.REQUEST, MeasureRequest)

    def save_result(self, measurement: SpeedMeasurement) -> None:
        """Write what was found."""
        files.write_model(self.path / layout.RESULT, measurement)

    def read_result(self) -> SpeedMeasurement | None:
        """What was found; None before the end."""
        return files.read_model(self.path / layout.RESULT, SpeedMeasurement)

    def mark_warm(self) -> None:
        """Tell the jobs beside this one that its measurement can begin."""
        self._warm.touch()

    @property
    def is_warm(self) -> bool:
        """Whether it can begin."""
        return self._warm.exists()

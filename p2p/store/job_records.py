"""Job directories of short worker verbs: a request and its result. Loads no numpy, since the service reads them."""

from pathlib import Path

from p2p.contracts.known_motions import ClipSet, KnownMotionsRequest
from p2p.contracts.sandbox import SandboxReport
from p2p.store import files, layout
from p2p.store.records import json_file


class KnownMotionsRecord:
    """Job directory of one robot's clips."""

    read_request, save_request = json_file(layout.REQUEST, KnownMotionsRequest)
    read_clips, save_clips = json_file(layout.CLIPS, ClipSet)
    """Written last: it marks the clips as complete."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.states_path = path / layout.CLIP_STATES
        self.features_path = path / layout.FEATURES


def read_sandbox_report(directory: Path) -> SandboxReport | None:
    """How this machine confines its workers; None before the probe has ended."""
    return files.read_model(directory / layout.RESULT, SandboxReport)


def save_sandbox_report(directory: Path, report: SandboxReport) -> None:
    """Write `result.json`."""
    files.write_model(directory / layout.RESULT, report)

"""Comparisons of runs of suites: job directories of their forest plots."""

import hashlib
from pathlib import Path

from p2p.contracts.suite_comparison import ForestRequest
from p2p.store import layout
from p2p.store.records import in_directory, json_file


class ForestRecord:
    """Job directory of a forest plot."""

    read_request, save_request = json_file(layout.REQUEST, ForestRequest)
    plot_path = in_directory(layout.PLOT)

    def __init__(self, path: Path) -> None:
        self.path = path


def forest_record(run: Path, request: ForestRequest) -> ForestRecord:
    """Record below the directory of a run, the same for equal requests."""
    digest = hashlib.sha256(request.model_dump_json().encode()).hexdigest()[:16]
    return ForestRecord(run / "comparisons" / digest)

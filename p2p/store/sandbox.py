"""Result of a sandbox probe."""

from pathlib import Path

from p2p.contracts.sandbox import SandboxReport
from p2p.store import files, layout


def read_report(directory: Path) -> SandboxReport | None:
    """How this machine confines its workers; None before the probe has ended."""
    return files.read_model(directory / layout.RESULT, SandboxReport)


def save_report(directory: Path, report: SandboxReport) -> None:
    """Write `result.json`."""
    files.write_model(directory / layout.RESULT, report)

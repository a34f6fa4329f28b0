"""What a probe of the sandbox found, in its job's directory."""

from pathlib import Path

from p2p.contracts.sandbox import SandboxReport
from p2p.store import files, layout


def read_report(directory: Path) -> SandboxReport | None:
    """How a machine confines its workers; None before the end of the probe."""
    return files.read_model(directory / layout.RESULT, SandboxReport)


def save_report(directory: Path, report: SandboxReport) -> None:
    """Write `result.json`."""
    files.write_model(directory / layout.RESULT, report)

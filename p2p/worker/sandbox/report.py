"""The verb `sandbox`: what this machine offers to confine a process."""

from pathlib import Path

from p2p.store import sandbox
from p2p.worker.sandbox import levels


def report(job_dir: Path) -> None:
    """Write the report of this machine into `result.json`."""
    sandbox.save_report(job_dir, levels.probe())

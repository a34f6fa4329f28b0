from collections.abc import Iterator
from pathlib import Path

import pytest

from p2p.scheduler.backends.local import LocalBackend


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Path]:
    """A directory for jobs; none of them survives the test."""
    yield tmp_path / "jobs"
    for spec in (tmp_path / "jobs").rglob("job.json"):
        LocalBackend().cancel(spec.parent)

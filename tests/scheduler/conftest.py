from collections.abc import Iterator
from pathlib import Path

import pytest
from ssh_lab import HAS_SSHD, NO_SSHD, Lab

from p2p.scheduler.backends.local import LocalBackend


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Path]:
    """A directory for jobs; none of them survives the test."""
    yield tmp_path / "jobs"
    end_jobs(tmp_path / "jobs")


@pytest.fixture(scope="session")
def one_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    if not HAS_SSHD:
        pytest.skip(NO_SSHD)
    made = Lab(tmp_path_factory.mktemp("lab"))
    yield made
    made.close()


@pytest.fixture
def lab(one_lab: Lab) -> Iterator[Lab]:
    """A node behind a real sshd, whose link may be broken."""
    one_lab.make_good()
    yield one_lab
    one_lab.make_good()
    end_jobs(one_lab.root)


def end_jobs(root: Path) -> None:
    for spec in root.rglob("job.json"):
        LocalBackend().cancel(spec.parent)

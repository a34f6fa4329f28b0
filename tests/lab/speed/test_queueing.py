"""The bench of queues, with jobs of this machine."""

from pathlib import Path

import pytest

from p2p.lab.speed.queueing import measure_queueing, table
from p2p.scheduler.backends.local import LocalBackend


def test_all_runs_are_watched_to_their_ends(tmp_path: Path) -> None:
    report = measure_queueing(LocalBackend(), "local", 2, 0.0, tmp_path)
    assert (report.n_runs, report.n_completed) == (2, 2)
    assert len({line.count("|") for line in table(report).splitlines()}) == 1


@pytest.mark.slow
def test_what_has_not_ended_when_the_watching_is_over_is_cancelled(tmp_path: Path) -> None:
    report = measure_queueing(LocalBackend(), "local", 2, 600.0, tmp_path, watch_s=0.5)
    assert report.n_completed == 0
    assert report.watched_s >= 0.5
    assert all(LocalBackend().status(place).state.finished for place in tmp_path.iterdir())

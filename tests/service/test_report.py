"""Report rollouts are judged before they are pictured."""

import shutil

import pytest
from shared_sessions import passed_session

from p2p.contracts.job import JobState
from p2p.contracts.session import EventName
from p2p.service.judging.verdict import judge
from p2p.service.workspace import Workspace
from p2p.settings import Settings

pytestmark = pytest.mark.slow


class Picturing:
    """A backend whose report job has recorded its rollouts and is still drawing until it is asked for again."""

    def __init__(self, backend, when_pictures_are_waited_for):
        self._backend = backend
        self._waited = when_pictures_are_waited_for
        self._submitted = 0

    def submit(self, spec, directory):
        self._submitted += 1
        if self._submitted == 2:
            self._waited()
        status = self._backend.submit(spec, directory)
        while not self._backend.status(directory).state.finished:
            pass
        return status

    def status(self, directory):
        status = self._backend.status(directory)
        drawing = self._submitted == 1 and status.state.finished
        return status.model_copy(update={"state": JobState.RUNNING}) if drawing else status

    def __getattr__(self, name):
        return getattr(self._backend, name)


@pytest.fixture
def trained(tmp_path, tmp_path_factory):
    """A session whose only iteration is trained and not judged."""
    shutil.copytree(passed_session(tmp_path_factory), tmp_path / "runs")
    ws = Workspace(Settings(runs_dir=tmp_path / "runs", backend="inline"))
    (path,) = ws.runs.path.glob("session_*")
    iteration = ws.record(path.name).iteration(1)
    before = iteration.read_judgment()
    iteration.forget_report()
    iteration.judgment_path.unlink()
    return ws, path.name, before


def test_the_verdict_is_saved_and_told_while_the_videos_are_made(trained):
    ws, name, before = trained
    record = ws.record(name)
    judged_before = sum(event.event is EventName.JUDGE_END for event in record.events.read())
    seen = []

    def look():
        ended = sum(event.event is EventName.JUDGE_END for event in record.events.read())
        seen.append((record.iteration(1).read_judgment(), ended - judged_before))

    ws.backend = Picturing(ws.backend, look)
    judgment = judge(ws, name, 1)
    assert seen == [(judgment, 1)]
    assert judgment.criteria == before.criteria

"""Workers and supervisors killed and stopped in the middle of a training: is it told, and how soon?"""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from findings import Findings
from small_sessions import accepted_session
from turns import hold_turn
from watching import handle, is_running, left, until

from p2p.contracts.background import JobView
from p2p.contracts.job import JobState
from p2p.service.progress.job_views import get_job
from p2p.service.sessions.background import cancel_job, start_training
from p2p.service.workspace import Workspace
from p2p.settings import Settings

NAMED_WITHIN_S = 5.0
FAULTS = ("worker killed", "worker stopped", "supervisor killed")
LONG = 500_000_000
"""Steps of a training that does not end by itself."""


def killed_processes(count: int, place: Path) -> Findings:
    """Each fault `count` times, in a training's worker and in the process of the job that waits for it, by turns."""
    findings = Findings()
    findings.watch_for("unnamed within 5 s", "processes left", "turns kept")
    ws = Workspace(Settings(runs_dir=place))
    training = _Training(ws, accepted_session(ws, LONG))
    for number in range(count):
        for fault in FAULTS:
            _inject(training, fault, of_run=number % 2 == 0, findings=findings)
    job_id = training.running().job_id
    if cancel_job(ws, job_id).state is not JobState.CANCELLED:
        findings.went_wrong("turns kept", f"{job_id} could not be cancelled")
    try:
        os.close(hold_turn(ws, wait=False))
    except BlockingIOError:
        findings.went_wrong("turns kept", "the only turn is not free at the end")
    for pid in left(place):
        findings.went_wrong("processes left", str(pid))
    return findings


class _Training:
    """A long training, started again whenever its job has ended."""

    def __init__(self, ws: Workspace, session_id: str) -> None:
        self.ws, self.session_id = ws, session_id
        self.job: JobView | None = None

    @property
    def run_directory(self) -> Path:
        iteration = self.ws.record(self.session_id).iteration(1)
        return next(iter(iteration.runs())).path

    def running(self) -> JobView:
        """The job, once its worker makes steps."""
        if self.job is None or self.view().state.finished:
            self.job = start_training(self.ws, self.session_id)

        def steps() -> JobView | None:
            view = self.view()
            assert not view.state.finished, view
            made = view.state is JobState.RUNNING and view.runs and view.runs[0].state == JobState.RUNNING
            return view if made and is_running(handle(self.run_directory).get("child", 0)) else None

        return until(steps, 120)

    def view(self) -> JobView:
        assert self.job is not None
        return get_job(self.ws, self.job.job_id)


def _inject(training: _Training, fault: str, of_run: bool, findings: Findings) -> None:
    view = training.running()
    directory = training.run_directory if of_run else training.ws.jobs.new(view.job_id).path
    before = handle(directory)
    victim = before["pid"] if fault == "supervisor killed" else before["child"]
    begun = time.monotonic()
    os.kill(victim, signal.SIGSTOP if fault == "worker stopped" else signal.SIGKILL)
    named = _stopped(training, of_run) if fault == "worker stopped" else _ended(training, directory, before, of_run)
    findings.count(fault)
    try:
        until(named, 30)
    except TimeoutError:
        findings.went_wrong("unnamed within 5 s", f"{fault}, {'run' if of_run else 'job'}: {training.view()}")
    else:
        seconds = time.monotonic() - begun
        findings.took(f"{fault}: told after", seconds)
        if seconds > NAMED_WITHIN_S:
            findings.went_wrong("unnamed within 5 s", f"{fault}: {seconds:.1f} s")
    if fault == "worker stopped":
        os.kill(victim, signal.SIGCONT)
        until(lambda: not _notes(training.view(), of_run), 30)
    else:
        try:
            until(lambda: not is_running(before["child"]), NAMED_WITHIN_S)
        except TimeoutError:
            findings.went_wrong("processes left", f"{before['child']} after {fault}")


def _notes(view: JobView, of_run: bool) -> str:
    error = view.runs[0].error if of_run and view.runs else view.error
    return error or ""


def _stopped(training: _Training, of_run: bool) -> Callable[[], bool]:
    return lambda: "is stopped" in _notes(training.view(), of_run)


def _ended(training: _Training, directory: Path, before: dict[str, int], of_run: bool) -> Callable[[], bool]:
    """Whether the end is told: by its state, or by the new life that the job has given the run."""

    def told() -> bool:
        view = training.view()
        if not of_run:
            return view.state is JobState.LOST
        ended = bool(view.runs) and view.runs[0].state in (JobState.LOST, JobState.FAILED)
        return ended or handle(directory).get("pid") != before["pid"]

    return told

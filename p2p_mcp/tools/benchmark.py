"""Suites of sentences: run in the background, looked at, stopped."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.errors import UnknownName
from p2p.contracts.suite import NewSuiteRun, Outcome, RunState, SuiteRunView
from p2p.service.machines.setup import require_training
from p2p.service.pictures.picturing import relative_path
from p2p.service.sessions.requests import new_session
from p2p.service.suites.entries import export_entry
from p2p.service.suites.page import write_page
from p2p.service.suites.results import list_suite_runs, view_suite_run
from p2p.service.suites.running import (
    known_suites,
    new_suite_run,
    resume_suite_run,
    start_suite_run,
    stop_suite_run,
)
from p2p.service.workspace import Workspace
from p2p_mcp.fields import argument
from p2p_mcp.views.answer import Answer

MOST_SESSIONS = 300
"""Sessions of a run that are told one by one."""


class SessionLine(Contract):
    """One session of a run."""

    session_id: str
    outcome: Outcome
    """"open" has not ended, "skipped" is not run; all but "passed" have not passed."""
    passed_exam: bool | None
    """By the suite's exam, which the session has not seen; None where there is none, or it has not been sat."""
    error: str


class RunLine(Contract):
    """One run of a suite."""

    run: str
    suite: str
    state: RunState
    measured: str
    """Who wrote: "builtin", or `provider:model`."""
    sessions: int
    ended: int
    passed: int
    """By their own verdict."""
    exams: int
    """Of the ended sessions, those of cases that have an exam."""
    passed_exam: int
    dollars: float
    error: str
    """Why it stands still."""


class BenchmarkAnswer(Answer):
    """Runs of suites."""

    suites: tuple[str, ...]
    """That come with p2p."""
    runs: tuple[RunLine, ...]
    sessions: tuple[SessionLine, ...]
    """Of the one run that was asked about."""
    written: str
    """File or directory that was written, relative to `runs_dir`; empty where none was."""
    runs_dir: str
    next_step: str


def run_benchmark(
    ws: Workspace,
    action: Annotated[
        Literal["list", "show", "start", "resume", "rescore", "stop", "page", "export"],
        Field(
            description="start needs suite, all but list run. rescore: exams were corrected; page: HTML with videos; "
            "export: an entry for others."
        ),
    ] = "list",
    suite: Annotated[str, Field(max_length=40, description="list tells them.")] = "",
    run: Annotated[str, argument(NewSuiteRun, "name")] = "",
    seeds: Annotated[tuple[int, ...], Field(max_length=100, description="Sessions of each case.")] = (),
    only: Annotated[
        dict[str, Any] | None,
        Field(description="case, category, difficulty, env_id, from_stage, flat (no gates)."),
    ] = None,
    author: Annotated[str, Field(max_length=200, description="provider:model; empty: p2p's own.")] = "",
    judge_model: Annotated[str, Field(max_length=200, description="provider:model that looks; empty: none.")] = "",
    parallel: Annotated[int, argument(NewSuiteRun, "parallel")] = 1,
    again: Annotated[bool, Field(description="resume: crashed and cancelled sessions too.")] = False,
    options: Annotated[
        dict[str, Any] | None,
        Field(description='As create_session takes them: {"max_iterations": 1}.'),
    ] = None,
) -> BenchmarkAnswer:
    """Measure an author by a suite, in the background: a session for each case and seed, then an exam of each policy.

    Started again, it goes on.
    """
    if action == "list":
        return _answer(ws, list_suite_runs(ws))
    if action == "show":
        return _answer(ws, (view_suite_run(ws, run),), in_full=True)
    if action == "stop":
        return _answer(ws, (stop_suite_run(ws, run),), in_full=True)
    if action == "page":
        return _answer(ws, (view_suite_run(ws, run),), written=write_page(ws, run))
    if action == "export":
        return _answer(ws, (view_suite_run(ws, run),), written=Path(export_entry(ws, run).directory))
    require_training(ws)
    if action == "resume":
        return _answer(ws, (resume_suite_run(ws, run, again=again, parallel=parallel),), in_full=True)
    if action == "rescore":
        earlier = view_suite_run(ws, run).run
        _require_shipped(earlier.suite)
        return _answer(ws, (start_suite_run(ws, earlier.suite, earlier, erratum=True),), in_full=True)
    given = {"author": author or "builtin", "model": author, "judge_model": judge_model}
    system = new_session(**(given | (options or {})))
    _require_shipped(suite)
    part = dict(only or {})
    stages = {name: part.pop(name) for name in ("from_stage", "flat") if name in part}
    asked = new_suite_run(name=run, seeds=seeds, only=part, parallel=parallel, system=system, **stages)
    return _answer(ws, (start_suite_run(ws, suite, asked),), in_full=True)


def _require_shipped(suite: str) -> None:
    if suite not in known_suites():  # a path would have the server read a file for whoever calls it
        raise UnknownName("suite", suite, known_suites())


def _answer(
    ws: Workspace, views: tuple[SuiteRunView, ...], *, in_full: bool = False, written: Path | None = None
) -> BenchmarkAnswer:
    results = views[0].results[:MOST_SESSIONS] if in_full else ()
    return BenchmarkAnswer(
        suites=known_suites(),
        runs=tuple(_line(view) for view in views),
        sessions=tuple(
            SessionLine(
                session_id=result.session_id,
                outcome=result.outcome,
                passed_exam=result.exam.passed if result.exam is not None else None,
                error=result.error,
            )
            for result in results
        ),
        written=relative_path(ws, written) if written is not None else "",
        runs_dir=str(ws.runs.path),
        next_step=_after_writing(ws, written) if written is not None else _next_step(views, in_full),
    )


def _line(view: SuiteRunView) -> RunLine:
    tally = view.tally
    return RunLine(
        run=view.run.name,
        suite=view.run.suite,
        state=view.state,
        measured=view.run.system.author,
        sessions=tally.sessions,
        ended=tally.ended,
        passed=tally.passed,
        exams=tally.exams,
        passed_exam=tally.passed_exam,
        dollars=round(sum(view.dollars.values()), 4),
        error=view.error,
    )


def _after_writing(ws: Workspace, written: Path) -> str:
    if written.suffix == ".html":
        return f"Tell the user to open {written} in a browser."
    entry = relative_path(ws, written)
    return f'Tell the user that {written} is what others need; verify_benchmark(entry="{entry}") simulates it again.'


def _next_step(views: tuple[SuiteRunView, ...], in_full: bool) -> str:
    if not views:
        return f'run_benchmark(action="start", suite="{known_suites()[0]}")'
    view = views[0]
    if view.state is RunState.RUNNING:
        return f'run_benchmark(action="show", run="{view.run.name}") until it has ended'
    if view.state is RunState.INTERRUPTED:
        return f'run_benchmark(action="resume", run="{view.run.name}")'
    if not in_full:
        return f'run_benchmark(action="show", run="{view.run.name}")'
    failed = next((result for result in view.results if result.outcome.ended and not result.passed_itself), None)
    if failed is not None:
        return f'get_session(session_id="{failed.session_id}")'
    return (
        f'Every session has passed. compare_benchmarks(runs=["{view.run.name}", "..."]) holds it against another run.'
    )

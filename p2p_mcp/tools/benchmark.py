"""Suites of sentences: run in the background, looked at, stopped."""

from typing import Annotated, Literal

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.errors import UnknownName
from p2p.contracts.suite import NewSuiteRun, Outcome, RunState, Selection, SuiteRunView
from p2p.service.machines.setup import require_training
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
from p2p_mcp.tools.create import requested
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
    next_step: str


def run_benchmark(
    ws: Workspace,
    action: Annotated[
        Literal["list", "show", "start", "resume", "stop"],
        Field(description="start needs suite; show, resume and stop need run."),
    ] = "list",
    suite: Annotated[str, Field(max_length=40, description="Name of a suite; list tells them.")] = "",
    run: Annotated[str, argument(NewSuiteRun, "name")] = "",
    seeds: Annotated[tuple[int, ...], Field(max_length=100, description="Sessions of each case.")] = (),
    cases: Annotated[tuple[str, ...], Field(max_length=300, description="Only these; empty: all.")] = (),
    author: Annotated[str, Field(max_length=200, description="provider:model; empty: p2p's own.")] = "",
    judge_model: Annotated[str, Field(max_length=200, description="provider:model that looks; empty: none.")] = "",
    parallel: Annotated[int, argument(NewSuiteRun, "parallel")] = 1,
    again: Annotated[bool, Field(description="resume: crashed and cancelled sessions too.")] = False,
) -> BenchmarkAnswer:
    """Measure an author by a suite: a session for each case and seed, then an exam of each policy, in the background.

    Started again under its name it goes on.
    """
    if action == "list":
        return _answer(list_suite_runs(ws))
    if action == "show":
        return _answer((view_suite_run(ws, run),), in_full=True)
    if action == "stop":
        return _answer((stop_suite_run(ws, run),), in_full=True)
    require_training(ws)
    if action == "resume":
        return _answer((resume_suite_run(ws, run, again=again, parallel=parallel),), in_full=True)
    system = requested(author=author or "builtin", model=author, judge_model=judge_model)
    only = Selection(case=cases)
    asked = new_suite_run(name=run, seeds=seeds, only=only, parallel=parallel, system=system)
    if suite not in known_suites():  # a path would have the server read a file for whoever calls it
        raise UnknownName("suite", suite, known_suites())
    return _answer((start_suite_run(ws, suite, asked),), in_full=True)


def _answer(views: tuple[SuiteRunView, ...], *, in_full: bool = False) -> BenchmarkAnswer:
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
        next_step=_next_step(views, in_full),
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
    return f'get_session(session_id="{failed.session_id}")' if failed is not None else "Every session has passed."

"""`p2p watch`, `stop`, `resume` and `judge`: work with a session that is there already."""

from typing import Annotated

import typer

from p2p.cli.model_options import CapOption, parse_caps
from p2p.cli.options import (
    AllowWeakSandbox,
    AsJson,
    BackendFromNowOn,
    Detach,
    Iteration,
    RunsDir,
    SessionName,
    StopOnExit,
    examples,
    open_workspace,
)
from p2p.cli.output import Output
from p2p.cli.run import finish
from p2p.cli.session_options import PriorityOption, option
from p2p.cli.standing import ENDINGS
from p2p.cli.verdict import judged
from p2p.contracts.errors import NOT_PASSED, InvalidInput
from p2p.contracts.session import NewSession
from p2p.service.judging.by_code import rejudge
from p2p.service.judging.caller_judgment import submit_judgment
from p2p.service.machines.setup import require_packages
from p2p.service.models.session_models import set_caps
from p2p.service.progress.details import view_iteration
from p2p.service.progress.listing import find_session
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.driving import resume_session, set_priority, stop_session
from p2p.service.sessions.keeping import resume_interrupted

WATCH_EXAMPLES = examples("p2p watch", "p2p watch 1a2b3c4d")
STOP_EXAMPLES = examples("p2p stop", "p2p stop session_20260403_120000_1a2b3c4d")
RESUME_EXAMPLES = examples(
    "p2p resume", "p2p resume latest --iterations 6", "p2p resume 1a2b3c4d --detach", "p2p resume --all"
)
JUDGE_EXAMPLES = examples(
    "p2p judge",
    "p2p judge latest --iteration 1",
    'p2p judge 1a2b3c4d --intent "run forward without falling"',
    "p2p judge calibrate   (how often judges are right: p2p calibrate --help)",
    'p2p judge attack "walk forward" --env Ant-v5   (what fools the criteria: p2p attack --help)',
)

Total = Annotated[
    int | None,
    option(
        NewSession,
        "max_iterations",
        "--iterations",
        "--max-iterations",
        help="Most rewards to try, those so far included.",
    ),
]
Every = Annotated[bool, typer.Option("--all", help="Resume all interrupted sessions, in the background.")]
OtherSentence = Annotated[
    str | None, typer.Option("--intent", help="Judge by another sentence.", show_default="the session's own")
]


def watch(session: SessionName = "latest", as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """Follow a running session to its end; Ctrl-C leaves it running."""
    ws = open_workspace(runs_dir)
    finish(ws, find_session(ws, session), Output(as_json))


def stop(session: SessionName = "latest", as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """Stop a session and its trainings; finished work is kept."""
    ws = open_workspace(runs_dir)
    session_id = find_session(ws, session)
    before = view_session(ws, session_id)
    view = stop_session(ws, session_id)
    said = f"{session_id} has already ended: {ENDINGS[view.status][0]}."
    if before.film is not None and not before.film.state.finished:
        said += " The remaining videos of its checkpoints are cancelled."
    if not before.status.finished:
        said = f"Stopped {session_id}; finished work is kept. To go on: p2p resume {session_id}"
    Output(as_json).result(view, said)


def resume(  # noqa: PLR0913  typer reads one parameter per option
    session: SessionName = "latest",
    iterations: Total = None,
    every: Every = False,
    cap: CapOption = None,
    priority: PriorityOption = None,
    backend: BackendFromNowOn = None,
    allow_weak_sandbox: AllowWeakSandbox = False,
    detach: Detach = False,
    stop_on_exit: StopOnExit = False,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Resume a session that was stopped, killed or failed; no finished step is repeated."""
    ws = open_workspace(runs_dir, allow_weak_sandbox=allow_weak_sandbox)
    require_packages()
    if every:
        views = resume_interrupted(ws, backend)
        said = [f"Resumed {v.session.session_id}. To see it: p2p watch {v.session.session_id}" for v in views]
        found = {"sessions": [view.model_dump(mode="json") for view in views]}
        Output(as_json).result(found, *said or ["No session was interrupted."])
        return
    session_id = find_session(ws, session)
    if cap:
        set_caps(ws, session_id, **parse_caps(cap))

    def start(name: str) -> None:
        set_priority(ws, name, priority)
        resume_session(ws, name, iterations, backend)

    finish(ws, session_id, Output(as_json), start, detach=detach, stop_on_exit=stop_on_exit)


def judge(
    session: SessionName = "latest",
    iteration: Iteration = None,
    intent: OtherSentence = None,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Judge the recorded rollouts again, by the session's criteria or another sentence; nothing is overwritten.

    An iteration whose training was stopped, failed or was lost is judged by the best of its checkpoints, and the
    session can be revised or extended from there.
    """
    ws = open_workspace(runs_dir)
    session_id = find_session(ws, session)
    view = view_session(ws, session_id)
    number_of = iteration or view.best_iteration or (None if view.alive else view.iteration)
    if not number_of:
        raise InvalidInput(f"{session_id} has no judged iteration yet. To follow it: p2p watch {session_id}")
    if intent is None and not view.alive and view_iteration(ws, session_id, number_of).judgment is None:
        judgment = submit_judgment(ws, session_id, number_of, None)  # its training was stopped
    else:
        judgment = rejudge(ws, session_id, number_of, intent)
    Output(as_json).result(judgment, *judged(judgment, number_of))
    if not judgment.passed:
        raise typer.Exit(NOT_PASSED)

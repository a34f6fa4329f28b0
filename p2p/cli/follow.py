"""Following a session to its end: a live picture on a terminal, one line per change elsewhere."""

import time
from collections.abc import Iterator
from datetime import datetime

from rich.live import Live

from p2p.cli.formats import plan_in_words, share
from p2p.cli.live import last_line, picture, time_left
from p2p.cli.output import Output
from p2p.cli.remedies import in_commands
from p2p.contracts.intent import number, score_in_words
from p2p.contracts.job import Waiting, in_words
from p2p.contracts.session import IterationData, RunProgress, SessionStatus, SessionView
from p2p.service.progress.details import said_nothing, why_it_stopped
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.driving import resume_session
from p2p.service.workspace import Workspace

POLL_S = 0.5


def follow(ws: Workspace, session_id: str, output: Output) -> SessionView:
    """Show a session until it ends, or waits for its caller's next step; returns how it stands then.

    Raises:
        P2PError: the process that drives it is gone before its end.
    """
    states = _states(ws, session_id)
    view = _show_live(states, output) if output.console.is_terminal else _show_lines(states, output)
    if view.status is SessionStatus.INTERRUPTED and not view.by_caller and said_nothing(ws, session_id):
        output.console.print("Its process was killed before it wrote anything; starting it again.")
        resume_session(ws, session_id)
        return follow(ws, session_id, output)
    if view.status is SessionStatus.INTERRUPTED or not (view.status.finished or view.by_caller):
        raise why_it_stopped(ws, session_id)
    return view


def _states(ws: Workspace, session_id: str) -> Iterator[SessionView]:
    """The session's states, until it has ended or nobody drives it."""
    looks_dead = 0
    while looks_dead < 2:  # one look may fall between the last write of a driver and its end
        view = view_session(ws, session_id)
        yield view
        if view.status.finished:
            return
        looks_dead = 0 if view.alive else looks_dead + 1
        time.sleep(POLL_S)


def _show_live(states: Iterator[SessionView], output: Output) -> SessionView:
    view = next(states)
    with Live(picture(view), console=output.console, refresh_per_second=4, transient=True) as live:
        for view in states:
            live.update(picture(view))
    return view


def _show_lines(states: Iterator[SessionView], output: Output) -> SessionView:
    view = next(states)
    _say(output, changes(None, view))
    for now in states:
        _say(output, changes(view, now))
        view = now
    return view


def _say(output: Output, lines: list[str]) -> None:
    for line in lines:
        output.console.print(f"{datetime.now():%H:%M:%S}  {line}", markup=False, soft_wrap=True)


def changes(before: SessionView | None, now: SessionView) -> list[str]:
    """What happened between two states, one line each."""
    lines = []
    if before is None:
        lines.append(f"session {now.session.session_id} on {now.session.env_id}: {now.session.prompt or 'own reward'}")
    if now.step != "done" and (before is None or _place(before) != _place(now)):
        lines.append(f"iteration {max(1, now.iteration)}/{now.session.max_iterations}: {now.step}")
    whole = now.waiting if not any(run.waiting for run in now.runs) else None  # otherwise its runs say so
    if whole is not None and (before is None or _held(before.waiting) != _held(whole)):
        lines.append(in_commands(in_words(whole)))
    if _planned(now) and (before is None or _planned(before) != _planned(now)):
        lines.append(plan_in_words(now))
    same = before is not None and before.iteration == now.iteration
    earlier = {run.run_id: run for run in before.runs} if before is not None and same else {}
    lines += [line for run in now.runs for line in _run_changes(earlier.get(run.run_id), run)]
    judged = {line.iteration for line in before.history} if before is not None else set()
    return lines + [_judged(line) for line in now.history if line.iteration not in judged]


def _place(view: SessionView) -> tuple[int, str]:
    return max(1, view.iteration), view.step


def _planned(view: SessionView) -> tuple[int, str] | None:
    """Where a training with a known duration is; None without one."""
    trains = view.step == "train" or (view.plan is not None and view.plan.candidate_steps > 0)
    return _place(view) if trains and view.remaining_s is not None else None


def _judged(line: IterationData) -> str:
    score = score_in_words(line.intent_score)
    success = share(line.success_rate)
    verdict = str(line.verdict).replace("_", " ")
    diagnosis = line.diagnosis.partition("\n")[0]
    return f"iteration {line.iteration} judged: {verdict}, score {score}, success {success}. {diagnosis}"


def _run_changes(before: RunProgress | None, now: RunProgress) -> list[str]:
    lines = []
    if now.waiting is not None and (before is None or _held(before.waiting) != _held(now.waiting)):
        lines.append(f"{now.run_id}: {in_commands(in_words(now.waiting))}")
    elif before is not None and before.state != now.state:
        failed = now.state in ("failed", "lost", "unreachable")
        lines.append(f"{now.run_id}: {now.state}{f': {in_commands(last_line(now.error))}' if failed else ''}")
        if now.early_stop is not None:
            lines.append(f"{now.run_id}: {now.early_stop.reason} {now.early_stop.steps_saved:,} steps were saved.")
    if now.hint is not None and (before is None or before.hint is None):
        lines.append(f"{now.run_id}: {now.hint}")
    if _mark(now) != (_mark(before) if before is not None else ({}, None, 0)):
        values = ", ".join(f"{key} {number(value)}" for key, value in now.criteria.items())
        rate = "–" if now.steps_per_second is None else f"{now.steps_per_second:,.0f}"
        lines.append(
            f"{now.run_id}: step {now.step:,} of {now.total_timesteps:,}, {rate} steps/s, ETA {time_left(now)}, "
            f"return {number(now.episode_return)}; {values or 'no evaluation yet'}; success {share(now.success_rate)}"
        )
    return lines


def _held(waiting: Waiting | None) -> tuple[object, ...] | None:
    """What of a wait is worth a line when it changes."""
    return None if waiting is None else (waiting.waits_for, waiting.holders, waiting.place)


def _mark(run: RunProgress) -> tuple[object, ...]:
    """What is worth a line when it changes: the last evaluation, and, as two may be equal, the quarter a run is in."""
    return run.criteria, run.success_rate, 4 * run.step // max(1, run.total_timesteps)

"""How right the first estimate of the time left is, of each run and of its session."""

import os
import time
from collections.abc import Callable, Sequence
from statistics import fmean

from p2p.contracts.session import NewSession, SessionView
from p2p.lab.contracts.measurement import TimeLeft
from p2p.service.progress.session_view import ENDED, view_session
from p2p.service.sessions.driving import start_session, stop_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace

SESSION = "session"
POLL_S = 0.5
COLUMNS = ("environment", "what", "told after", "told", "true", "told / true", "load then", "load until its end")
FACTOR = 2.0
"""An estimate is right within this factor."""


class FirstEstimates:
    """First estimate of the time left of each run of a session and of the session, until their ends.

    Args:
        env_id: Where the session is trained.
    """

    def __init__(self, env_id: str) -> None:
        self._env_id = env_id
        self._told: dict[str, tuple[float, float, float]] = {}
        """Run or session -> moment [s], estimate [s], load average."""
        self._loads: list[tuple[float, float]] = []
        self.found: list[TimeLeft] = []

    def look(self, view: SessionView, now: float, load: float) -> None:
        """Take note of a session at the moment `now` [s] after its start."""
        self._loads.append((now, load))
        for run in view.runs:
            if run.state in ENDED:
                self._end(run.run_id, now)
            elif run.eta_s is not None:
                self._told.setdefault(run.run_id, (now, run.eta_s, load))
        if view.status.finished:
            self._end(SESSION, now)
        elif view.remaining_s is not None:
            self._told.setdefault(SESSION, (now, view.remaining_s, load))

    def _end(self, what: str, now: float) -> None:
        if what not in self._told or any(one.what == what for one in self.found):
            return
        at, told, load = self._told[what]
        self.found.append(
            TimeLeft(
                env_id=self._env_id,
                what=what,
                told_after_s=at,
                told_s=told,
                true_s=now - at,
                load_then=load,
                load_after=fmean(seen for moment, seen in self._loads if moment >= at),
            )
        )


def measure_time_left(ws: Workspace, request: NewSession, tick: Callable[[str], None]) -> list[TimeLeft]:
    """Run one session and hold its first estimates against what was left.

    A run ends with its training, a session with its verdict. A session that is interrupted is stopped.
    """
    session_id = create_session(ws, request).session_id
    estimates = FirstEstimates(request.env_id)
    begun = time.monotonic()
    try:
        start_session(ws, session_id)
        view = view_session(ws, session_id)
        while view.alive and not view.status.finished:
            time.sleep(POLL_S)
            view = view_session(ws, session_id)
            estimates.look(view, time.monotonic() - begun, os.getloadavg()[0])
    finally:
        stop_session(ws, session_id)  # the videos of its checkpoints would be made beside the next session
    for one in estimates.found:
        tick(f"{one.env_id} {one.what}: told {one.told_s:.0f} s, true {one.true_s:.0f} s")
    return estimates.found


def table(rows: Sequence[TimeLeft]) -> str:
    """One row per estimate in Markdown, and how many are right within the factor."""
    head = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"
    right = sum(1 / FACTOR <= row.ratio <= FACTOR for row in rows)
    return "\n".join([head, *map(_row, rows), "", f"{right} of {len(rows)} within a factor of {FACTOR:g}."])


def _row(row: TimeLeft) -> str:
    seconds = (f"{value:.0f} s" for value in (row.told_after_s, row.told_s, row.true_s))
    cells = (row.env_id, row.what, *seconds, f"{row.ratio:.2f}", f"{row.load_then:.1f}", f"{row.load_after:.1f}")
    return f"| {' | '.join(cells)} |"

"""A run of the grammar that is watched: begun or gone on with, its processor time measured, stopped in time."""

import time
from collections.abc import Callable

from p2p.contracts.suite import CaseResult, NewSuiteRun, Outcome, RunState, Suite, SuiteRunView
from p2p.lab.behaviours.processor_clock import ProcessorClock
from p2p.lab.records import BehavioursRecord
from p2p.service.suites.results import view_suite_run
from p2p.service.suites.running import start_suite_run, stop_suite_run
from p2p.service.workspace import Workspace
from p2p.store.suites import SuiteRuns

LOOK_S = 0.25
"""Between two looks at the processes: what each loses at most of its processor time [s]."""
LEISURE = 50.0
"""A look at the sessions is followed by so many times what it took, before the next: a run may have thousands."""


def run_watched(
    ws: Workspace,
    suite: Suite,
    asked: NewSuiteRun,
    say: Callable[[CaseResult], None],
    hours: float | None = None,
) -> SuiteRunView:
    """Run sessions of a suite to their end, or go on with them; whatever ends this call, nothing of it runs on.

    Args:
        ws: The workspace.
        suite: All sentences.
        asked: Which of them, and what is measured.
        say: Told each session that ends.
        hours: After so many the run is stopped, to be gone on with; None runs it to its end.

    Raises:
        InvalidInput: the run of that name is of other sentences, or measures something else.
    """
    view = start_suite_run(ws, suite, asked)
    name = view.run.name
    clock = ProcessorClock(BehavioursRecord(SuiteRuns(ws.runs.path).run(name).path), ws.runs.path)
    begun = time.monotonic()
    look_at = begun
    told = {result.session_id for result in view.results if result.outcome.ended}
    try:
        while view.state is RunState.RUNNING:
            clock.look()
            time.sleep(LOOK_S)
            if hours is not None and time.monotonic() - begun >= 3600 * hours:
                return stop_suite_run(ws, name)
            if time.monotonic() < look_at:
                continue
            looked = time.monotonic()
            view = view_suite_run(ws, name)
            look_at = time.monotonic() + LEISURE * (time.monotonic() - looked)
            for result in view.results:
                if result.outcome.ended and result.session_id not in told:
                    told.add(result.session_id)
                    say(result)
    except BaseException:  # Ctrl-C above all: a night's run leaves the machine alone when its command ends
        stop_suite_run(ws, name)
        raise
    finally:
        clock.save()
    return view


def outcome_in_words(result: CaseResult) -> str:
    """How a session ended, in a line."""
    error = f": {result.error.splitlines()[0]}" if result.error and result.outcome is not Outcome.PASSED else ""
    return f"{result.case} seed {result.seed}: {result.outcome.replace('_', ' ')}{error}"

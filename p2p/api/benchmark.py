"""Runs of suites from Python."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from p2p.api.remedies import worded
from p2p.contracts.errors import InvalidInput
from p2p.contracts.suite import CaseResult, RunState, Selection, SuiteRunView, Tally
from p2p.service.machines.setup import require_training
from p2p.service.sessions.requests import new_session
from p2p.service.suites.results import view_suite_run
from p2p.service.suites.running import new_suite_run, resume_suite_run, start_suite_run, stop_suite_run
from p2p.service.workspace import Workspace
from p2p.settings import Settings

POLL_S = 1.0
"""Between two looks at a run that is waited for [s]."""


class Benchmark:
    """One run of a suite; its driver and its sessions go on when this process ends.

    Args:
        ws: Where it is kept.
        name: Of the run.
    """

    def __init__(self, ws: Workspace, name: str) -> None:
        self._ws = ws
        self.name = name

    @property
    def view(self) -> SuiteRunView:
        """Current state, as `p2p benchmark show` prints it."""
        return view_suite_run(self._ws, self.name)

    @property
    def results(self) -> tuple[CaseResult, ...]:
        """One for each case and seed, with its own verdict and its exam."""
        return self.view.results

    @property
    def tally(self) -> Tally:
        """How many sessions passed by themselves, and how many passed their exam."""
        return self.view.tally

    @worded
    def wait(self) -> "Benchmark":
        """Wait until nothing drives the run any more; returns itself.

        Raises:
            InvalidInput: it stands still before its end; the message says why.
        """
        while (view := self.view).state is RunState.RUNNING:
            time.sleep(POLL_S)
        if view.state is RunState.INTERRUPTED and view.error:
            raise InvalidInput(view.error)
        return self

    @worded
    def stop(self) -> "Benchmark":
        """Stop the run and the trainings of its sessions; returns itself."""
        stop_suite_run(self._ws, self.name)
        return self

    @worded
    def resume(self, *, again: bool = False, from_stage: str = "", parallel: int | None = None) -> "Benchmark":
        """Go on with a run that was stopped or killed, or whose gate failed; returns itself.

        Args:
            again: Whether sessions that crashed or were cancelled go on too.
            from_stage: Stage to begin with; empty leaves that as it was.
            parallel: Sessions side by side; None leaves that as it was.
        """
        resume_suite_run(self._ws, self.name, again=again, from_stage=from_stage, parallel=parallel)
        return self


@worded
def run_benchmark(
    suite: str | Path,
    *,
    name: str = "",
    seeds: Sequence[int] = (),
    cases: Sequence[str] = (),
    parallel: int = 1,
    runs_dir: Path | str | None = None,
    **options: Any,
) -> Benchmark:
    """Run a suite in its own process, or go on with the run of that name; `.wait()` waits for its end.

    Args:
        suite: Name of a suite that comes with p2p, or path of a TOML or CSV file.
        name: Of the run; empty takes that of the suite, with the model's.
        seeds: Sessions of each case; empty takes those of the suite.
        cases: Names of the only cases to run; empty runs all.
        parallel: Sessions side by side.
        runs_dir: As in `run`.
        options: Fields of `NewSession` that say what is measured: author, model, judge_model, n_seeds, config ….

    Raises:
        UnknownName: there is no such suite or case.
        InvalidInput: the file holds no suite, an option has a wrong value, or the run measures another system.
    """
    ws = Workspace(Settings.from_environment(None if runs_dir is None else Path(runs_dir)))
    require_training(ws)
    author = {"author": options["model"]} if options.get("model") and "author" not in options else {}
    asked = new_suite_run(
        name=name,
        seeds=tuple(seeds),
        only=Selection(case=tuple(cases)),
        parallel=parallel,
        system=new_session(**options, **author),
    )
    return Benchmark(ws, start_suite_run(ws, str(suite), asked).run.name)


@worded
def load_benchmark(name: str, *, runs_dir: Path | str | None = None) -> Benchmark:
    """Load a run of a suite by its name.

    Raises:
        UnknownName: there is no such run.
    """
    ws = Workspace(Settings.from_environment(None if runs_dir is None else Path(runs_dir)))
    return Benchmark(ws, view_suite_run(ws, name).run.name)

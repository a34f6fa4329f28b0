"""Runs of suites from Python."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from p2p.api.remedies import worded
from p2p.contracts.errors import InvalidInput
from p2p.contracts.suite import CaseResult, RunState, Selection, SuiteRunView, Tally
from p2p.contracts.suite_comparison import JudgeComparison, SuiteComparison
from p2p.contracts.suite_entry import EntryReport
from p2p.service.machines.setup import require_training
from p2p.service.sessions.requests import new_session
from p2p.service.suites.comparing import compare_suite_runs
from p2p.service.suites.comparing_judges import compare_judges
from p2p.service.suites.entries import export_entry, verify_entry
from p2p.service.suites.keeping import delete_suite_run, restore_suite_run
from p2p.service.suites.page import Videos, write_page
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
    def runs_dir(self) -> Path:
        """Where its sessions are kept."""
        return self._ws.runs.path

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
    def delete(self) -> "Benchmark":
        """Move the run to the trash with its sessions; returns itself.

        Raises:
            Busy: it runs.
        """
        delete_suite_run(self._ws, self.name)
        return self

    @worded
    def restore(self) -> "Benchmark":
        """Bring the run back from the trash with its sessions; returns itself.

        Raises:
            InvalidInput: it is not there.
        """
        restore_suite_run(self._ws, self.name)
        return self

    @worded
    def page(self, output: Path | str | None = None, *, videos: Videos | str = Videos.INSIDE) -> Path:
        """Write one HTML file of the run: every case with its video, its numbers, and why sessions did not pass.

        Args:
            output: File to write; None takes `page.html` in the run's directory.
            videos: "inside" the file, "beside" it in a folder, or "none".

        Raises:
            InvalidInput: no session has ended yet, or the file cannot be one.
        """
        if videos not in tuple(Videos):
            raise InvalidInput(f"videos is {videos!r}; expected one of {', '.join(Videos)}.")
        return write_page(self._ws, self.name, None if output is None else Path(output), Videos(videos))

    @worded
    def export(self, directory: Path | str | None = None) -> Path:
        """Write what others need to verify the run: its results, and each policy with its reward.

        Args:
            directory: Empty or absent; None takes `entry/` in the run's directory, in place of what was there.

        Raises:
            InvalidInput: the run has not ended, or the directory is not empty.
        """
        return Path(export_entry(self._ws, self.name, None if directory is None else Path(directory)).directory)

    @worded
    def compare_judges(self) -> JudgeComparison:
        """Hold every judge that took part against the exams, by what was recorded; nothing is simulated.

        Raises:
            InvalidInput: no policy has sat an exam.
        """
        return compare_judges(self._ws, self.name)


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
    ws = _workspace(runs_dir)
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
    ws = _workspace(runs_dir)
    return Benchmark(ws, view_suite_run(ws, name).run.name)


@worded
def compare_benchmarks(
    *runs: str | Benchmark, chart: bool = True, runs_dir: Path | str | None = None
) -> SuiteComparison:
    """Compare runs of one suite with the first of them, over the cases that both have.

    Args:
        runs: Two or more, or their names.
        chart: Whether the forest plot is drawn; `comparison.chart` is its path below the runs directory.
        runs_dir: Where they all are; None takes that of the first that is no name, else as in `run`.

    Returns:
        Means over cases and paired differences, each with its 95 % interval, p and number of cases.

    Raises:
        UnknownName: there is no such run.
        InvalidInput: they are fewer than two, or of different suites, versions or digests.
    """
    if len(runs) < 2:
        raise InvalidInput("Expected two runs or more to compare.")
    names = [run if isinstance(run, str) else run.name for run in runs]
    if runs_dir is None:
        runs_dir = next((run.runs_dir for run in runs if isinstance(run, Benchmark)), None)
    return compare_suite_runs(_workspace(runs_dir), names, chart=chart)


@worded
def verify_benchmark(entry: Path | str, *, suite: str | Path = "", runs_dir: Path | str | None = None) -> EntryReport:
    """Simulate the policies of an entry again, without training, and compare all of it to the bit.

    Args:
        entry: Directory that `Benchmark.export` has written, here or elsewhere.
        suite: Name or file of the suite that it must be of; empty takes the one that comes with p2p.
        runs_dir: As in `run`; the jobs run there.

    Returns:
        What differs, by case and seed or by file; `.verified` is True if nothing does.

    Raises:
        InvalidInput: the directory holds no entry.
    """
    ws = _workspace(runs_dir)
    require_training(ws)
    return verify_entry(ws, Path(entry), str(suite))


def _workspace(runs_dir: Path | str | None) -> Workspace:
    return Workspace(Settings.from_environment(None if runs_dir is None else Path(runs_dir)))

"""What runs of suites tell: compared with one another, their judges held against exams, entries verified."""

from typing import Annotated

from mcp.types import CallToolResult
from pydantic import Field

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.suite_comparison import JudgeComparison, SuiteComparison
from p2p.contracts.suite_entry import EntryReport
from p2p.service.machines.setup import require_training
from p2p.service.suites.comparing import compare_suite_runs, verdict_in_words
from p2p.service.suites.comparing_judges import compare_judges
from p2p.service.suites.entries import verify_entry
from p2p.service.suites.running import known_suites
from p2p.service.workspace import Workspace
from p2p_mcp.views.answer import Answer
from p2p_mcp.views.content import reply

MOST_RUNS = 10
EntryPath = Annotated[
    str, Field(min_length=1, max_length=300, description="Its directory, relative to the runs directory.")
]


class ComparedBenchmarks(Answer):
    """Runs compared with the first of them, or the judges of one run with its exams."""

    summary: str
    """What decides, in a sentence for each run after the first."""
    comparison: SuiteComparison | None
    """Null where one run was given."""
    judges: JudgeComparison | None
    """Null where several were given."""
    runs_dir: str
    """Paths are relative to it."""
    next_step: str


class VerifiedBenchmark(Answer):
    """What came of simulating an entry again."""

    verified: bool
    """Whether nothing differs."""
    report: EntryReport
    next_step: str


def compare_benchmarks(
    ws: Workspace,
    runs: Annotated[
        tuple[str, ...], Field(min_length=1, max_length=MOST_RUNS, description="Each is compared with the first.")
    ],
) -> Annotated[CallToolResult, ComparedBenchmarks]:
    """Compare runs of a suite: differences with 95 % intervals and p, by group too, and a forest plot.

    Of one run: its judges against the exams.
    """
    if len(runs) == 1:
        return reply(_judges(ws, runs[0]))
    found = compare_suite_runs(ws, runs)
    answer = ComparedBenchmarks(
        summary=" ".join(verdict_in_words(found, index) for index in range(len(runs) - 1)),
        comparison=found,
        judges=None,
        runs_dir=str(ws.runs.path),
        next_step="Tell the user the difference with its interval and the notes, and never the mean alone; "
        f'run_benchmark(action="page", run="{runs[-1]}") shows every case with its video.',
    )
    return reply(answer, [ws.runs.path / found.chart] if found.chart is not None else [])


def verify_benchmark(
    ws: Workspace,
    entry: EntryPath,
    suite: Annotated[str, Field(max_length=40, description="What it must be of; empty: as it says.")] = "",
) -> VerifiedBenchmark:
    """Simulate the policies of an entry (run_benchmark exports one) again, and name all that differs to the bit."""
    if suite and suite not in known_suites():  # a path would have the server read a file for whoever calls it
        raise UnknownName("suite", suite, known_suites())
    place = ws.runs.path / entry
    if not place.resolve().is_relative_to(ws.runs.path.resolve()):
        raise InvalidInput(f"{entry[:80]!r} is outside the runs directory. Copy the entry into it, and name it there.")
    require_training(ws)
    report = verify_entry(ws, place, suite)
    verdict = "everything is as it says" if report.verified else "what differs, and that it is not verified"
    return VerifiedBenchmark(
        verified=report.verified,
        report=report,
        next_step=f"Tell the user {verdict}; the notes say what was not looked at.",
    )


def _judges(ws: Workspace, run: str) -> ComparedBenchmarks:
    found = compare_judges(ws, run)
    return ComparedBenchmarks(
        summary="",
        comparison=None,
        judges=found,
        runs_dir=str(ws.runs.path),
        next_step="Tell the user which judge agrees with the exams how often, with its interval.",
    )

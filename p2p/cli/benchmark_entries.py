"""`p2p benchmark export` and `verify`: runs for others, and those of others simulated again."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from p2p.cli.formats import short_path
from p2p.cli.options import AsJson, RunsDir, SuiteRunName, examples, open_workspace
from p2p.cli.output import Output
from p2p.contracts.errors import NOT_PASSED
from p2p.contracts.suite_entry import EntryReport
from p2p.service.machines.setup import require_training
from p2p.service.suites.entries import export_entry, verify_entry

EXPORT_EXAMPLES = examples("p2p benchmark export basic", "p2p benchmark export basic basic-entry")
VERIFY_EXAMPLES = examples("p2p benchmark verify basic-entry", "p2p benchmark verify entry --suite my_suite.toml")


def export(
    name: SuiteRunName,
    directory: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="Empty or not there yet.", show_default="entry/ of the run"),
    ] = None,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Write a run for others to verify: its results, and each policy with its reward."""
    entry = export_entry(open_workspace(runs_dir), name, directory)
    place = short_path(Path(entry.directory).absolute())
    text = f"Wrote {entry.sessions} results and {entry.policies} policies to {place}."
    Output(as_json).result(entry, text, f"To verify it anywhere: p2p benchmark verify {place}")


def verify(
    entry: Annotated[
        Path, typer.Argument(metavar="ENTRY", exists=True, file_okay=False, help="Directory of the entry.")
    ],
    suite: Annotated[
        str, typer.Option("--suite", help="Suite that it must be of.", show_default="the one that comes with p2p")
    ] = "",
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Simulate the policies of an ENTRY again, without training, and name every number, policy or exam that differs."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    require_training(ws)
    report = verify_entry(ws, entry, suite, lambda name: output.console.print(f"{name}: simulated", markup=False))
    output.result(report, *report_text(report))
    if not report.verified:
        raise typer.Exit(NOT_PASSED)


def report_text(report: EntryReport) -> list[RenderableType]:
    """What came of an entry, for people."""
    lines: list[RenderableType] = [
        f"{report.run}: {report.suite} version {report.version} ({report.digest[:12]}), {report.sessions} sessions",
        f"{report.same} of {report.simulated} exams are the same to the bit; {report.exams_passed} passed here.",
    ]
    for problem in report.problems:
        where = f"{problem.where}: " if problem.where else ""
        lines.append(Text(f"{where}{problem.what}", style="red"))
    lines += [Text(f"Note: {note}", style="yellow") for note in report.notes]
    verdict = "Verified: nothing differs." if report.verified else f"Not verified: {len(report.problems)} differences."
    return [*lines, Text(verdict, style="bold green" if report.verified else "bold red")]

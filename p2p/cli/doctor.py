"""`p2p doctor`: what this machine has, and what it lacks."""

import typer
from rich.table import Table
from rich.text import Text

from p2p.cli.options import AsJson, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.cli.remedies import in_commands
from p2p.contracts.errors import EnvironmentProblem
from p2p.contracts.node import CheckLevel, SetupReport
from p2p.service.machines.setup import check_setup

DOCTOR_EXAMPLES = examples("p2p doctor", "p2p doctor --runs-dir /data/runs", "p2p doctor --json | jq .usable")

MARKS = {CheckLevel.OK: ("✓", "green"), CheckLevel.WARNING: ("!", "yellow"), CheckLevel.PROBLEM: ("✗", "bold red")}


def doctor(as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """Check Python, packages, pictures, sandbox, cores, memory, disk and keys, and say how to solve problems."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    report = check_setup(ws)
    said = Text("Ready to train.", style="green") if report.usable else Text("Not ready to train.", style="bold red")
    output.result({"usable": report.usable, **report.model_dump(mode="json")}, check_table(report), said)
    if not report.usable:
        raise typer.Exit(EnvironmentProblem.exit_code)


def check_table(report: SetupReport) -> Table:
    """One row per thing that was looked at."""
    table = Table(box=None, padding=(0, 1), pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in report.checks:
        mark, style = MARKS[check.level]
        found = Text(in_commands(check.found))
        if check.remedy:
            found.append(f"\n→ {in_commands(check.remedy)}", style="dim" if check.level is CheckLevel.OK else style)
        table.add_row(Text(mark, style=style), check.name, found)
    return table

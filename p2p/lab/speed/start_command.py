"""`p2p bench start`: what it costs to start p2p."""

from typing import Annotated

import typer

from p2p.cli.options import AsJson, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.lab.speed.start_up import measure_starts, table
from p2p.service.progress.listing import list_rows

START_EXAMPLES = examples("p2p bench start", "p2p bench start --repetitions 20 --json > start.json")

Repetitions = Annotated[int, typer.Option(min=1, help="Times each is started, in turns with what it is held against.")]


def start(repetitions: Repetitions = 8, as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """Measure the processor time of commands and of the MCP server when they start, and print it in Markdown.

    Commands are held against the import of typer and rich, the server against one of the same SDK with one tool. The
    newest session of the runs directory is shown; without one, showing is not measured.
    """
    ws = open_workspace(runs_dir)
    output = Output(as_json)

    def progress(line: str) -> None:
        output.console.print(line, markup=False, soft_wrap=True)

    report = measure_starts(ws.settings.runs_dir, repetitions, bool(list_rows(ws)), progress)
    output.result(report, table(report))

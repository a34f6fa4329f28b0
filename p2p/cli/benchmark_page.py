"""`p2p benchmark page`: a run as one file."""

from pathlib import Path
from typing import Annotated

import typer

from p2p.cli.formats import short_path
from p2p.cli.options import AsJson, RunsDir, SuiteRunName, examples, open_workspace
from p2p.cli.output import Output
from p2p.service.suites.page import Videos, write_page

PAGE_EXAMPLES = examples(
    "p2p benchmark page basic",
    "p2p benchmark page basic --output docs/basic.html --videos beside",
    "p2p benchmark page basic --output basic.md",
)


def page(
    name: SuiteRunName,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File to write: .html or .md.", show_default="page.html of the run"),
    ] = None,
    videos: Annotated[
        Videos, typer.Option(help="Videos inside the file, beside it in a folder, or none.")
    ] = Videos.INSIDE,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Write one file of a run: every case with its video, its numbers, and why sessions did not pass."""
    written = write_page(open_workspace(runs_dir), name, output, videos)
    Output(as_json).result({"page": str(written), "bytes": written.stat().st_size}, f"Wrote {short_path(written)}")

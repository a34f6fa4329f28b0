"""`p2p pack`: what sessions have to show, in one file."""

from pathlib import Path
from typing import Annotated

import typer

from p2p.cli.completion import complete_session
from p2p.cli.formats import short_path
from p2p.cli.options import AsJson, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.service.progress.listing import find_session
from p2p.service.sessions.packing import pack as write_pack

PACK_EXAMPLES = examples("p2p pack latest", "p2p pack 1a2b3c4d 5e6f7a8b --output results.zip --json")

Sessions = Annotated[
    list[str],
    typer.Argument(metavar="SESSION...", help="Sessions to pack.", autocompletion=complete_session),
]
Archive = Annotated[Path, typer.Option("--output", metavar="FILE", help="The archive; one that is there is replaced.")]


def pack(
    sessions: Sessions, output: Archive = Path("p2p_results.zip"), as_json: AsJson = False, runs_dir: RunsDir = None
) -> None:
    """Pack the best attempts of sessions into a ZIP file: criteria, rewards, verdicts, curves, videos, exports."""
    ws = open_workspace(runs_dir)
    count = write_pack(ws, [find_session(ws, name) for name in sessions], output)
    Output(as_json).result({"archive": str(output), "files": count}, f"{count} files in {short_path(output)}")

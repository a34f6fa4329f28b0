"""`p2p bench listing`: what it costs to look at a run of a suite with many sessions."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from p2p.cli.options import AsJson, examples, open_workspace
from p2p.cli.output import Output
from p2p.lab.speed.suite_listing import measure_listing, table

LISTING_EXAMPLES = examples("p2p bench listing", "p2p bench listing --cases 60 --seeds 5 --json")


def listing(
    cases: Annotated[int, typer.Option(min=5, max=1000, help="Of the suite.")] = 100,
    seeds: Annotated[int, typer.Option(min=1, max=100, help="Sessions of each case.")] = 3,
    as_json: AsJson = False,
) -> None:
    """Measure what it costs to list, show, filter and resume a run of a suite; its sessions are made up."""
    with tempfile.TemporaryDirectory(prefix="p2p-listing-") as place:
        report = measure_listing(open_workspace(Path(place)), cases, seeds)
    Output(as_json).result(report, table(report))

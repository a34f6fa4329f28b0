"""`p2p states`: states out of a recorded rollout, for other trainings to begin in."""

import json
from pathlib import Path
from typing import Annotated

import typer

from p2p.cli.options import AsJson, Iteration, RunsDir, SessionName, examples, open_workspace
from p2p.cli.output import Output
from p2p.cli.view import Label
from p2p.contracts.recording import RolloutLabel
from p2p.service.progress.listing import find_session
from p2p.service.progress.recordings import recorded_states

STATES_EXAMPLES = examples(
    "p2p states latest --from 1 --to 1.5",
    'p2p run "do a backflip" --env HalfCheetah-v5 --config start_states.json',
)

Start = Annotated[float, typer.Option("--from", min=0.0, metavar="SECONDS", help="Start of the part that is read.")]
End = Annotated[
    float | None,
    typer.Option("--to", min=0.0, metavar="SECONDS", help="Its end.", show_default="that of the rollout"),
]
Count = Annotated[int, typer.Option("--count", min=1, max=64, help="How many states, evenly spaced in time.")]
File = Annotated[Path, typer.Option("--output", dir_okay=False, help="File to write, for --config.")]


def states(  # noqa: PLR0913  typer reads one parameter per option
    session: SessionName = "latest",
    iteration: Iteration = None,
    label: Label = RolloutLabel.MEDIAN,
    start: Start = 0.0,
    end: End = None,
    count: Count = 16,
    output: File = Path("start_states.json"),
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Write states of a recorded rollout to a file, for another training to begin in half of its episodes."""
    ws = open_workspace(runs_dir)
    shown = Output(as_json)
    session_id = find_session(ws, session)
    found = recorded_states(ws, session_id, iteration, label, start, end, count)
    told = {"start_states": found.model_dump(mode="json", include={"share", "states"})}
    output.write_text(json.dumps(told) + "\n", encoding="utf-8")
    shown.result(
        {"output": str(output), "states": len(found.states), "share": found.share},
        f"  {len(found.states)} states of {session_id}: {output}",
        f"  to begin in them: p2p run SENTENCE --config {output}",
    )

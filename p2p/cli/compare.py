"""`p2p compare`: which of two iterations or checkpoints does it better, as a model sees it."""

from typing import Annotated

import typer
from rich.text import Text

from p2p.cli.formats import short_path
from p2p.cli.model_options import parse_model
from p2p.cli.options import AsJson, RunsDir, SessionName, examples, open_workspace
from p2p.cli.output import Output
from p2p.contracts.errors import InvalidInput
from p2p.contracts.preference import ComparedPolicy, Side
from p2p.service.judging.preferring import person_prefers, prefer
from p2p.service.progress.listing import find_session

COMPARE_EXAMPLES = examples(
    "p2p compare latest 1 2 --judge-model gemini:gemini-3.1-pro-preview",
    "p2p compare latest 1 2 --better second --because 'it lands on its feet'",
    "p2p compare 1a2b3c4d 2@204800 2@409600   (checkpoints of iteration 2)",
)

First = Annotated[str, typer.Argument(metavar="FIRST", help="Number of an iteration, or ITERATION@STEP.")]
Second = Annotated[str, typer.Argument(metavar="SECOND", help="The other policy, written likewise.")]
Eyes = Annotated[
    str | None,
    typer.Option(
        "--judge-model",
        metavar="PROVIDER:MODEL",
        help="Model that compares the pictures.",
        show_default="the session's",
    ),
]


Better = Annotated[
    Side | None, typer.Option("--better", help="Your own answer, who have watched their videos; no model is asked.")
]
Because = Annotated[str, typer.Option("--because", metavar="TEXT", help="What you saw; with --better.")]


def compare(  # noqa: PLR0913  typer reads one parameter per option
    session: SessionName,
    first: First,
    second: Second,
    judge_model: Eyes = None,
    better: Better = None,
    because: Because = "",
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Ask a model which of two policies does better what was asked; an answer that depends on their order is a tie."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    pair = parse_candidate(first), parse_candidate(second)
    if better is not None:
        if not because.strip():
            raise InvalidInput("Say what was seen in the videos: --because TEXT.")
        kept = person_prefers(ws, find_session(ws, session), pair, better, because)
        output.result(kept, Text("Kept. No verdict changes; it tells how far the eyes of a model agree with people."))
        return
    found = prefer(ws, find_session(ws, session), *pair, model=parse_model(judge_model))
    verdict = f"Better: {found.better}." if found.better is not None else "A tie."
    if not found.agreed:
        verdict += " The answer depended on which was shown above."
    files = (f"  {short_path(ws.runs.path / picture.path)}" for picture in found.pictures)
    output.result(found, Text(verdict), *(Text(reason) for reason in found.reasons), *files)


def parse_candidate(text: str) -> ComparedPolicy:
    """An iteration, "2", or one of its checkpoints, "2@204800".

    Raises:
        InvalidInput: it is neither.
    """
    iteration, _, step = text.partition("@")
    try:
        return ComparedPolicy(iteration=int(iteration), checkpoint=int(step) if step else None)
    except ValueError as error:
        raise InvalidInput(
            f"{text!r} is not an iteration. Give its number, or ITERATION@STEP for a checkpoint."
        ) from error

"""`p2p steer`: a wish for whoever writes the next reward."""

from typing import Annotated

import typer
from rich.text import Text

from p2p.cli.options import AsJson, RunsDir, examples, open_service
from p2p.cli.output import Output

STEER_EXAMPLES = examples('p2p steer latest "land softer"', 'p2p steer 1a2b3c4d "keep the knees lower" --json')

SessionArgument = Annotated[str, typer.Argument(metavar="SESSION", help='Its id, the start or end of it, or "latest".')]
Wish = Annotated[str, typer.Argument(metavar="WISH", help="What to do differently, in a sentence of 300 characters.")]


def steer(session: SessionArgument, wish: Wish, as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """Tell the model that writes a session's next reward what to do differently; its criteria stay as they are."""
    service = open_service(runs_dir)
    steering = service.steer(service.find_session(session), wish)
    said = [Text(f"{number}. {text}") for number, text in enumerate(steering.wishes, 1)]
    Output(as_json).result(steering, f"Wishes of {steering.session_id}:", *said)

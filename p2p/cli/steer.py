"""`p2p steer`: a wish for whoever writes the next reward, and settings that change on the way."""

import getpass
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from p2p.cli.options import AsJson, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.cli.session_options import option
from p2p.cli.verdict import changed_settings
from p2p.contracts.docstrings import description_of
from p2p.contracts.errors import InvalidInput
from p2p.contracts.session import NewSession, SettingsRequest
from p2p.service.progress.listing import find_session
from p2p.service.sessions.settings_changes import change_settings
from p2p.service.sessions.steering import steer as service_steer
from p2p.service.sessions.steering import wishes as service_wishes

STEER_EXAMPLES = examples(
    'p2p steer latest "land softer"',
    "p2p steer latest --seeds 3 --stop-when-clear",
    "p2p steer 1a2b3c4d --pass-threshold 0.9 --json",
)

SessionArgument = Annotated[str, typer.Argument(metavar="SESSION", help='Its id, the start or end of it, or "latest".')]
Wish = Annotated[str, typer.Argument(metavar="[WISH]", help="What to do differently, in a sentence of 300 characters.")]
Seeds = Annotated[int | None, option(NewSession, "n_seeds")]
PassThreshold = Annotated[
    float | None,
    option(NewSession, "pass_threshold", help=description_of(SettingsRequest, "pass_threshold")),
]
StopWhenClear = Annotated[
    bool | None, option(SettingsRequest, "stop_when_clear", "--stop-when-clear/--train-to-the-end")
]


def steer(
    session: SessionArgument,
    wish: Wish = "",
    seeds: Seeds = None,
    pass_threshold: PassThreshold = None,
    stop_when_clear: StopWhenClear = None,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Tell the model that writes a session's next reward what to do differently, or change settings.

    Settings count for iterations whose training has not begun; criteria stay as they are.
    """
    request = SettingsRequest(n_seeds=seeds, pass_threshold=pass_threshold, stop_when_clear=stop_when_clear)
    changes = request != SettingsRequest()
    if not wish.strip() and not changes:
        raise InvalidInput('Give a wish, such as "land softer", or a setting: --seeds, --pass-threshold ...')
    ws = open_workspace(runs_dir)
    name = find_session(ws, session)
    if wish.strip():
        service_steer(ws, name, wish)
    if changes:
        change_settings(ws, name, request, getpass.getuser())
    steering = service_wishes(ws, name)
    wishes = [Text(f"{number}. {text}") for number, text in enumerate(steering.wishes, 1)]
    said: list[RenderableType] = [f"Wishes of {name}:", *wishes] if wishes else []
    Output(as_json).result(steering, *said, *changed_settings(steering.settings_changes))

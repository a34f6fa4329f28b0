"""`p2p extend`: a session goes on from its best reward as a new one, asked for more."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from p2p.cli.model_options import MODELS, CapOption, parse_caps, parse_model
from p2p.cli.options import (
    AllowWeakSandbox,
    AsJson,
    BackendName,
    Detach,
    RunsDir,
    StopOnExit,
    examples,
    open_workspace,
)
from p2p.cli.output import Output
from p2p.cli.run import launch
from p2p.cli.session_options import PriorityOption, option
from p2p.cli.tighten import Required, Thresholds, criteria_from_file, criteria_from_options
from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Criterion
from p2p.contracts.session import ExtendSession
from p2p.service.jobs.free_space import require_free_disk
from p2p.service.progress.listing import find_session
from p2p.service.sessions.extending import continue_session
from p2p.service.workspace import Workspace

EXTEND_EXAMPLES = examples(
    "p2p extend latest --threshold moves=2.5 --require calm",
    "p2p extend 1a2b3c4d --criteria criteria.json --iterations 4",
    'p2p extend 1a2b3c4d --wish "land softer" --model anthropic:claude-opus-5-5',
)

SessionArgument = Annotated[str, typer.Argument(metavar="SESSION", help='Its id, the start or end of it, or "latest".')]
WishText = Annotated[str, typer.Option("--wish", metavar="TEXT", help="What to do differently; only models read it.")]
CriteriaFile = Annotated[
    Path | None,
    typer.Option(
        "--criteria", exists=True, dir_okay=False, help="JSON file with a list of stricter or additional criteria."
    ),
]
Iterations = Annotated[
    int | None,
    option(ExtendSession, "max_iterations", show_default=f"as before, or {ExtendSession.USUAL_ITERATIONS}"),
]

NewModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="PROVIDER:MODEL",
        help="Model that writes the rewards and reads wishes.",
        show_default="the earlier session's author",
        rich_help_panel=MODELS,
    ),
]


def extend(  # noqa: PLR0913  typer reads one parameter per option
    session: SessionArgument,
    wish: WishText = "",
    criteria: CriteriaFile = None,
    threshold: Thresholds = [],  # noqa: B006  typer copies it
    require: Required = [],  # noqa: B006
    iterations: Iterations = None,
    model: NewModel = None,
    cap: CapOption = None,
    priority: PriorityOption = None,
    backend: BackendName = None,
    allow_weak_sandbox: AllowWeakSandbox = False,
    detach: Detach = False,
    stop_on_exit: StopOnExit = False,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Start a new session from the best reward of an ended one, with stricter criteria or a wish."""
    ws = open_workspace(runs_dir, allow_weak_sandbox=allow_weak_sandbox)
    output = Output(as_json)
    found = find_session(ws, session)
    wanted = [*_changed(ws, found, threshold, require), *(criteria_from_file(criteria) if criteria else ())]
    request = ExtendSession(
        wish=wish,
        criteria=tuple(wanted),
        max_iterations=iterations,
        author=parse_model(model),
        priority=priority,
        caps=parse_caps(cap or ()),
        backend=backend,
    )

    def create(session_id: str) -> None:
        made = continue_session(ws, found, request, driven=True, new_id=session_id)
        require_free_disk(ws)
        assert made.extends is not None, "it is made from another one"
        output.console.print(f"{session_id} starts from iteration {made.extends.iteration} of {found}.")

    launch(ws, output, create, detach=detach, stop_on_exit=stop_on_exit)


def _changed(ws: Workspace, session_id: str, thresholds: Sequence[str], required: Sequence[str]) -> list[Criterion]:
    present = ws.record(session_id).read_criteria()
    if not thresholds and not required:
        return []
    if present is None:
        raise InvalidInput(f"{session_id} has no criteria that could be made stricter.")
    return criteria_from_options(present, thresholds, required)

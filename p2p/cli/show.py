"""`p2p show`: one session in full."""
# ruff: noqa: PLC0415  each kind of answer loads the contracts that it shows, which take longer than all else

from typing import Annotated

import typer
from pydantic_core import to_json

from p2p.cli.interrupts import loading
from p2p.cli.options import AsJson, Iteration, RunsDir, SessionName, examples, open_workspace
from p2p.cli.output import Output
from p2p.service.progress.listing import find_session, session_row

SHOW_EXAMPLES = examples(
    "p2p show", "p2p show latest --iteration 2", "p2p show latest --costs", "p2p show session_20260403 --json"
)

Costs = Annotated[bool, typer.Option("--costs", help="Where its tokens, dollars and seconds went.")]


def show(
    session: SessionName = "latest",
    iteration: Iteration = None,
    costs: Costs = False,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Show a session in full: criteria, judgment, history, runs and files."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    session_id = find_session(ws, session)
    if costs:
        from p2p.cli.costs import costs as cost_table
        from p2p.service.models import session_models

        found = session_models.costs(ws, session_id)
        output.result(found, *cost_table(found))
        return
    if iteration is not None:
        from p2p.cli.session_details import iteration_details
        from p2p.service.progress.details import view_iteration

        one = view_iteration(ws, session_id, iteration)
        output.result(one, *iteration_details(one))
        return
    row = session_row(ws, session_id)
    if as_json:
        output.result(to_json(row.view, indent=2).decode())
        return
    with loading():
        from p2p.cli.session_details import whole_session
        from p2p.contracts.session import SessionView

    view = SessionView.model_validate(row.view)
    output.result(row.view, *whole_session(ws, view))

"""`p2p benchmark delete` and `restore`: runs of suites in the trash and back."""

from typing import Annotated

import typer

from p2p.cli.options import AsJson, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.contracts.remedies import Remedy
from p2p.service.suites.keeping import delete_suite_run, purge_suite_run, restore_suite_run

DELETE_EXAMPLES = examples("p2p benchmark delete basic", "p2p benchmark delete basic --for-good")
RESTORE_EXAMPLES = examples("p2p benchmark restore basic")

Name = Annotated[str, typer.Argument(metavar="RUN", help="Name of the run.")]
ForGood = Annotated[bool, typer.Option("--for-good", help="It is in the trash already: remove its files.")]


def delete(name: Name, for_good: ForGood = False, as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """Move a run and its sessions to the trash; their files stay."""
    ws = open_workspace(runs_dir)
    if for_good:
        purge_suite_run(ws, name)
        Output(as_json).result({"run": name, "removed": True}, f"Removed {name} and its sessions.")
        return
    delete_suite_run(ws, name)
    said = f"Moved {name} and its sessions to the trash. To restore them: {Remedy.RESTORE_RUN.of(run=name)}"
    Output(as_json).result({"run": name, "removed": False}, said)


def restore(name: Name, as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """Restore a run from the trash, with the sessions that were deleted with it."""
    view = restore_suite_run(open_workspace(runs_dir), name)
    Output(as_json).result(view, f"Restored {name} and its sessions.")

"""`python -m p2p.benchmark`: run each sentence of a suite with several seeds and print the table.

A session that is already there is not run again, so an interrupted benchmark goes on where it stopped.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import get_args

from p2p.benchmark.cases import SUITES, Case
from p2p.benchmark.report import table
from p2p.benchmark.table_place import TablePlace
from p2p.cli.remedies import in_commands
from p2p.contracts.errors import InvalidInput, P2PError
from p2p.contracts.session import NewSession, Priority, SessionView
from p2p.service.progress.listing import list_sessions
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.driving import start_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases one after another. Exit code 0 if all passed, else 3."""
    parser = argparse.ArgumentParser(prog="python -m p2p.benchmark", description=__doc__)
    parser.add_argument("--suite", choices=SUITES, default="basic")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    names = ", ".join(case.name for suite in SUITES.values() for case in suite)
    parser.add_argument("--case", nargs="*", help=f"only these of the suite: {names}")
    parser.add_argument("--runs-dir", type=Path, default=Path("runs/benchmark"))
    parser.add_argument("--priority", choices=get_args(Priority), default="low", help="of the trainings")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the table between its `behaviour` markers")
    options = parser.parse_args(arguments)
    try:
        place = TablePlace(options.table, "behaviour") if options.table is not None else None
    except (InvalidInput, OSError) as error:
        print(in_commands(str(error)), file=sys.stderr)
        return InvalidInput.exit_code
    ws = Workspace(Settings.from_environment(options.runs_dir))
    chosen = [case for case in SUITES[options.suite] if not options.case or case.name in options.case]
    try:
        with ws.runs.benchmarking():  # two that look for the same session both find none, and both make it
            results = []
            for case in chosen:
                for seed in options.seeds:
                    results.append((case, _run(ws, case, seed, options.priority)))
                    _, view = results[-1]
                    print(f"{case.name} seed {seed}: {view.status}", file=sys.stderr, flush=True)
    except P2PError as error:
        print(in_commands(str(error)), file=sys.stderr)
        return error.exit_code
    print(table(results))
    if place is not None:
        place.write(table(results))
    return 0 if all(view.status == "passed" for _, view in results) else 3


def _run(ws: Workspace, case: Case, seed: int, priority: Priority) -> SessionView:
    session_id = f"{case.name}-seed-{seed}"
    known = {view.session.session_id: view for view in list_sessions(ws)}
    if session_id not in known:
        request = NewSession(prompt=case.prompt, env_id=case.env_id, seed=seed, priority=priority)
        create_session(ws, request, session_id=session_id)
    elif known[session_id].status.finished:
        return known[session_id]
    view = start_session(ws, session_id)
    while view.alive:
        time.sleep(1)
        view = view_session(ws, session_id)
    return view


if __name__ == "__main__":
    sys.exit(main())

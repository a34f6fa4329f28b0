"""`python -m p2p.benchmark`: run a suite like `p2p benchmark run`, and print the table of the docs.

A session that is already there is not run again, so an interrupted benchmark goes on where it stopped.
"""

import argparse
import sys
from pathlib import Path
from typing import get_args

from p2p.benchmark.report import table
from p2p.benchmark.table_place import TablePlace
from p2p.cli.benchmark import watch
from p2p.cli.output import Output
from p2p.cli.remedies import in_commands
from p2p.contracts.errors import INTERRUPTED, NOT_PASSED, InvalidInput, P2PError
from p2p.contracts.session import NewSession, Priority
from p2p.contracts.suite import NewSuiteRun, RunState, Selection, SuiteRunView
from p2p.service.suites.running import start_suite_run
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.suite_files import shipped_suites


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases. Exit code 0 if all passed, else 3."""
    parser = argparse.ArgumentParser(prog="python -m p2p.benchmark", description=__doc__)
    parser.add_argument("--suite", default="basic", help=f"{', '.join(shipped_suites())}, or a .toml or .csv file")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--case", nargs="*", default=[], help="only these of the suite")
    parser.add_argument("--name", default="", help="of the run; the suite's where none is given")
    parser.add_argument("--runs-dir", type=Path, help="default: P2P_RUNS_DIR, or runs")
    parser.add_argument("--parallel", type=int, default=1, help="sessions side by side")
    parser.add_argument("--priority", choices=get_args(Priority), default="low", help="of the trainings")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the table between its `behaviour` markers")
    options = parser.parse_args(arguments)
    try:
        place = TablePlace(options.table, "behaviour") if options.table is not None else None
        ws = Workspace(Settings.from_environment(options.runs_dir))
        asked = NewSuiteRun(
            name=options.name,
            seeds=tuple(options.seeds),
            only=Selection(case=tuple(options.case)),
            parallel=options.parallel,
            system=NewSession(priority=options.priority),
        )
        view = _to_the_end(ws, start_suite_run(ws, options.suite, asked))
    except (ValueError, OSError) as error:  # a seed that cannot be one; a file that cannot be read
        print(error, file=sys.stderr)
        return InvalidInput.exit_code
    except P2PError as error:
        print(in_commands(str(error)), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    print(table(ws, view.results))
    if view.state is not RunState.ENDED:
        print(in_commands(view.error) or "The run was stopped.", file=sys.stderr)
        return NOT_PASSED
    if place is not None:
        place.write(table(ws, view.results))
    return 0 if all(result.passed_itself for result in view.results) else NOT_PASSED


def _to_the_end(ws: Workspace, view: SuiteRunView) -> SuiteRunView:
    return watch(ws, Output(as_json=True), view)  # what it tells on the way goes to stderr


if __name__ == "__main__":
    sys.exit(main())

"""Process that drives a run of a suite: `python -m p2p.session.run_suite --run NAME`."""

import argparse
import sys
from pathlib import Path

from p2p.contracts.errors import INTERRUPTED, P2PError
from p2p.service.suites.running import drive_suite_run
from p2p.service.workspace import Workspace
from p2p.settings import Settings


def main(arguments: list[str] | None = None) -> int:
    """Drive a run to its end. Exit code 0 once all its sessions have ended, else that of the error."""
    parser = argparse.ArgumentParser(prog="python -m p2p.session.run_suite", description=__doc__)
    parser.add_argument("--run", required=True)
    parser.add_argument("--runs-dir", type=Path)
    options = parser.parse_args(arguments)
    try:
        drive_suite_run(Workspace(Settings.from_environment(options.runs_dir)), options.run)
    except P2PError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:  # its sessions go on, as after the death of any driver
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())

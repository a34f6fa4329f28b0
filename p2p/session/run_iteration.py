"""Process of one training job: `python -m p2p.session.run_iteration --job-id ID`.

It is started when its turn has come, trains, and runs the rollouts that the iteration is judged by. Judging, and what
comes after it, are the caller's.
"""

import argparse
import sys
from pathlib import Path

from p2p.contracts.errors import INTERRUPTED, P2PError
from p2p.service.sessions.background import run_training
from p2p.service.workspace import Workspace
from p2p.settings import Settings


def main(arguments: list[str] | None = None) -> int:
    """Run the job. Exit code 0 on success, otherwise that of the error."""
    parser = argparse.ArgumentParser(prog="python -m p2p.session.run_iteration", description=__doc__)
    parser.add_argument("--job-id", required=True)
    parser.add_argument("--runs-dir", type=Path)
    options = parser.parse_args(arguments)
    try:
        run_training(Workspace(Settings.from_environment(options.runs_dir)), options.job_id)
    except P2PError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:  # its trainings go on, as after the death of any driver
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())

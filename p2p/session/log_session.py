"""Process that keeps the logs of a session: `python -m p2p.session.log_session --session-id ID`."""

import argparse
import sys
from pathlib import Path

from p2p.contracts.errors import INTERRUPTED, P2PError
from p2p.service.logs.job import follow_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings


def main(arguments: list[str] | None = None) -> int:
    """Keep the logs until the session rests. Exit code 0, also where a logger failed; the session's events say so."""
    parser = argparse.ArgumentParser(prog="python -m p2p.session.log_session", description=__doc__)
    parser.add_argument("--session-id", required=True)
    parser.add_argument("--runs-dir", type=Path)
    options = parser.parse_args(arguments)
    try:
        follow_session(Workspace(Settings.from_environment(options.runs_dir)), options.session_id)
    except P2PError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())

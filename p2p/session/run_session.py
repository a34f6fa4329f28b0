"""Process of the session driver: `python -m p2p.session.run_session --session-id ID`.

A new session needs `--prompt`; `--loop-config` takes its other fields as JSON. An existing one is continued.
"""

import argparse
import sys
import traceback
from pathlib import Path

from pydantic import ValidationError

from p2p.contracts.errors import INTERRUPTED, NOT_PASSED, BudgetExceeded, InvalidConfig, InvalidReward, P2PError
from p2p.contracts.inference import AuthenticationFailed, RateLimited
from p2p.contracts.session import EventName, NewSession, SessionStatus
from p2p.service.judging.closing import close
from p2p.service.progress.listing import find_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.session.loop import run
from p2p.settings import Settings

ENDINGS: dict[type[P2PError], SessionStatus] = {
    InvalidReward: SessionStatus.INVALID_CODE,
    BudgetExceeded: SessionStatus.BUDGET,
    RateLimited: SessionStatus.RATE_LIMITED,
    AuthenticationFailed: SessionStatus.AUTH_ERROR,
}


def main(arguments: list[str] | None = None) -> int:
    """Drive a session to its end. Exit code 0 if it passed, 3 if it ended without passing, else that of the error."""
    parser = argparse.ArgumentParser(prog="python -m p2p.session.run_session", description=__doc__)
    parser.add_argument("--session-id", required=True)
    parser.add_argument("--runs-dir", type=Path)
    parser.add_argument("--prompt", help="start a new session with this sentence")
    parser.add_argument("--loop-config", default="{}", help="other fields of the session, as JSON")
    options = parser.parse_args(arguments)
    try:
        ws = Workspace(Settings.from_environment(options.runs_dir))
        if options.prompt is None:
            return drive(ws, find_session(ws, options.session_id))
        try:
            request = NewSession.model_validate_json(options.loop_config)
        except ValidationError as error:
            raise InvalidConfig(f"--loop-config is not valid: {error}") from error
        request = request.model_copy(update={"prompt": options.prompt})
        return drive(ws, create_session(ws, request, session_id=options.session_id).session_id)
    except P2PError as error:  # it cannot begin, or its end cannot be written down
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:  # its trainings go on, as after the death of any driver
        return INTERRUPTED


def drive(ws: Workspace, session_id: str) -> int:
    """Run the loop; translate its end into a session status and an exit code."""
    record = ws.record(session_id)
    session = record.read_session()
    record.events.emit_once(
        EventName.SESSION_STARTED, None, prompt=session.prompt, max_iterations=session.max_iterations
    )
    record.set_status(SessionStatus.RUNNING)
    try:
        run(ws, session_id)
    except P2PError as error:
        found = (status for kind, status in ENDINGS.items() if isinstance(error, kind))
        return _failed(ws, session_id, next(found, SessionStatus.ERROR), error)
    except Exception as error:  # the entry point of the process: the session must record any failure
        traceback.print_exc()
        return _failed(ws, session_id, SessionStatus.ERROR, error)
    ended = record.read_status()
    good = ended is not None and ended.status in (SessionStatus.PASSED, SessionStatus.COMPLETED)
    return 0 if good else NOT_PASSED


def _failed(ws: Workspace, session_id: str, status: SessionStatus, error: Exception) -> int:
    print(error, file=sys.stderr)
    now = ws.record(session_id).read_status()
    if now is None or now.status is not SessionStatus.CANCELLED:  # a session is stopped by ending what it waits for
        close(ws, session_id, status, str(error) or type(error).__name__)
    return error.exit_code if isinstance(error, P2PError) else 1


if __name__ == "__main__":
    sys.exit(main())

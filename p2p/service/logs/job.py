"""The process that keeps the logs of a session while it is trained: `python -m p2p.session.log_session`.

It is a process of its own because what it loads is large, and may fail or wait for a network: neither the driver nor a
training notices.
"""

import os
import time
from contextlib import suppress

from p2p.contracts.errors import P2PError
from p2p.contracts.job import JobSpec
from p2p.contracts.session import NewSession
from p2p.service.jobs.processes import is_live
from p2p.service.jobs.worker_jobs import MAX_LOG_MB, SINGLE_THREAD, TRAINING_NICENESS
from p2p.service.logs.writing import SessionLogs, warn_once
from p2p.service.progress.session_view import live_training
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.sessions import SessionRecord

LOGGER = ("{python}", "-m", "p2p.session.log_session")
PASSED_ON = ("WANDB_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_")
"""Begins of the variables of the environment that loggers read."""
POLL_S = 2.0
"""Pause between two looks [s]; longer where a look takes long."""
PAUSES = 20.0
"""Least pause, in units of the time that the look before it took: at most a twentieth of a core."""


def keep_logs(ws: Workspace, record: SessionRecord) -> None:
    """Have the logs of a session brought up to date, and kept so while it is at work; never raises an error of p2p.

    Called whenever there is something to write, or will be; where jobs run in this process, it is written here.
    """
    try:
        session = record.read_session()
        if not session.log:
            return
        if ws.runs_inline:
            follow_session(ws, record.session_id)
            return
        command = (*LOGGER, "--session-id", record.session_id, "--runs-dir", str(ws.runs.path))
        spec = JobSpec(
            argv=command,
            env=SINGLE_THREAD,
            secrets=log_variables(session),
            niceness=TRAINING_NICENESS,
            max_log_mb=MAX_LOG_MB,
        )
        with record.starting_logs():
            if not is_live(ws, record.logging_dir):
                files.discard(record.logging_dir)  # a job that has completed is not started again
            files.write_text(record.log_request_path, str(time.time_ns()))
            ws.background.submit(spec, record.logging_dir)
    except P2PError as error:
        with suppress(P2PError):
            for name in record.read_session().log:
                warn_once(record, name, error)


def log_variables(request: NewSession) -> tuple[str, ...]:
    """Variables of the environment that the loggers of a session read."""
    return tuple(name for name in os.environ if name.startswith(PASSED_ON)) if request.log else ()


def follow_session(ws: Workspace, session_id: str) -> None:
    """Keep the logs of a session until nothing of it is at work and nobody has asked again.

    Raises:
        InvalidInput: the session was deleted meanwhile.
    """
    record = ws.record(session_id)
    logs = SessionLogs(record, record.read_session().log, lambda name, error: warn_once(record, name, error))
    try:
        while True:
            asked = files.read_text(record.log_request_path)
            at_work = not ws.runs_inline and _at_work(ws, record)
            began = time.monotonic()
            logs.write()
            if at_work:
                time.sleep(max(POLL_S, PAUSES * (time.monotonic() - began)))
            else:
                logs.close()  # first, for it may take long: who asks meanwhile is heard
                if files.read_text(record.log_request_path) == asked:
                    return
            record = ws.record(session_id)
    finally:
        logs.close()


def _at_work(ws: Workspace, record: SessionRecord) -> bool:
    return is_live(ws, record.driver_dir) or live_training(record, ws.backend) is not None

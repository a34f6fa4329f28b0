"""Hold the turn of a runs directory, so that none of its background jobs begins."""

import fcntl
import os

from p2p.contracts.job import JobSpec
from p2p.scheduler import machine_queue
from p2p.service.jobs.waiting import in_turn
from p2p.service.workspace import Workspace


def hold_turn(ws: Workspace, wait: bool = True) -> int:
    """Lock the first place of the line of a runs directory until the returned descriptor is closed.

    Raises:
        BlockingIOError: somebody has it, and `wait` is False.
    """
    line = in_turn(ws, ws.runs.session("nobody"), JobSpec(argv=("true",))).line
    place = os.open(machine_queue.directory() / f"{line}_0", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(place, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(place)
        raise
    os.ftruncate(place, 0)
    return place

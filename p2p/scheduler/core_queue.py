"""Read this machine's queues from the names of their tickets, without taking a lock."""

import os

from p2p.scheduler import cores
from p2p.scheduler.supervisor import processes


def place_of(supervisor: int, line: str | None = None) -> int | None:
    """Place in the queue for cores or in a line, from 1 (next); None if the job is not waiting.

    Args:
        supervisor: Its process id, with which the name of its ticket ends.
        line: Name of the line; None for cores.
    """
    queue = cores.QUEUE if line is None else cores.LINE_QUEUE.format(line=line)
    try:
        names = sorted(os.listdir(cores.directory() / queue))  # noqa: PTH208 - names alone
    except OSError:  # there is no queue, or it is not ours
        return None
    waiting = [int(pid) for name in names if name[:1].isdigit() and (pid := name.rpartition("_")[2]).isdigit()]
    if supervisor not in waiting:
        return None
    living = processes()
    return 1 + sum(pid in living for pid in waiting[: waiting.index(supervisor)])

"""Who waits for cores of this machine, read from the names of the tickets in `cores.py`'s queue; nothing is locked."""

import os

from p2p.scheduler import cores
from p2p.scheduler.supervisor import processes


def place_of(supervisor: int) -> int | None:
    """Place of a supervisor among those that wait for cores, from 1, which is next; None where it does not wait.

    Args:
        supervisor: Its process id, with which the name of its ticket ends.
    """
    try:
        names = sorted(os.listdir(cores.directory() / "queue"))  # noqa: PTH208 - names alone
    except OSError:  # there is no queue, or it is not ours
        return None
    waiting = [int(pid) for name in names if name[:1].isdigit() and (pid := name.rpartition("_")[2]).isdigit()]
    if supervisor not in waiting:
        return None
    living = processes()
    return 1 + sum(pid in living for pid in waiting[: waiting.index(supervisor)])

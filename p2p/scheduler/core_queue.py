"""Read the queue for this machine's cores from the names of its tickets; no lock is taken."""

import os

from p2p.scheduler import cores
from p2p.scheduler.supervisor import processes


def place_of(supervisor: int) -> int | None:
    """Place in the queue for cores, from 1 (next); None where the supervisor does not wait.

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

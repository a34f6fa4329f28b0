"""This machine at a glance: cores and their owners, memory, disk, the queue, and the nodes."""

import os
from datetime import UTC, datetime
from pathlib import Path

from p2p.contracts.job import WaitsFor
from p2p.contracts.machine import CoreView, MachineView, QueuedJob
from p2p.scheduler import machine_queue, resources
from p2p.scheduler.cores import usable_cores
from p2p.service.jobs.waiting import holder_of
from p2p.service.machines.nodes import list_nodes
from p2p.service.workspace import Workspace


def machine(ws: Workspace) -> MachineView:
    """This machine as it is now, in milliseconds; no node is asked."""
    owned: dict[int, tuple[str, float]] = {}
    queue: list[tuple[machine_queue.QueueEntry, str]] = []
    problem = ""
    try:
        owned = machine_queue.owned_cores()
        queue = machine_queue.waiting()
    except OSError as error:  # the directory of locks is another user's
        problem = str(error)
    measured = resources.measure(ws.settings.runs_dir)
    places = dict.fromkeys(WaitsFor, 0)
    queued = []
    for entry, lacks in queue:
        what = WaitsFor(lacks)
        places[what] += 1
        holder = holder_of(Path(entry.holder))
        queued.append(QueuedJob(holder=holder, waits_for=what, place=places[what], cores=entry.cores))
    return MachineView(
        cores=tuple(_core(number, owned.get(number)) for number in sorted({*usable_cores(), *owned})),
        load=_load(),
        memory_mb=measured.memory_mb,
        memory_free_mb=measured.memory_free_mb,
        disk_free_mb=measured.disk_free_mb,
        queue=tuple(queued),
        problem=problem,
        nodes=list_nodes(ws),
    )


def _core(number: int, owner: tuple[str, float] | None) -> CoreView:
    if owner is None:
        return CoreView(number=number, owner=None, since=None)
    since = datetime.fromtimestamp(owner[1], UTC).isoformat(timespec="seconds")
    return CoreView(number=number, owner=holder_of(Path(owner[0])), since=since)


def _load() -> tuple[float, float, float] | None:
    try:
        return os.getloadavg()
    except OSError:
        return None

"""This machine as its users see it: who has which cores, who waits, what is free."""

from p2p.contracts.base import Contract
from p2p.contracts.job import Holder, WaitsFor
from p2p.contracts.node import NodeView


class CoreView(Contract):
    """A core that trainings may use."""

    number: int
    owner: Holder | None
    """The training that owns it; None while it is free."""
    since: str | None
    """When it was taken (UTC, ISO 8601)."""


class QueuedJob(Contract):
    """A job in the queue of the machine."""

    holder: Holder
    """Whose it is."""
    waits_for: WaitsFor
    place: int
    """Among those that wait for the same, from 1, which is next."""
    cores: int
    """How many it asks for; 0 for one that runs beside others."""


class MachineView(Contract):
    """This machine, and the nodes as they were last looked at."""

    cores: tuple[CoreView, ...]
    load: tuple[float, float, float] | None
    """Processes that ran or waited for a processor, on average over 1, 5 and 15 minutes; None where it is unknown."""
    memory_mb: int | None
    """Memory that all processes may take together [MiB]."""
    memory_free_mb: int | None
    disk_free_mb: int
    """Of the runs directory's disk [MiB]."""
    queue: tuple[QueuedJob, ...]
    """The oldest first."""
    problem: str
    """Why the queue cannot be read; empty where it can."""
    nodes: tuple[NodeView, ...]

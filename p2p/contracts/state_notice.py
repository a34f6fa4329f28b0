"""Notices that something has another state than before: which thing, and a version; never its content."""

from enum import StrEnum

from p2p.contracts.base import Contract


class Topic(StrEnum):
    """What kind of thing changed."""

    SESSION = "session"
    RUN = "run"
    """A training of the newest iteration of a session at work."""
    JOB = "job"
    SUITE_RUN = "suite_run"
    MACHINE = "machine"
    """Its queue, and who owns which cores."""


class StateNotice(Contract):
    """A thing and the version of its state."""

    topic: Topic
    id: str
    """Of a session or job; of a run `<session>.iter_<n>.<run>`; name of a run of a suite; "here" for this machine."""
    version: str
    """Differs from the version before whenever the state does; empty once it is gone, or a run's session has ended."""

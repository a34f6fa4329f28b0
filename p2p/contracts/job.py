"""Jobs: their process, status, and what they wait for."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from p2p.contracts.base import Contract


class WaitsFor(StrEnum):
    """What is waited for."""

    TURN = "turn"
    """Its turn among the background jobs of the runs directory (`P2P_MAX_JOBS`), first come, first served."""
    CORES = "cores"
    """Cores of this machine, which all runs directories share, first come, first served."""
    FILM = "film"
    """Its turn among the sessions of this machine whose checkpoints are filmed, first come, first served."""
    CLUSTER = "cluster"
    """A place on the machines of a cluster, which its scheduler gives."""


IN_WORDS = {
    WaitsFor.TURN: "its turn",
    WaitsFor.CORES: "cores",
    WaitsFor.FILM: "its turn to be filmed",
    WaitsFor.CLUSTER: "the cluster",
}


class Holder(Contract):
    """A job that has what is waited for."""

    runs_dir: str
    """Its runs directory, which may be another one."""
    session_id: str | None
    """None where it belongs to no session."""
    job: str
    """Id of the background job, or the directory of the run."""


class Waiting(Contract):
    """Why something does not run yet."""

    waits_for: WaitsFor
    holders: tuple[Holder, ...]
    """Empty where nobody can be named."""
    place: int | None
    """In the line, from 1, which is next."""
    since: str | None
    """UTC, ISO 8601."""
    estimate_s: float | None
    """Expected time until it runs [s]; None where the holders do not tell how long they need."""
    reason: str = ""
    """In the words of a cluster's scheduler; empty elsewhere."""


def in_words(waiting: Waiting) -> str:
    """One line: "waits for cores held by session_a in /home/me/runs, 2 in line, since 03:52 UTC, about 5 min more"."""
    what = IN_WORDS[waiting.waits_for]
    names = dict.fromkeys(f"{one.session_id or one.job} in {one.runs_dir}" for one in waiting.holders)
    held = f" held by {' and '.join(names)}" if names else ""
    place = f", {waiting.place} in line" if waiting.place is not None else ""
    since = f", since {waiting.since[11:16]} UTC" if waiting.since is not None else ""
    left = waiting.estimate_s
    about = "" if left is None else f", about {left:.0f} s more" if left < 90 else f", about {left / 60:.0f} min more"
    why = f" ({waiting.reason})" if waiting.reason else ""
    return f"waits for {what}{why}{held}{place}{since}{about}"


class JobState(StrEnum):
    """The life of a job. The last five are final, except that a lost job may be submitted again."""

    QUEUED = "queued"
    """Its supervisor waits in the queue of the machine."""
    WAITING = "waiting"
    """What a background job says that waits for its turn or for cores; never written."""
    SUBMITTING = "submitting"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"
    """Its supervisor died before it could record an end."""
    UNREACHABLE = "unreachable"

    @property
    def finished(self) -> bool:
        """True in a final state."""
        return self in (JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED, JobState.LOST)


class JobSpec(Contract):
    """What to run (`job.json` in the job's directory)."""

    argv: tuple[str, ...]
    """The command; "{python}" stands for the interpreter of the machine it runs on."""
    env: dict[str, str] = {}
    """Variables set for it. Never holds a key."""
    secrets: tuple[str, ...] = ()
    """Names of variables that are passed on from the submitter; their values are never written."""
    max_memory_mb: int | None = None
    """Most memory [MiB]: what each process allocates, and what is resident of all together, shared memory included."""
    max_memory_share: float | None = Field(default=None, gt=0, le=1)
    """Most of the memory of the machine it runs on, resident of all its processes together; 1 GiB is always allowed."""
    max_cpu_s: int | None = None
    """Most processor time of each process [s]."""
    max_wall_s: int | None = None
    """Longest time from its start [s]."""
    max_log_mb: int | None = None
    """Largest log [MiB]."""
    max_disk_mb: int | None = None
    """Most that the files in its directory may take [MiB]."""
    cores: int = 0
    """How many cores of the machine it owns while it runs, and waits for; 0 for a job that runs beside others."""
    cores_ahead: int = 0
    """How many cores must be free when it starts: it begins trainings, and they take over its place in the queue."""
    line: str | None = Field(default=None, pattern=r"^[a-z]+(_[0-9a-f]+)?$")
    """Line of which only a few jobs of this machine run at a time: what it waits for, and then whose. None for a job
    that need not wait."""
    places: int | None = Field(default=None, ge=1)
    """How many of its line run at a time; None for half as many as there are cores."""
    group: str | None = None
    """Directory of the session that it works for, with all that it starts: its trainings wait in its place."""
    niceness: int = Field(default=0, ge=0, le=19)
    """Niceness, as of nice(1): a larger one gives way to other processes."""


LIMIT_BROKEN = "The job was ended:"
"""How a supervisor's word on a job begins that broke one of its limits."""


class JobStatus(Contract):
    """How a job stands (`status.json` in the job's directory)."""

    state: JobState
    error: str | None = None
    """The last lines of its log, for a failed job; what stands in its way, for a running one."""
    exit_code: int | None = None
    signal: int | None = None
    """Number of the signal that ended it."""
    peak_memory_mb: int | None = None
    """Most memory of all its processes together, known when it has ended [MiB]: the sum of the largest resident memory
    of each; what they share, the code of libraries included, counts once. Looked at twice a second; None where there is
    no /proc."""
    started_at: str | None = None
    """UTC, ISO 8601."""
    updated_at: str | None = None
    lacks: WaitsFor | None = None
    """What it waits for; None when it does not wait, or in a status of an earlier version."""
    waits_for: tuple[str, ...] = ()
    """Directories of the jobs that have what it waits for."""
    place: int | None = None
    """Place among those that wait for the same on this machine, from 1; None when it does not wait."""
    interrupted: bool = False
    """True for a lost job that the scheduler of a cluster ended for reasons of its own: submitted again, it goes on."""

    @property
    def over_a_limit(self) -> bool:
        """True if its supervisor ended it for breaking a limit; it would again."""
        return self.state is JobState.FAILED and (self.error or "").startswith(LIMIT_BROKEN)


class Capacity(Contract):
    """How many jobs a backend takes at a time without slowing one another."""

    runs: int
    """At least 1."""
    cores: int
    """Of all its machines together, at least 1."""
    cores_per_run: int
    """That one job could use, at least 1."""


class Capabilities(Contract):
    """What a backend can do, and what it cannot."""

    here: bool
    """Whether its jobs run on this machine, and share its cores and memory with everything else."""
    takes: Literal["", "nodes", "cluster"] = ""
    """What its name may be followed by, as in "ssh:attic" and "slurm:lab"."""
    keys: bool = False
    """Whether a job can be given API keys."""
    at_once: bool = False
    """Whether `submit` returns at the end of the job."""
    copies: bool = False
    """Whether a job runs in a copy of its directory on another machine; else every machine sees the directory."""
    variables: tuple[str, ...] = ()
    """Environment variables that reaching it needs; the processes of sessions are given them."""

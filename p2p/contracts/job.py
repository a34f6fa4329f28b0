"""What a backend executes. A job is a directory; whoever started it may die."""

from enum import StrEnum

from pydantic import Field

from p2p.contracts.base import Contract


class JobState(StrEnum):
    """The life of a job. The last five are final, except that a lost job may be submitted again."""

    QUEUED = "queued"
    """Its supervisor waits for cores."""
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
        """True when nothing more will happen by itself."""
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
    niceness: int = Field(default=0, ge=0, le=19)
    """How far it gives way to other processes, as nice(1) counts."""


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
    waits_for: tuple[str, ...] = ()
    """Directories of the jobs that own the cores it waits for."""
    place: int | None = None
    """Place among those that wait for cores of this machine, from 1; None when it does not wait."""

    @property
    def over_a_limit(self) -> bool:
        """True when its supervisor ended it because it broke a limit; it would again."""
        return self.state is JobState.FAILED and (self.error or "").startswith(LIMIT_BROKEN)


class Capacity(Contract):
    """How many jobs a backend takes at a time without slowing one another."""

    runs: int
    """At least 1."""
    cores: int
    """Of all its machines together, at least 1."""
    cores_per_run: int
    """That one job could use, at least 1."""

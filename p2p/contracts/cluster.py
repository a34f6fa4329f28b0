"""Clusters: machines behind a scheduler of their own, which decides where and when a job runs."""

from pydantic import Field, JsonValue

from p2p.contracts.base import Contract, MachineName


class Cluster(Contract):
    """A scheduler, and what each run is given by it (`clusters.json`)."""

    name: MachineName
    kind: str
    """Backend: "slurm", "ray" or "k8s"."""
    options: dict[str, JsonValue] = {}
    """Options of this kind of scheduler, such as a partition or a namespace."""
    variables: dict[str, str] = {}
    """Environment variables of the scheduler's own commands, such as SLURM_CONF where that is not the usual one."""
    python: str | None = None
    """Interpreter on the cluster's machines that has p2p; None takes the one that runs p2p here."""
    setup: tuple[str, ...] = ()
    """Shell lines run before it, such as "module load python/3.11"."""
    wrapper: str = ""
    """Shell words before the interpreter, such as "apptainer exec --nv p2p.sif"."""
    memory_mb: int = Field(default=4000, ge=500)
    """Memory asked for, for each run [MiB]."""
    cores: int = Field(default=1, ge=1)
    """Cores of each run."""
    gpus: int = Field(default=0, ge=0)
    """GPUs of each run."""
    time_limit_min: int | None = Field(default=None, ge=1)
    """Longest time of one run [min]; a run that reaches it is submitted again and goes on. None takes the cluster's."""
    max_runs: int = Field(default=1000, ge=1)
    """Runs that are handed to the scheduler at a time; it decides how many of them run."""
    settle_s: float = Field(default=5.0, ge=0.0, le=600.0)
    """How long a shared file system may take to show what was written on another machine [s]."""

    @property
    def backend(self) -> str:
        """What `--backend` calls it: "slurm:lab", or "slurm" for one with default settings."""
        return self.kind if self.name == self.kind else f"{self.kind}:{self.name}"


class PlacedJob(Contract):
    """How a job was handed to a scheduler (`placed.json` in the job's directory)."""

    backend: str
    """Backend as it was named: "slurm", "slurm:lab"."""
    token: str = Field(pattern=r"^[0-9a-f]{8}$")
    """Of this submission: a start that belongs to an earlier one does nothing."""
    cores: int = Field(ge=1)
    submitted: bool = False
    """Whether the scheduler has confirmed that it has the job."""
    cancelled: bool = False
    """Whether a person wanted its end; what a scheduler interrupts begins again."""
    over_since: float | None = None
    """When the scheduler was first seen to have let it go [s since 1970]; None while it has it."""
    ended: bool = False
    """Whether `status.json` holds what was concluded from that."""

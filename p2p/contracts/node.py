"""Machines: the checks of this one, and others reached by SSH."""

from enum import StrEnum

from pydantic import Field

from p2p.contracts.base import Contract, MachineName
from p2p.contracts.cluster import Cluster
from p2p.contracts.job import JobStatus


class CheckLevel(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARNING = "warning"
    """Something works less well without it."""
    PROBLEM = "problem"
    """Training is not possible."""


class SetupCheck(Contract):
    """One thing p2p looked at."""

    name: str
    level: CheckLevel
    found: str
    remedy: str = ""
    """What to do; empty when nothing."""


class SetupReport(Contract):
    """All of them."""

    checks: tuple[SetupCheck, ...]

    @property
    def usable(self) -> bool:
        """True when training is possible."""
        return all(check.level is not CheckLevel.PROBLEM for check in self.checks)


class NodeFacts(Contract):
    """What a node was found to have."""

    root: str
    """Absolute directory there that holds everything of p2p."""
    interpreter: str
    """The Python that environments are built from."""
    python_version: str
    architecture: str
    """As `uname -m` says it: "x86_64", "aarch64"."""
    cores: int
    """That may be used, at least 1."""
    memory_mb: int | None = None
    """In all [MiB]; None where it cannot be told."""
    memory_free_mb: int | None = None
    """When it was looked at [MiB]."""
    disk_free_mb: int = 0
    """On the disk of `root` [MiB]."""
    gpus: tuple[str, ...] = ()
    """Their names."""
    measured_at: str
    """UTC, ISO 8601."""


class Node(Contract):
    """A machine that is reached by SSH."""

    name: MachineName
    host: str = Field(min_length=1)
    port: int = Field(default=22, ge=1, le=65535)
    user: str | None = None
    """None takes the name of the user who runs p2p."""
    key_file: str | None = None
    """Private key on this machine; it is never sent."""
    allow_agent: bool = False
    """Whether the keys of the SSH agent are tried; the agent itself is never forwarded."""
    look_for_keys: bool = False
    """Whether the keys in ~/.ssh are tried."""
    directory: str = ".p2p"
    """Where p2p keeps its files there; relative to the home directory, or absolute."""
    python: str | None = None
    """Interpreter there whose packages are used; None has p2p install its own."""
    extras: tuple[str, ...] = ("train",)
    """Optional dependencies of p2p that are installed there."""
    max_runs: int | None = Field(default=None, ge=1)
    """Runs at a time; None takes one per core, as far as memory goes."""
    timeout_s: float = Field(default=10.0, gt=0.0, le=600.0)
    """How long the node may be silent before it counts as unreachable [s]."""
    cluster: Cluster | None = None
    """Scheduler there that trainings are handed to, where it is the login node of a cluster; None runs them itself."""
    facts: NodeFacts | None = None
    """None before it was first looked at."""

    @property
    def address(self) -> str:
        """user@host:port."""
        at = f"{self.user}@" if self.user else ""
        return f"{at}{self.host}" if self.port == 22 else f"{at}{self.host}:{self.port}"


class HostKey(Contract):
    """The key by which a machine proves who it is."""

    kind: str
    """As "ssh-ed25519"."""
    fingerprint: str
    """ "SHA256:…", as ssh-keygen -l prints it."""
    trusted: bool
    """Whether it is the one that was trusted."""


class NodeState(StrEnum):
    """How a node stands."""

    READY = "ready"
    """A run could start there now."""
    NOT_READY = "not ready"
    """It answers, and lacks something."""
    UNREACHABLE = "unreachable"


class NodeView(Contract):
    """A node, and how it stands."""

    node: Node
    state: NodeState | None = None
    """None when it was not asked."""
    problem: str = ""
    """What it lacks, and what to do."""
    jobs: int = 0
    """Jobs of this runs directory that are there and have not ended."""


class ClusterView(Contract):
    """A cluster, and how it stands."""

    cluster: Cluster
    backend: str
    """What `--backend` calls it."""
    state: NodeState | None = None
    """None when its scheduler was not asked."""
    problem: str = ""
    """What it lacks, and what to do."""
    sandbox: str | None = None
    """How far its machines confine a training; None before it was checked."""
    jobs: int = 0
    """Jobs of this runs directory that are there and have not ended."""


class StoppedCluster(Contract):
    """What of a cluster was ended."""

    cluster: str
    stopped: str
    """What p2p had started for it on this machine, and is ended now; empty when nothing of it ran."""
    interrupted: tuple[str, ...] = ()
    """Directories of this runs directory's trainings that were interrupted by that."""


class RemoteJob(Contract):
    """Where the remote directory of a job is (`remote.json` in the job's directory)."""

    node: str
    path: str
    """Absolute directory on the node."""
    number: int = Field(default=1, ge=1)
    """How many times the job has been submitted; the node starts each number once."""
    submitted: bool = False
    """Whether the node has confirmed that it started this number."""
    ended: JobStatus | None = None
    """How this number ended, once all its files have come back."""
    seal: str = ""
    """Proves that this user wrote `node` and `path`: a copied session may name any directory of a node."""

"""Confinement of the worker and of generated code by the operating system."""

from enum import StrEnum

from p2p.contracts.base import Contract


class SandboxLevel(StrEnum):
    """What this machine can do, the strongest first."""

    STRICT = "strict"
    """Landlock and seccomp: the worker sees only its own files, generated code only its numbers."""
    LANDLOCK = "landlock"
    """Files as in `strict`; system calls are not filtered."""
    BWRAP = "bwrap"
    """No Landlock: the worker runs in namespaces that bubblewrap makes."""
    RLIMITS = "rlimits"
    """Only an empty environment, closed descriptors and limits of resources: files are not protected."""

    @property
    def is_weak(self) -> bool:
        """True if generated code needs permission to run."""
        return self in (SandboxLevel.BWRAP, SandboxLevel.RLIMITS)


class SandboxReport(Contract):
    """What a probe of this machine found."""

    level: SandboxLevel
    landlock_abi: int
    """Version of Landlock; 0 when the kernel offers none."""
    seccomp: bool
    """Whether system calls are filtered."""
    missing: tuple[str, ...] = ()
    """What would make it stronger, in words."""

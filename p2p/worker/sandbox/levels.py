"""Available confinement of processes on this machine."""

import os
import sys
from functools import cache
from pathlib import Path

from p2p.contracts.errors import EnvironmentProblem
from p2p.contracts.remedies import Remedy
from p2p.contracts.sandbox import SandboxLevel, SandboxReport
from p2p.store.job_records import save_sandbox_report
from p2p.worker.sandbox import bubblewrap, landlock, seccomp

ALLOW_WEAK = "P2P_ALLOW_WEAK_SANDBOX"
"""Variable: 1 runs generated code also where the level is below `landlock`."""
YES = ("1", "true", "yes", "on")
SIGNALS_SINCE = 6

_current: list[SandboxLevel] = []


@cache
def probe() -> SandboxReport:
    """Probe this machine without confining anything."""
    if sys.platform != "linux":
        need = f"Linux, whose kernel confines processes; on {sys.platform} there are limits of memory alone"
        return SandboxReport(level=SandboxLevel.RLIMITS, landlock_abi=0, seccomp=False, missing=(need,))
    abi = landlock.abi()
    filters = seccomp.is_available()
    missing = []
    if not abi:
        missing.append("Landlock: a kernel from Linux 5.13 on with 'landlock' in its list of security modules (lsm=)")
    elif abi < SIGNALS_SINCE:
        missing.append(f"Landlock from ABI {SIGNALS_SINCE} on (Linux 6.12), which keeps signals inside; here is {abi}")
    if not filters:
        missing.append("seccomp: a kernel with CONFIG_SECCOMP_FILTER, on x86_64 or aarch64")
    inside = bool(os.environ.get(bubblewrap.INSIDE))
    if abi:
        level = SandboxLevel.STRICT if filters else SandboxLevel.LANDLOCK
    elif inside or bubblewrap.works():
        level = SandboxLevel.BWRAP
    else:
        level = SandboxLevel.RLIMITS
        missing.append("bubblewrap, the second choice: the program bwrap, where user namespaces are allowed")
    return SandboxReport(level=level, landlock_abi=abi, seccomp=filters, missing=tuple(missing))


def report(job_dir: Path) -> None:
    """Verb `sandbox`: write this machine's report into `result.json`."""
    save_sandbox_report(job_dir, probe())


def require_strength(level: SandboxLevel) -> None:
    """Refuse to run generated code in a weak sandbox, unless allowed.

    Raises:
        EnvironmentProblem: it was not.
    """
    if level.is_weak and os.environ.get(ALLOW_WEAK, "").lower() not in YES:
        raise EnvironmentProblem(
            f"This machine cannot confine generated code well: its sandbox level is {level}, and at least "
            f"{SandboxLevel.LANDLOCK} is needed. Missing: {'; '.join(probe().missing)}. "
            f"To run it anyway: {Remedy.ALLOW_WEAK_SANDBOX.of()}"
        )


def remember(level: SandboxLevel) -> None:
    """Record this process's confinement."""
    _current[:] = [level]


def current() -> SandboxLevel | None:
    """Confinement of this process; None without one."""
    return _current[0] if _current else None

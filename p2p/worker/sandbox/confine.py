"""Confine a process with p2p's own code before it loads anything heavy: contains mistakes in it or in a library."""

import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from p2p.contracts.errors import EnvironmentProblem
from p2p.contracts.remedies import Remedy
from p2p.contracts.sandbox import SandboxLevel
from p2p.worker.sandbox import bubblewrap, capabilities, file_rules, landlock, levels, limits, scrub, seccomp

SCRATCH = ".tmp"
"""Directory of a job for what programs leave behind: it is their home, and goes with the process."""


def confine(writable: Sequence[Path], readable: Sequence[Path] = ()) -> SandboxLevel:
    """Restrict this process and its children to these files and Python's own; no network, no privileges.

    To be called while there is one thread. Descriptors above 2 are closed, the environment is emptied.

    Args:
        writable: Directories it may write in, the one of its job first.
        readable: Directories and files it may read too.

    Raises:
        EnvironmentProblem: the kernel offers its sandbox, and refused it.
    """
    report = levels.probe()
    scratch = fresh_scratch(writable[0])
    scrub.close_descriptors()
    environment = scrub.clean_environment(os.environ, scratch)
    _bring_fonts(scratch)
    rules = file_rules.rules(writable, readable)
    try:
        if report.level is SandboxLevel.BWRAP and not os.environ.get(bubblewrap.INSIDE):
            bubblewrap.enter(rules, environment)
        scrub.replace_environment(environment)
        limits.apply()
        if sys.platform == "linux":
            # Root keeps the right to write others' files if its job directory is one (a mounted volume, say).
            foreign = any(path.stat().st_uid != os.geteuid() for path in writable if path.exists())
            capabilities.drop(keep=frozenset({capabilities.DAC_OVERRIDE}) if foreign else frozenset())
        if report.landlock_abi:
            landlock.restrict(rules)
        if report.seccomp:
            seccomp.install(seccomp.deny_list())
    except OSError as error:
        raise EnvironmentProblem(
            f"The sandbox of this process cannot be set up: {error}. See: {Remedy.CHECK_SETUP.of()}"
        ) from error
    levels.remember(report.level)
    return report.level


def forbid_processes() -> None:
    """Forbid a confined process to start others; running ones are unaffected.

    Nothing happens in one that is not confined, and where system calls are not filtered.

    Raises:
        EnvironmentProblem: the kernel offers its sandbox, and refused it.
    """
    if levels.current() is None or not levels.probe().seccomp:
        return
    try:
        seccomp.install(seccomp.no_processes())
    except OSError as error:
        raise EnvironmentProblem(
            f"The sandbox of this process cannot be set up: {error}. See: {Remedy.CHECK_SETUP.of()}"
        ) from error


def fresh_scratch(job_dir: Path) -> Path:
    """Replace the job's scratch directory by an empty one.

    Raises:
        EnvironmentProblem: it cannot be made.
    """
    scratch = job_dir / SCRATCH
    shutil.rmtree(scratch, ignore_errors=True)
    try:
        scratch.mkdir(mode=0o700)
    except OSError as error:
        raise EnvironmentProblem(
            f"Cannot make {scratch}: {error.strerror}. The worker needs to write there."
        ) from error
    return scratch


def remove_scratch(job_dir: Path) -> None:
    """Remove temporary files."""
    shutil.rmtree(job_dir / SCRATCH, ignore_errors=True)


def _bring_fonts(scratch: Path) -> None:
    """Copy matplotlib's list of fonts, which takes half a second to make, from where the user has it."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME") or "/nonexistent") / ".cache"
    set_to = os.environ.get("MPLCONFIGDIR")
    for directory in (*([Path(set_to)] if set_to else []), Path(caches) / "matplotlib"):
        for listing in directory.glob("fontlist-*.json"):
            with suppress(OSError):
                shutil.copyfile(listing, scratch / listing.name)
            return

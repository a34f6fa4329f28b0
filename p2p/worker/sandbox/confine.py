"""Confines a process that runs p2p's own code, before it loads anything heavy: a mistake in it, or in a library, stays
where it happens."""

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from p2p.contracts.errors import EnvironmentProblem
from p2p.contracts.sandbox import SandboxLevel
from p2p.worker.sandbox import bubblewrap, capabilities, landlock, levels, limits, macos, places, scrub, seccomp

SCRATCH = ".tmp"
"""Directory of a job for what programs leave behind: it is their home, and goes with the process."""


def confine(writable: Sequence[Path], readable: Sequence[Path] = ()) -> SandboxLevel:
    """Leave this process, and those it will start, these files and what python needs; no network, no privileges.

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
    rules = places.rules(writable, readable)
    try:
        if report.level is SandboxLevel.BWRAP and not os.environ.get(bubblewrap.INSIDE):
            bubblewrap.enter(rules, environment)
        scrub.replace_environment(environment)
        limits.apply()
        if sys.platform == "darwin":
            macos.confine([*writable], [*rules])
        else:
            capabilities.drop(keep=_needed(writable))
            if report.landlock_abi:
                landlock.restrict(rules)
            if report.seccomp:
                seccomp.install(seccomp.deny_list())
    except OSError as error:
        raise EnvironmentProblem(f"The sandbox of this process cannot be set up: {error}. See: p2p doctor") from error
    levels.remember(report.level)
    return report.level


def forbid_processes() -> None:
    """Take from a process that is confined the right to start others; those that run are not touched.

    Nothing happens in one that is not confined, and where system calls are not filtered.

    Raises:
        EnvironmentProblem: the kernel offers its sandbox, and refused it.
    """
    if levels.current() is None or not levels.probe().seccomp:
        return
    try:
        seccomp.install(seccomp.no_processes())
    except OSError as error:
        raise EnvironmentProblem(f"The sandbox of this process cannot be set up: {error}. See: p2p doctor") from error


def fresh_scratch(job_dir: Path) -> Path:
    """An empty directory in the job's, in place of one that an earlier process left.

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
    """Remove what programs left behind."""
    shutil.rmtree(job_dir / SCRATCH, ignore_errors=True)


def _needed(writable: Sequence[Path]) -> frozenset[int]:
    """Root keeps the right to write files of others when its own job directory is such (a mounted volume, say)."""
    foreign = any(path.stat().st_uid != os.geteuid() for path in writable if path.exists())
    return frozenset({capabilities.DAC_OVERRIDE}) if foreign else frozenset()


def _bring_fonts(scratch: Path) -> None:
    """Copy matplotlib's list of fonts, which takes half a second to make, from where the user has it."""
    for directory in _font_caches():
        for listing in directory.glob("fontlist-*.json"):
            with suppress(OSError):
                shutil.copyfile(listing, scratch / listing.name)
            return


def _font_caches() -> Iterator[Path]:
    if set_to := os.environ.get("MPLCONFIGDIR"):
        yield Path(set_to)
    caches = os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME") or "/nonexistent") / ".cache"
    yield Path(caches) / "matplotlib"

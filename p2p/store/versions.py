"""Versions of sessions, runs and jobs, from the times and lengths of their files alone: no file is opened.

A version differs from the one before when files were replaced or have grown. That a process has died changes no file.
"""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from p2p.store import layout


def session_version(runs_dir: Path, session_id: str) -> str:
    """Version of a session's own files: its directory, its log, and the videos made after its end."""
    place = f"{runs_dir}/{session_id}"
    return _version(place, f"{place}/{layout.EVENTS}", f"{place}/{layout.FILM}/{layout.STATUS}")


def run_versions(runs_dir: Path, session_id: str, iteration: int) -> dict[str, str]:
    """Version of each training of an iteration, by name; of candidates for its reward too."""
    place = f"{runs_dir}/{session_id}/{layout.iteration_name(iteration)}"
    found = {}
    for folder in ["", *(f"{name}/" for name in _names(place) if layout.CANDIDATE.fullmatch(name))]:
        for name in _names(f"{place}/{folder}"):
            if layout.RUN.fullmatch(name):
                run = f"{place}/{folder}{name}"
                files = (f"{layout.METRICS}/{layout.SCALARS}", layout.STATUS, layout.TRAJECTORIES, layout.VIDEOS)
                found[name] = _version(run, *(f"{run}/{file}" for file in files))
    return found


def job_versions(runs_dir: Path) -> dict[str, str]:
    """Version of each background job, by id; a job that drives a session also changes with the session."""
    place = f"{runs_dir}/{layout.JOBS}"
    return {
        name: _version(f"{place}/{name}", f"{place}/{name}/{layout.STATUS}")
        for name in _names(place)
        if name.startswith("job_") and layout.IDENTIFIER.fullmatch(name)
    }


def suite_run_versions(runs_dir: Path) -> dict[str, str]:
    """Version of each run of a suite, by name; it also changes with its sessions."""
    place = f"{runs_dir}/{layout.BENCHMARK}"
    return {
        name: _version(f"{place}/{name}", f"{place}/{name}/{layout.DRIVER}/{layout.STATUS}")
        for name in _names(place)
        if layout.IDENTIFIER.fullmatch(name)
    }


def listing(runs_dir: Path) -> tuple[frozenset[str], ...]:
    """Names of what lies in a runs directory, in its jobs, and in its runs of suites."""
    places = (str(runs_dir), f"{runs_dir}/{layout.JOBS}", f"{runs_dir}/{layout.BENCHMARK}")
    return tuple(frozenset(name for name in _names(place) if layout.IDENTIFIER.fullmatch(name)) for place in places)


def directory_times(path: str) -> tuple[int, int]:
    """Time of the last change of a directory's entries and its inode; zeros where there is none, or a link."""
    try:
        status = os.stat(path, follow_symlinks=False)  # noqa: PTH116  a thousand times for each list
    except OSError:
        return 0, 0
    return (status.st_mtime_ns, status.st_ino) if stat.S_ISDIR(status.st_mode) else (0, 0)


def _version(*paths: str) -> str:
    return ".".join(_state(path) for path in paths)


def _state(path: str) -> str:
    try:
        status = os.stat(path, follow_symlinks=False)  # noqa: PTH116
    except OSError:
        return ""
    return f"{status.st_mtime_ns:x}-{status.st_size:x}-{status.st_ino:x}"


def _names(directory: str) -> Iterable[str]:
    try:
        return sorted(os.listdir(directory))  # noqa: PTH208  fast
    except OSError:
        return ()

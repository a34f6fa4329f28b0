"""Setup check of this machine: present and missing parts."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from p2p import config_file
from p2p.contracts.errors import MissingExtra, P2PError
from p2p.contracts.node import CheckLevel, SetupCheck, SetupReport
from p2p.contracts.remedies import Remedy
from p2p.contracts.session import SessionStatus
from p2p.scheduler import resources
from p2p.service.jobs import packages
from p2p.service.jobs.worker_jobs import probe_directory, run_to_end
from p2p.service.machines.clusters import list_clusters
from p2p.service.machines.sandbox_check import sandbox_check
from p2p.service.progress.listing import list_rows
from p2p.service.workspace import Workspace
from p2p.settings import exposed_keys, keys_present
from p2p.store.iterations import IterationRecord

MIN_PYTHON = (3, 11)
JOB_MEMORY_MB = 500
"""What one training takes, generously."""
SESSION_DISK_MB = 200
TIGHT_DISK_MB = 2000
"""Less than the first is too little for one session, less than the second for a few."""


def check_setup(ws: Workspace) -> SetupReport:
    """Check packages, renderers, sandbox, cores, memory, disk and keys (takes seconds, leaves no files)."""
    directory = ws.runs.path
    version = f"{sys.version.split()[0]} ({sys.executable})"
    python = SetupCheck(name="python", level=CheckLevel.OK, found=version)
    if sys.version_info < MIN_PYTHON:
        remedy = "Install Python 3.11 or newer."
        python = SetupCheck(name="python", level=CheckLevel.PROBLEM, found=version, remedy=remedy)
    checks = [
        python,
        *packages.checks(),
        _renderer(ws),
        sandbox_check(ws.backend, ws.settings.allow_weak_sandbox),
        _ffmpeg(),
        *_machine(directory),
        _writable(directory),
    ]
    interrupted = [row.session_id for row in list_rows(ws) if row.status is SessionStatus.INTERRUPTED]
    if interrupted:
        found = f"{len(interrupted)} interrupted: {', '.join(interrupted[:3])}{' …' if len(interrupted) > 3 else ''}"
        remedy = f"To go on with all of them: {Remedy.RESUME_ALL.of()}"
        checks.append(SetupCheck(name="sessions", level=CheckLevel.WARNING, found=found, remedy=remedy))
    for name, present in keys_present().items():
        found = "set" if present else "not set; the built-in author needs none"
        checks.append(SetupCheck(name=name, level=CheckLevel.OK, found=found))
    checks += _config_file()
    if nodes := ws.node_store.all():  # they are not connected to
        names = ", ".join(name if node.facts else f"{name} (not prepared)" for name, node in sorted(nodes.items()))
        found = f"{names}; to ask them: {Remedy.CHECK_NODES.of()}"
        checks.append(SetupCheck(name="nodes", level=CheckLevel.OK, found=found))
    for view in list_clusters(ws):  # their schedulers are not asked
        cluster = SetupCheck(
            name="cluster",
            level=CheckLevel.WARNING if view.problem else CheckLevel.OK,
            found=f"{view.backend}; {view.problem or 'to run a job of one second there:'}",
            remedy=Remedy.CHECK_CLUSTER.of(cluster=view.cluster.name),
        )
        checks.append(cluster)
    return SetupReport(checks=tuple(checks))


def require_training(ws: Workspace) -> None:
    """Refuse early if the first training job could only fail.

    Raises:
        MissingExtra: a package that training needs is not installed.
        UnknownName, InvalidInput, EnvironmentProblem: trainings are to run on a node that is not known or prepared.
    """
    require_packages()
    ws.training_backend.capacity(JOB_MEMORY_MB)


def require_packages() -> None:
    """Refuse a training here if a required package is missing.

    Raises:
        MissingExtra: it is not installed.
    """
    if (module := packages.missing_module()) is not None:
        raise MissingExtra(module, packages.EXTRA)


def _renderer(ws: Workspace) -> SetupCheck:
    if find_spec("mujoco") is None:
        return SetupCheck(name="renderer", level=CheckLevel.WARNING, found="not looked at: mujoco is not installed")
    with probe_directory() as scratch:
        try:
            run_to_end(ws.backend, "probe", scratch)
        except P2PError as error:
            remedy = "Trainings run without it; set P2P_RENDERER=raycast to use the built-in renderer."
            return SetupCheck(name="renderer", level=CheckLevel.WARNING, found=str(error), remedy=remedy)
        report = IterationRecord(scratch).read_renderer_report()
    if report is None:
        return SetupCheck(name="renderer", level=CheckLevel.WARNING, found="the probe left no answer")
    if report.chosen == "none":
        found = "none, as P2P_RENDERER asks: reports come without pictures"
        return SetupCheck(name="renderer", level=CheckLevel.OK, found=found, remedy="Unset it to get pictures.")
    if report.chosen != "raycast":
        return SetupCheck(name="renderer", level=CheckLevel.OK, found=f"{report.chosen} (OpenGL without a display)")
    failures = "; ".join(f"{name}: {reason}" for name, reason in report.failures.items())
    return SetupCheck(
        name="renderer",
        level=CheckLevel.OK,
        found=f"raycast, the built-in renderer{f' ({failures})' if failures else ''}",
        remedy="Nothing is needed; libegl1 or libosmesa6 would add OpenGL pictures.",
    )


def _ffmpeg() -> SetupCheck:
    """ffmpeg binary of imageio-ffmpeg or its replacement, found without importing or running it."""
    if set_to := os.environ.get("IMAGEIO_FFMPEG_EXE"):
        return _found_ffmpeg(Path(set_to) if Path(set_to).is_file() else None)
    spec = find_spec("imageio_ffmpeg")
    places = spec.submodule_search_locations if spec is not None else None
    bundled = sorted(path for place in places or () for path in Path(place).glob("binaries/ffmpeg-*"))
    own = shutil.which("ffmpeg")
    return _found_ffmpeg(bundled[0] if bundled else Path(own) if own else None)


def _found_ffmpeg(path: Path | None) -> SetupCheck:
    if path is None:
        remedy = "For videos run: pip install 'imageio[ffmpeg]'; a training does not need it."
        return SetupCheck(name="ffmpeg", level=CheckLevel.WARNING, found="not found", remedy=remedy)
    return SetupCheck(name="ffmpeg", level=CheckLevel.OK, found=str(path))


def _machine(directory: Path) -> Iterator[SetupCheck]:
    here = resources.measure(directory)
    yield SetupCheck(name="cores", level=CheckLevel.OK, found=f"{here.cores} usable")
    if here.memory_mb is not None and here.memory_free_mb is not None:
        tight = here.memory_free_mb < JOB_MEMORY_MB
        yield SetupCheck(
            name="memory",
            level=CheckLevel.WARNING if tight else CheckLevel.OK,
            found=f"{here.memory_free_mb:,} MiB free of {here.memory_mb:,} MiB",
            remedy="Close other programs, or train one run at a time: P2P_MAX_PARALLEL=1." if tight else "",
        )
    free = here.disk_free_mb
    level = (
        CheckLevel.PROBLEM if free < SESSION_DISK_MB else CheckLevel.WARNING if free < TIGHT_DISK_MB else CheckLevel.OK
    )
    yield SetupCheck(
        name="disk",
        level=level,
        found=f"{free:,} MiB free for {directory}",
        remedy=""
        if level is CheckLevel.OK
        else f"Free some space, or choose another place: {Remedy.CHOOSE_RUNS_DIR.of()}",
    )


def _writable(directory: Path) -> SetupCheck:
    """Whether sessions can be saved in a directory, tested with an unnamed file in it or its nearest parent."""
    existing = next(path for path in (directory, *directory.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        remedy = f"Choose another place: {Remedy.CHOOSE_RUNS_DIR.of()}"
        found = f"{directory} cannot be written: {error.strerror or error}"
        return SetupCheck(name="runs directory", level=CheckLevel.PROBLEM, found=found, remedy=remedy)
    return SetupCheck(name="runs directory", level=CheckLevel.OK, found=f"{directory} can be written")


def _config_file() -> Iterator[SetupCheck]:
    path = config_file.location()
    if not path.is_file():
        found = f"none at {path}; it would hold keys for programs that start without a shell"
        yield SetupCheck(name="configuration", level=CheckLevel.OK, found=found)
    elif problem := exposed_keys():
        yield SetupCheck(name="configuration", level=CheckLevel.WARNING, found=problem, remedy=f"Run: chmod 600 {path}")
    else:
        yield SetupCheck(name="configuration", level=CheckLevel.OK, found=str(path))

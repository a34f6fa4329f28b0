"""The clock set two hours ahead and back, under a server with live jobs and under a training.

libfaketime shows a process another time than that of the machine, and another again whenever its file says so. Files
keep the times of the machine, as they do when somebody sets the clock.
"""

import importlib.util
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

from findings import Findings
from killed_processes import LONG
from small_sessions import accepted_session
from stdio_client import StdioClient
from watching import left, until

from p2p.contracts.job import JobState
from p2p.contracts.session import SessionStatus
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.iterations import IterationRecord

JUMPS = ("+2h", "-2h", "+0")
INPUTS = ("config.json", "env_spec.json", "criteria.json", "reward_fn.py")
WAIT_S = 1.0


def clock_jumps(count: int, place: Path) -> Findings:
    """`count` jumps under a server, and some under a training."""
    findings = Findings()
    library = _library()
    if library is None:
        findings.skipped = "it needs pip install libfaketime"
        return findings
    findings.watch_for("live jobs called dead", "waits of a wrong length", "wrong durations", "processes left")
    place.mkdir(parents=True)
    clock = place / "clock"
    clock.write_text("+0")
    variables = {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "NO_FAKE_STAT": "1",
    }
    _under_a_server(count, place, clock, variables, findings)
    _under_a_training(place, variables, findings)
    for pid in left(place):
        findings.went_wrong("processes left", str(pid))
    return findings


def _library() -> Path | None:
    """That of the Python package: version 0.9.10, which distributions have, breaks every sleep of Python 3.11."""
    package = importlib.util.find_spec("libfaketime")
    places = package.submodule_search_locations if package is not None else None
    return next((path for place in places or () for path in Path(place).rglob("libfaketime.so.1")), None)


def _under_a_server(count: int, place: Path, clock: Path, variables: dict[str, str], findings: Findings) -> None:
    ws, dice = Workspace(Settings(runs_dir=place)), random.Random(0)
    with StdioClient(place, variables) as server:
        server.greet()
        trained = accepted_session(ws, LONG)
        running = server.call("train_iteration", session_id=trained)["job_id"]
        until(lambda: server.call("get_job", job_id=running)["step"] > 0, 120, pause_s=0.2)
        waiting = None
        for number in range(count):
            clock.write_text(jump := JUMPS[number % len(JUMPS)])
            if waiting is None or dice.random() < 0.2:
                if waiting is not None:
                    server.call("cancel_job", job_id=waiting)
                waiting = server.call("train_iteration", session_id=accepted_session(ws))["job_id"]
            states = {job: server.call("get_job", job_id=job) for job in (running, waiting)}
            if states[running]["state"] != JobState.RUNNING or states[waiting]["state"] != JobState.QUEUED:
                findings.went_wrong("live jobs called dead", f"{jump}: {states}")
            if (status := server.call("get_session", session_id=trained)["status"]) != SessionStatus.RUNNING:
                findings.went_wrong("live jobs called dead", f"{jump}: {trained} is said to be {status}")
            begun = time.monotonic()
            server.call("get_job", job_id=waiting, wait_seconds=WAIT_S)
            took = time.monotonic() - begun
            if not WAIT_S <= took < 10 * WAIT_S:
                findings.went_wrong("waits of a wrong length", f"{jump}: {took:.1f} s")
            findings.count("jumps under a server")
        for job in (running, waiting):
            if job is not None:
                server.call("cancel_job", job_id=job)


def _under_a_training(place: Path, variables: dict[str, str], findings: Findings) -> None:
    """A worker of its own, so that it has the variables of the other clock, which no supervisor passes on."""
    source = next(place.glob("session_*/iter_1/*_seed_*/config.json")).parent
    directory = place / "trainings" / source.name
    directory.mkdir(parents=True)
    for name in INPUTS:
        if (source / name).exists():
            shutil.copy(source / name, directory)
    run = IterationRecord(directory)
    config = run.read_config()
    assert config is not None
    run.save_config(config.model_copy(update={"total_timesteps": 100_000}))
    clock = directory / "clock"
    clock.write_text("+0")
    begun = time.monotonic()
    command = [sys.executable, "-m", "p2p.worker", "train", "."]
    told = variables | {"FAKETIME_TIMESTAMP_FILE": str(clock)}
    with subprocess.Popen(["env", *(f"{k}={v}" for k, v in told.items()), *command], cwd=directory) as worker:
        jumps = 0
        while worker.poll() is None:
            clock.write_text(JUMPS[jumps % len(JUMPS)])
            jumps += 1
            time.sleep(0.05)
    findings.count("jumps under a training", jumps)
    elapsed = time.monotonic() - begun
    summary, (rows, _) = run.read_summary(), run.parse_scalars()
    times = [row["elapsed_time"] for row in rows]
    if (
        summary is None
        or not 0 < summary.training_time_s <= elapsed
        or times != sorted(times)
        or not times
        or times[-1] > elapsed
    ):
        findings.went_wrong("wrong durations", f"{summary}, {times}, really {elapsed:.1f} s")

"""The limits of a job: each attack on the machine's resources is ended, and the job says why."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from job_helpers import until

from p2p.contracts.job import JobSpec, JobState, JobStatus
from p2p.scheduler import limits
from p2p.scheduler.backends.local import LocalBackend
from p2p.scheduler.resources import memory_mb

SHARED = """
import mmap, time
held = []
while True:
    held.append(mmap.mmap(-1, 16 << 20))
    held[-1].write(bytes(16 << 20))
    time.sleep(0.01)
"""
"""Takes memory that RLIMIT_DATA does not count."""
SHARING = """
import mmap, os, time
shared = mmap.mmap(-1, 40 << 20)
shared.write(bytes(40 << 20))
child = os.fork()
own = bytearray(b"x") * (30 << 20)
sum(shared[:: 4096])
time.sleep(1.5)
shared.close()
time.sleep(1.5)
child and os.waitpid(child, 0)
"""
"""Two processes with 30 MiB each, and 40 MiB that both have mapped for a while."""
PRIVATE = "x = bytearray(10 << 30)"
TALK = "while True: print('x' * 65536)"
FILES = """
import time
for i in range(1000):
    open(f'f{i}', 'wb').write(bytes(8 << 20))
    time.sleep(0.05)
time.sleep(60)
"""
COMPUTE = "while True: pass"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass"


def end_of(directory: Path, script: str, **allowed: int) -> JobStatus:
    backend = LocalBackend()
    backend.submit(JobSpec(argv=("{python}", "-c", script), **allowed), directory)
    until(lambda: backend.status(directory).state.finished)
    return backend.status(directory)


@pytest.mark.parametrize(
    ("script", "allowed", "says"),
    [
        pytest.param(SHARED, {"max_memory_mb": 200}, "MiB of memory", id="shared memory"),
        pytest.param(PRIVATE, {"max_memory_mb": 200}, "MemoryError", id="private memory"),
        pytest.param(TALK, {"max_log_mb": 1}, "into its log", id="endless output"),
        pytest.param(DEAF, {"max_wall_s": 1}, "ran for", id="endless loop, deaf to SIGTERM"),
        pytest.param(FILES, {"max_disk_mb": 30}, "of its directory", id="many files"),
    ],
)
def test_a_job_that_breaks_a_limit_is_ended_and_says_which(
    jobs: Path, script: str, allowed: dict[str, int], says: str
) -> None:
    status = end_of(jobs / "a", script, **allowed)
    assert status.state is JobState.FAILED
    assert says in (status.error or "")
    assert status.over_a_limit is (script != PRIVATE)


@pytest.mark.skipif(sys.platform != "linux", reason="SIGXCPU ends the process on Linux")
def test_processor_time_is_limited_by_the_kernel(jobs: Path) -> None:
    status = end_of(jobs / "a", COMPUTE, max_cpu_s=1)
    assert status.state is JobState.FAILED
    assert status.signal is not None


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_the_peak_of_memory_is_that_of_all_processes_with_what_they_share_counted_once(jobs: Path) -> None:
    status = end_of(jobs / "a", SHARING)
    assert 40 + 30 + 30 < (status.peak_memory_mb or 0) < 40 + 30 + 30 + 40


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_job_that_takes_more_than_its_share_of_the_machine_is_ended_and_says_how_to_have_more(
    jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs.mkdir()
    monkeypatch.setattr(limits, "ALWAYS_MB", 40)
    watched = limits.Limits({"max_memory_share": 1e-6}, jobs)
    greedy = subprocess.Popen([sys.executable, "-c", "import time; x = bytearray(b'x') * (60 << 20); time.sleep(60)"])
    try:
        until(lambda: watched.enforce(lambda: [greedy.pid]) or watched.broken)
        assert greedy.wait(10) == -signal.SIGKILL
    finally:
        greedy.kill()
    status = JobStatus(state=JobState.FAILED, error=watched.broken)
    assert "(max_memory_share) is 40. Set fewer n_envs or n_steps, or P2P_MAX_MEMORY_SHARE" in (status.error or "")
    assert status.over_a_limit


def test_the_memory_of_the_machine_is_that_of_its_control_group() -> None:
    assert round(limits.machine_mb()) == pytest.approx(memory_mb()[0], abs=1)


def test_a_job_within_its_limits_completes(jobs: Path) -> None:
    status = end_of(jobs / "a", "import time; time.sleep(0.7)", max_memory_mb=1000, max_log_mb=1, max_disk_mb=10)
    assert status.state is JobState.COMPLETED


@pytest.mark.parametrize("niceness", [0, 5])
def test_a_job_gives_way_as_far_as_asked(jobs: Path, niceness: int) -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    end_of(jobs / "a", "import os; print(os.getpriority(os.PRIO_PROCESS, 0))", niceness=niceness)
    assert int((jobs / "a/output.log").read_text()) == min(19, own + niceness)


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="this kernel has no autogroups")
def test_a_job_gives_way_to_other_sessions_too(jobs: Path) -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    end_of(jobs / "a", "print(open('/proc/self/autogroup').read())", niceness=5)
    assert (jobs / "a/output.log").read_text().split()[1:] == ["nice", str(min(19, own + 5))]

"""The processes themselves: the host of generated code, and a worker as its supervisor starts it."""

import os
import platform
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import EnvironmentProblem
from p2p.contracts.node import CheckLevel
from p2p.contracts.remedies import Remedy
from p2p.contracts.sandbox import SandboxLevel, SandboxReport
from p2p.contracts.training import TrainConfig
from p2p.contracts.work import CodeLimits, DescribeRequest
from p2p.service.machines.sandbox_check import described
from p2p.store.iterations import IterationRecord
from p2p.worker.code_host.host_process import HostFailed, HostProcess
from p2p.worker.sandbox import landlock, levels, strict, system_calls
from p2p.worker.sandbox.confine import SCRATCH

SWEEP = """
import ctypes
from p2p.worker.sandbox import kernel

def sweep(arrays):
    taken = []
    for number in arrays["numbers"].tolist():
        ctypes.set_errno(0)
        result = kernel._LIBC.syscall(ctypes.c_long(int(number)), *[ctypes.c_long(-1)] * 6)
        if result != -1 or ctypes.get_errno() != 1:
            taken.append(int(number))
    return {"taken": taken}
"""
"""Makes every system call with arguments that mean nothing; a refused one says EPERM (1)."""
LAST_CALL = 480
UNFILTERED = {335, 336}
"""uretprobe and uprobe of x86_64: the kernel shows them to no filter, and ends whoever makes them by SIGILL."""
CANARY = "canary-of-the-environment"
CONFINES = pytest.mark.skipif(not landlock.abi() or platform.machine() != "x86_64", reason="no Landlock, or untried")


@CONFINES
def test_the_host_of_generated_code_has_no_system_call_but_those_on_its_list() -> None:
    ours = {system_calls.number(call) for call in strict.ALLOWED} | {system_calls.number("mmap")}
    ours |= {system_calls.number("mprotect")}
    others = np.array(sorted(set(range(LAST_CALL)) - UNFILTERED - {number for number in ours if number is not None}))
    host = HostProcess("function")
    try:
        fields = {"source": SWEEP, "limits": CodeLimits().model_dump()}
        answer = host.ask("sweep", fields, {"numbers": others}, 20.0)
    finally:
        host.close()
    assert answer.fields == {"taken": []}


@pytest.mark.parametrize("end", ["os._exit(0)", "os.write(1, b'done') and os._exit(0)"])
def test_code_that_ends_its_process_with_0_has_not_answered(end: str) -> None:
    host = HostProcess("function")
    fields = {"source": f"import os\ndef f(arrays):\n    {end}", "limits": CodeLimits().model_dump()}
    with pytest.raises(HostFailed, match="without an answer, with exit code 0"):
        host.ask("f", fields, {}, 20.0)


def worker(verb: str, directory: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    command = [sys.executable, "-m", "p2p.worker", verb, str(directory)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=env)


def test_a_verb_works_confined_and_leaves_nothing_but_its_answer(tmp_path: Path) -> None:
    record = IterationRecord(tmp_path)
    (tmp_path / SCRATCH).mkdir()
    (tmp_path / SCRATCH / "left").write_text("by a worker that was killed")
    record.save_describe_request(DescribeRequest(env_id="Hopper-v5"))
    done = worker("describe", tmp_path, ANTHROPIC_API_KEY=CANARY)
    assert (done.returncode, done.stderr) == (0, "")
    assert record.read_env_spec() is not None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["env_spec.json", "request.json"]
    assert all(CANARY not in path.read_text() for path in tmp_path.iterdir())


ALL_STARTED = """
import os, subprocess, sys, threading
from pathlib import Path
from p2p.worker.sandbox import confine

def refused(call):
    try:
        call()
    except PermissionError:
        return
    raise SystemExit(f"{call} was made")

confine.forbid_processes()
subprocess.run(["true"], check=True)  # it is not confined, and nothing was forbidden
confine.confine([Path(sys.argv[1])])
child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
confine.forbid_processes()
for call in (os.fork, lambda: subprocess.run(["true"]), lambda: os.posix_spawn("/bin/true", ["true"], {})):
    refused(call)
refused(lambda: os.execv("/bin/true", ["true"]))
heard = []
thread = threading.Thread(target=lambda: heard.append(child.communicate(b"still there")[0]))
thread.start()
thread.join()
print(heard[0].decode(), child.wait())
"""


@CONFINES
def test_a_training_whose_children_run_can_start_threads_and_nothing_else(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ALL_STARTED, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == ("still there 0\n", "")


def filters_of(pid: int) -> int:
    """How many filters of system calls a process has; 0 when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Seccomp_filters")), 0)


@CONFINES
@pytest.mark.slow
def test_a_run_says_how_it_was_confined_and_holds_no_key(tmp_path: Path, cheetah: EnvSpec, class_reward: str) -> None:
    record = IterationRecord(tmp_path)
    record.save_config(TrainConfig(total_timesteps=512, n_envs=4, num_evals=1, n_eval_episodes=3, episode_s=1.0))
    record.save_env_spec(cheetah)
    record.save_reward_source(class_reward)
    command = [sys.executable, "-m", "p2p.worker", "train", str(tmp_path)]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "P2P_THREADS": "2", "ANTHROPIC_API_KEY": CANARY}
    process, ended, filters = subprocess.Popen(command, env=env), threading.Event(), {0}
    while process.poll() is None:
        filters.add(filters_of(process.pid))
        ended.wait(0.01)
    assert process.returncode == 0
    assert max(filters) == 2, "when its children run it may start no more"
    summary = record.read_summary()
    assert summary is not None
    assert summary.sandbox is SandboxLevel.STRICT
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(CANARY.encode() not in path.read_bytes() for path in files)


@pytest.mark.parametrize(
    ("level", "allowed", "expected"),
    [
        (SandboxLevel.STRICT, False, CheckLevel.OK),
        (SandboxLevel.LANDLOCK, False, CheckLevel.WARNING),
        (SandboxLevel.BWRAP, False, CheckLevel.PROBLEM),
        (SandboxLevel.RLIMITS, False, CheckLevel.PROBLEM),
        (SandboxLevel.RLIMITS, True, CheckLevel.WARNING),
    ],
)
def test_doctor_tells_the_level_and_what_to_do(level: SandboxLevel, allowed: bool, expected: CheckLevel) -> None:
    check = described(SandboxReport(level=level, landlock_abi=0, seccomp=True, missing=("Landlock",)), allowed)
    assert check.level is expected
    assert check.found.startswith(f"{level} (no Landlock, seccomp)")
    assert (Remedy.ALLOW_WEAK_SANDBOX.of() in check.remedy) is (expected is CheckLevel.PROBLEM)


@pytest.mark.parametrize("said", ["", "0", "no"])
def test_a_weak_level_is_refused_unless_the_variable_says_yes(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(levels.ALLOW_WEAK, said)
    with pytest.raises(EnvironmentProblem, match=Remedy.ALLOW_WEAK_SANDBOX.of()):
        levels.require_strength(SandboxLevel.RLIMITS)
    levels.require_strength(SandboxLevel.LANDLOCK)
    monkeypatch.setenv(levels.ALLOW_WEAK, "true")
    levels.require_strength(SandboxLevel.RLIMITS)

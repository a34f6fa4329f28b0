"""The processes themselves: the host of generated code, and a worker as its supervisor starts it."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from p2p.contracts.code import CodeLimits
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import EnvironmentProblem
from p2p.contracts.sandbox import SandboxLevel, SandboxReport
from p2p.contracts.setup import Level
from p2p.contracts.training import TrainConfig
from p2p.contracts.work import DescribeRequest
from p2p.service.sandbox_check import described
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


@CONFINES
@pytest.mark.slow
def test_a_run_says_how_it_was_confined_and_holds_no_key(tmp_path: Path, cheetah: EnvSpec, class_reward: str) -> None:
    record = IterationRecord(tmp_path)
    record.save_config(TrainConfig(total_timesteps=512, n_envs=4, num_evals=1, n_eval_episodes=3, episode_s=1.0))
    record.save_env_spec(cheetah)
    record.save_reward_source(class_reward)
    done = worker("train", tmp_path, ANTHROPIC_API_KEY=CANARY, P2P_THREADS="2")
    assert done.returncode == 0, done.stderr
    summary = record.read_summary()
    assert summary is not None
    assert summary.sandbox is SandboxLevel.STRICT
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(CANARY.encode() not in path.read_bytes() for path in files)


@pytest.mark.parametrize(
    ("level", "allowed", "expected"),
    [
        (SandboxLevel.STRICT, False, Level.OK),
        (SandboxLevel.LANDLOCK, False, Level.WARNING),
        (SandboxLevel.BWRAP, False, Level.PROBLEM),
        (SandboxLevel.RLIMITS, False, Level.PROBLEM),
        (SandboxLevel.RLIMITS, True, Level.WARNING),
    ],
)
def test_doctor_tells_the_level_and_what_to_do(level: SandboxLevel, allowed: bool, expected: Level) -> None:
    check = described(SandboxReport(level=level, landlock_abi=0, seccomp=True, missing=("Landlock",)), allowed)
    assert check.level is expected
    assert check.found.startswith(f"{level} (no Landlock, seccomp)")
    assert ("--allow-weak-sandbox" in check.remedy) is (expected is Level.PROBLEM)


@pytest.mark.parametrize("said", ["", "0", "no"])
def test_a_weak_level_is_refused_unless_the_variable_says_yes(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(levels.ALLOW_WEAK, said)
    with pytest.raises(EnvironmentProblem, match="--allow-weak-sandbox"):
        levels.require_strength(SandboxLevel.RLIMITS)
    levels.require_strength(SandboxLevel.LANDLOCK)
    monkeypatch.setenv(levels.ALLOW_WEAK, "true")
    levels.require_strength(SandboxLevel.RLIMITS)

"""What is done where the kernel offers less: made less by a filter that hides Landlock from the worker."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from p2p.contracts.errors import EnvironmentProblem
from p2p.contracts.remedies import Remedy
from p2p.contracts.sandbox import SandboxLevel, SandboxReport
from p2p.lab.worker.__main__ import VERBS as LAB_VERBS
from p2p.worker.__main__ import VERBS
from p2p.worker.sandbox import bubblewrap, landlock, levels, seccomp

HIDE = """
import errno, os, sys
from p2p.worker.sandbox import seccomp
seccomp.install([seccomp.Rule(call, seccomp.refuse(errno.ENOSYS)) for call in sys.argv[1].split(",")])
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""
LANDLOCK = "landlock_create_ruleset"
TRY = """
import os, sys
from pathlib import Path
from p2p.worker.sandbox.confine import confine
print(confine([Path(sys.argv[1])]))
for path in sys.argv[2:]:
    try: print(Path(path).read_text())
    except OSError as error: print(type(error).__name__)
(Path(sys.argv[1]) / "mine").write_text("written")
"""
CONFIGURATION_ERROR, MISSING = 2, 4

needs_filters = pytest.mark.skipif(not seccomp.is_available(), reason="this kernel does not filter system calls")
needs_bubblewrap = pytest.mark.skipif(
    not bubblewrap.works(), reason="bwrap is not installed, or may not make namespaces"
)


def without(calls: str, *arguments: object, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run python where the kernel has not got some system calls."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[3]), **environment}
    command = [sys.executable, "-c", HIDE, calls, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=env)


def level_without(tmp_path: Path, calls: str, **environment: str) -> SandboxReport:
    done = without(calls, "-m", "p2p.worker", "sandbox", tmp_path, **environment)
    assert done.returncode == 0, done.stderr
    return SandboxReport.model_validate(json.loads((tmp_path / "result.json").read_text()))


@needs_filters
@pytest.mark.skipif(not landlock.abi(), reason="this kernel has no Landlock")
def test_here_the_sandbox_is_strict() -> None:
    assert levels.probe().level is SandboxLevel.STRICT


@needs_filters
def test_without_landlock_and_bubblewrap_only_limits_are_left_and_the_report_says_what_is_missing(
    tmp_path: Path,
) -> None:
    report = level_without(tmp_path, LANDLOCK, PATH="/nowhere")
    assert report.level is SandboxLevel.RLIMITS
    assert report.level.is_weak
    assert [text.split(":")[0].split(",")[0] for text in report.missing] == ["Landlock", "bubblewrap"]


@needs_filters
@pytest.mark.skipif(not landlock.abi(), reason="this kernel has no Landlock")
def test_without_seccomp_landlock_is_left(tmp_path: Path) -> None:
    report = level_without(tmp_path, "seccomp")
    assert (report.level, report.seccomp) == (SandboxLevel.LANDLOCK, False)


@needs_filters
def test_generated_code_is_refused_in_a_weak_sandbox_unless_it_is_allowed(tmp_path: Path) -> None:
    refused = without(LANDLOCK, "-m", "p2p.worker", "check", tmp_path, PATH="/nowhere")
    assert refused.returncode == MISSING
    assert Remedy.ALLOW_WEAK_SANDBOX.of() in refused.stderr
    assert list(tmp_path.iterdir()) == []
    allowed = without(LANDLOCK, "-m", "p2p.worker", "check", tmp_path, PATH="/nowhere", P2P_ALLOW_WEAK_SANDBOX="1")
    assert allowed.returncode == CONFIGURATION_ERROR  # it looked for its environment
    assert "env_spec.json is missing" in allowed.stderr


@needs_filters
@needs_bubblewrap
def test_bubblewrap_hides_what_is_not_the_jobs(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    (tmp_path / "key").write_text("a key")
    done = without(LANDLOCK, "-c", TRY, tmp_path / "job", tmp_path / "key", "/etc/passwd")
    assert done.stdout.split() == ["bwrap", "FileNotFoundError", "FileNotFoundError"], done.stderr
    assert (tmp_path / "job" / "mine").read_text() == "written"


def test_elsewhere_than_on_linux_the_level_says_what_is_missing_and_generated_code_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(levels.sys, "platform", "darwin")
    monkeypatch.delenv(levels.ALLOW_WEAK, raising=False)
    levels.probe.cache_clear()
    try:
        report = levels.probe()
        with pytest.raises(EnvironmentProblem, match=r"level is rlimits.*Missing: Linux.* on darwin"):
            levels.require_strength(report.level)
    finally:
        levels.probe.cache_clear()
    assert (report.level, report.landlock_abi, report.seccomp) == (SandboxLevel.RLIMITS, 0, False)


@pytest.mark.parametrize("verb", ["train", "film", "evaluate", "view", "plot", "export", "measure", "clip_video"])
def test_a_request_that_cannot_be_read_opens_nothing_but_the_job(tmp_path: Path, verb: str) -> None:
    job = tmp_path / "session" / "job"
    job.mkdir(parents=True)
    (job / "request.json").write_text("{broken")
    places = (VERBS | LAB_VERBS)[verb].places(job)
    assert places.writable[0] == job
    assert set(places.writable) <= {job}
    assert places.readable == ()

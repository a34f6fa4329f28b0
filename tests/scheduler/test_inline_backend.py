"""Jobs that run in the process that submits them, where a debugger stops in them."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from job_helpers import until

from p2p.contracts.job import JobSpec, JobState
from p2p.scheduler.backends.inline import InlineBackend
from p2p.scheduler.backends.local import LocalBackend
from p2p.store import layout

MODULE = """
import os, sys
from pathlib import Path

Path("seen").write_text(f"{os.getpid()} {os.environ['GIVEN']} {sys.argv[1:]} {Path.cwd()}")
print("out")
print("err", file=sys.stderr)
raise SystemExit(int(sys.argv[1]))
"""


def job(module: str, *arguments: str) -> JobSpec:
    return JobSpec(argv=("{python}", "-m", module, *arguments), env={"GIVEN": "here"})


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "said_where_it_runs.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    return "said_where_it_runs"


def test_a_module_runs_in_this_process_which_is_as_before_afterwards(module: str, jobs: Path) -> None:
    before = (Path.cwd(), [*sys.argv], dict(os.environ), sys.stdout)
    status = InlineBackend().submit(job(module, "0"), jobs / "a")
    assert (status.state, status.exit_code) == (JobState.COMPLETED, 0)
    assert (jobs / "a/seen").read_text() == f"{os.getpid()} here ['0'] {jobs / 'a'}"
    assert InlineBackend().logs(jobs / "a")[0] == "out\nerr\n"
    assert (Path.cwd(), [*sys.argv], dict(os.environ), sys.stdout) == before


def test_the_end_of_a_module_is_the_end_of_its_job(module: str, jobs: Path) -> None:
    status = InlineBackend().submit(job(module, "3"), jobs / "a")
    assert (status.state, status.exit_code, status.error) == (JobState.FAILED, 3, "out\nerr")
    status = InlineBackend().submit(job(module, "no number"), jobs / "b")
    assert (status.state, status.exit_code) == (JobState.FAILED, 1)
    assert "ValueError" in (status.error or "")


def test_what_a_job_writes_is_shown_on_stderr_and_leaves_stdout_to_the_caller(
    module: str, jobs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    InlineBackend().submit(job(module, "0"), jobs / "a")
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "out\nerr\n")


def test_a_debugger_stops_in_a_job(tmp_path: Path) -> None:
    (tmp_path / "stops.py").write_text("answer = 41\nbreakpoint()\nanswer += 1\nprint('answer', answer)\n")
    done = _elsewhere(tmp_path, "stops", standard_input="p answer * 1000\nc\n")
    assert "(Pdb)" in done.stderr
    assert "41000" in done.stderr
    assert json.loads((tmp_path / "job/status.json").read_text())["state"] == "completed"


def test_another_process_sees_the_job_and_can_end_it(tmp_path: Path) -> None:
    (tmp_path / "sleeps.py").write_text("import time\nprint('begun', flush=True)\ntime.sleep(600)\n")
    directory = tmp_path / "job"
    with _started(tmp_path, "sleeps") as process:
        until(lambda: (directory / layout.OUTPUT_LOG).exists() and (directory / layout.OUTPUT_LOG).read_text())
        assert LocalBackend().status(directory).state is JobState.RUNNING
        assert LocalBackend().cancel(directory).state is JobState.CANCELLED
        assert process.wait(30) == 0, "its caller goes on"


def test_a_job_whose_process_was_killed_is_lost(tmp_path: Path) -> None:
    (tmp_path / "sleeps.py").write_text("import time\nprint('begun', flush=True)\ntime.sleep(600)\n")
    directory = tmp_path / "job"
    with _started(tmp_path, "sleeps") as process:
        until(lambda: (directory / layout.OUTPUT_LOG).exists() and (directory / layout.OUTPUT_LOG).read_text())
        process.kill()
        process.wait()
    assert LocalBackend().status(directory).state is JobState.LOST


SCRIPT = """
    import sys
    from pathlib import Path
    from p2p.contracts.job import JobSpec
    from p2p.scheduler.backends.inline import InlineBackend

    sys.path.insert(0, sys.argv[1])
    InlineBackend().submit(JobSpec(argv=("{python}", "-m", sys.argv[2])), Path(sys.argv[1], "job"))
"""


def _started(place: Path, module: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(place), module]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _elsewhere(place: Path, module: str, standard_input: str) -> "subprocess.CompletedProcess[str]":
    with _started(place, module) as process:
        out, err = process.communicate(standard_input, timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)

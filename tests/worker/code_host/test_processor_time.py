"""Time limits on generated code count its own time, whatever else the machine does."""

import subprocess
import sys
import time

import numpy as np
import pytest

from p2p.contracts.errors import EnvironmentProblem
from p2p.worker.code_host import host_process, processor_time
from p2p.worker.code_host.host_process import HostProcess
from p2p.worker.code_host.processor_time import ProcessorStopwatch, processor_seconds
from p2p.worker.code_host.run_code import run_code

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell")
SUM = "def measure(arrays):\n    return {'sum': float(arrays['x'].sum())}\n"


def starved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine gives the host a hundredth of its time."""
    clock = time.monotonic
    monkeypatch.setattr(processor_time, "processor_seconds", lambda _: clock() / 100)
    monkeypatch.setattr(processor_time, "_is_starved", lambda _: True)


@pytest.mark.parametrize("busy", [True, False])
def test_a_process_that_gets_no_processor_has_time_to_start(busy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_process, "START_LIMIT_S", 0.02)  # it takes some tenths of a second
    monkeypatch.setattr(host_process, "LOOK_S", 0.005)
    monkeypatch.setattr(host_process, "BUSY_FACTOR", 1e5)
    if busy:
        starved(monkeypatch)
        assert run_code(SUM, "measure", {"x": np.ones(3)}) == {"sum": 3.0}
    else:
        monkeypatch.setattr(processor_time, "_is_starved", lambda _: False)
        with pytest.raises(EnvironmentProblem, match="did not start"):
            run_code(SUM, "measure", {"x": np.ones(3)})


def test_a_busy_machine_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    starved(monkeypatch)
    monkeypatch.setattr(host_process, "START_LIMIT_S", 0.01)
    monkeypatch.setattr(host_process, "BUSY_FACTOR", 1.0)
    host = HostProcess("function")
    with pytest.raises(EnvironmentProblem, match="did not start"):
        host.ask("measure", {}, {}, 1.0)


def test_the_time_of_a_process_that_rests_is_its_own_and_of_one_that_works_what_it_used() -> None:
    with (
        subprocess.Popen(["sleep", "60"]) as sleeper,
        subprocess.Popen([sys.executable, "-c", "while 1: pass"]) as busy,
    ):
        try:
            while (processor_seconds(busy.pid) or 0.0) < 0.05:
                pass
            rests, works = ProcessorStopwatch(sleeper.pid), ProcessorStopwatch(busy.pid)
            assert rests.spent(0.5) == 0.5
            before = processor_seconds(busy.pid)
            time.sleep(0.2)
            spent, after = works.spent(100.0), processor_seconds(busy.pid)
            assert before is not None
            assert after is not None
            assert 0.0 <= spent <= after, "its processor time, however long that took"
            assert spent < 100.0
        finally:
            sleeper.kill()
            busy.kill()
    assert processor_seconds(busy.pid) is None
    assert works.spent(3.0) == 3.0

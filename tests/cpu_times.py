"""The option `--cpu-times FILE`: processor time of each test, for machines too busy for wall-clock times."""

import json
import os
import resource
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

CPUACCT = Path("/sys/fs/cgroup/cpuacct")
"""Version 1 of Linux's control groups: counts detached processes too, where it may be written to."""


class CpuTimes:
    """Measures in the process that runs tests; the measured times travel to the printing process on the reports."""

    def __init__(self) -> None:
        self._group = _own_group()
        self._last = self._now()

    def _now(self) -> float:
        if self._group is not None:
            return int((self._group / "cpuacct.usage").read_text()) / 1e9
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(part.ru_utime + part.ru_stime for part in used)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        self._last = self._now()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[None]:
        report = yield
        now = self._now()
        report.cpu_s = now - self._last
        self._last = now
        return report


class CpuTable:
    """Collects the times of all reports and writes them, dearest first.

    Args:
        path: JSON file to write: test → phase → seconds of processor time.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seconds: dict[str, dict[str, float]] = defaultdict(dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid][report.when or ""] = round(getattr(report, "cpu_s", 0.0), 3)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        self._path.write_text(json.dumps(self._seconds, indent=0))
        files: dict[str, float] = defaultdict(float)
        for test, phases in self._seconds.items():
            files[test.split("::")[0]] += sum(phases.values())
        terminalreporter.section(f"processor time: {sum(files.values()):.0f} s")
        for name, seconds in sorted(files.items(), key=lambda file: -file[1])[:30]:
            terminalreporter.write_line(f"{seconds:8.1f} s  {name}")


def _own_group() -> Path | None:
    group = CPUACCT / f"p2p-tests-{os.getpid()}"
    try:
        group.mkdir()
        (group / "tasks").write_text(str(os.getpid()))
    except OSError:
        return None
    return group


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cpu-times", type=Path, metavar="FILE", help="write the processor time of each test into this JSON file"
    )


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--cpu-times")
    if path is None:
        return
    if not os.environ.get("PYTEST_XDIST_WORKER"):
        config.pluginmanager.register(CpuTable(path.absolute()))
    if os.environ.get("PYTEST_XDIST_WORKER") or not config.getoption("numprocesses", 0):
        config.pluginmanager.register(CpuTimes())

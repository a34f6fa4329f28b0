import os
from pathlib import Path

import pytest

from p2p.scheduler import resources
from p2p.scheduler.backends.inline import InlineBackend
from p2p.scheduler.backends.local import LocalBackend


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


MEMINFO = "MemTotal:       16777216 kB\nMemFree:         1048576 kB\nMemAvailable:    8388608 kB\n"


def test_this_machine_is_measured(tmp_path: Path) -> None:
    found = resources.measure(tmp_path / "not/there/yet")
    assert 1 <= found.cores <= (os.cpu_count() or 1)
    assert found.memory_mb is not None
    assert found.memory_free_mb is not None
    assert 0 < found.memory_free_mb <= found.memory_mb
    assert found.disk_free_mb >= 0
    assert 1 <= resources.parallel_jobs(1) <= found.cores
    assert resources.parallel_jobs(10**9) == 1


def test_a_training_leaves_the_cores_that_gain_it_little(monkeypatch: pytest.MonkeyPatch) -> None:
    for backend in ("local", "inline"):
        monkeypatch.setattr(f"p2p.scheduler.backends.{backend}.cores", lambda: 16)
    for capacity in (LocalBackend().capacity(), InlineBackend().capacity()):
        assert (capacity.cores, capacity.cores_per_run) == (16, 4)
    assert [resources.cores_of_a_training(available) for available in (1, 2, 4, 5)] == [1, 2, 4, 4]


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({}, None),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "max 100000"}, None),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "50000 100000"}, 1),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/cpu.max": "150000 100000"}, 2),
        (
            {
                "proc/self/cgroup": "3:cpu,cpuacct:/docker/x\n0::/\n",
                "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "100000",
                "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000",
            },
            1,
        ),
        (
            {
                "proc/self/cgroup": "3:cpu:/x\n",
                "sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "-1",
                "sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000",
            },
            None,
        ),
    ],
)
def test_cores_respect_the_quota_of_every_group_above(tmp_path: Path, files: dict[str, str], quota: int | None) -> None:
    unlimited = resources.cores(tmp_path / "none")
    assert resources.cores(write(tmp_path, files)) == min(unlimited, quota or unlimited)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, (16384, 8192)),
        ({"sys/fs/cgroup/a/memory.max": "max"}, (16384, 8192)),
        ({"sys/fs/cgroup/a/memory.max": str(4 << 30), "sys/fs/cgroup/a/memory.current": str(1 << 30)}, (4096, 3072)),
        ({"sys/fs/cgroup/memory/memory.limit_in_bytes": str(2 << 30)}, (2048, 2048)),
    ],
)
def test_memory_respects_the_limit_of_the_group(
    tmp_path: Path, files: dict[str, str], expected: tuple[int, int]
) -> None:
    groups = {"proc/meminfo": MEMINFO, "proc/self/cgroup": "4:memory:/x\n0::/a\n"}
    assert resources.memory_mb(write(tmp_path, groups | files)) == expected

"""Remove inherited variables and open files that a process does not need."""

import ctypes
import os
import resource
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

KEPT = {
    *("PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "VIRTUAL_ENV"),
    *("PYTHONPATH", "PYTHONHASHSEED", "PYTHONUNBUFFERED", "PYTHONSAFEPATH", "PYTHONDONTWRITEBYTECODE"),
    *("PYTHONWARNINGS", "MUJOCO_GL", "PYOPENGL_PLATFORM", "IMAGEIO_FFMPEG_EXE"),
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "CUDA_VISIBLE_DEVICES"),
    *("P2P_THREADS", "P2P_RESUME_S", "P2P_RENDERER", "P2P_DEBUG", "P2P_JOB", "P2P_ALLOW_WEAK_SANDBOX", "P2P_IN_BWRAP"),
}
"""Variables that a worker needs; it has no other."""
KEPT_PREFIXES = ("LC_", "MALLOC_", "NVIDIA_")
HOMES = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "MPLCONFIGDIR")
"""Variables that name a directory for what programs leave behind."""


def close_descriptors() -> None:
    """Close all but standard input, output and error: Landlock does not cover open files."""
    os.closerange(3, min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 1 << 20))


def clean_environment(inherited: Mapping[str, str], home: Path) -> dict[str, str]:
    """Variables that a worker needs, with `home` as the user's directory."""
    kept = {name: value for name, value in inherited.items() if name in KEPT or name.startswith(KEPT_PREFIXES)}
    return {**kept, **dict.fromkeys(HOMES, str(home))}


def replace_environment(environment: Mapping[str, str]) -> None:
    """Make `environment` this process's, and overwrite all other initial variables."""
    dropped = os.environ.keys() - environment.keys()
    os.environ.clear()  # before the wiping: afterwards nothing points there
    with suppress(OSError):  # where it cannot be read, nobody else here can read it either
        # In the kernel's copy too, which /proc/<pid>/environ shows.
        fields = Path("/proc/self/stat").read_text(errors="replace").rpartition(")")[2].split()
        place = int(fields[47])  # env_start, the 50th field
        for entry in Path("/proc/self/environ").read_bytes().split(b"\0"):
            if os.fsdecode(entry.partition(b"=")[0]) in dropped:
                ctypes.memset(place, 0, len(entry))
            place += len(entry) + 1
    os.environ.update(environment)

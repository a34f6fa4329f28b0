"""Files that a worker needs besides its job's: Python, libraries, fonts, graphics devices."""

import os
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import p2p
from p2p.worker.sandbox.landlock import DEVICE, READ, RUN, WRITE, Right

SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/nix/store", "/run/opengl-driver")
CONFIGURATION = (
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/fonts", "/etc/mime.types"),
    *("/etc/glvnd", "/etc/OpenGL", "/etc/vulkan", "/etc/nvidia", "/var/cache/fontconfig"),
)
MACHINE = (
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems", "/proc/sys/vm", "/proc/sys/kernel"),
    *("/proc/driver/nvidia", "/sys/devices", "/sys/fs/cgroup", "/sys/bus/pci", "/sys/class/drm", "/sys/dev/char"),
)
DRAWING = ("/dev/dri", "/dev/kfd", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-caps")
IMPORTED = (".py", ".so")


def rules(writable: Sequence[Path], readable: Sequence[Path]) -> dict[Path, Right]:
    """Path -> rights at it and below it; nested paths have the rights of both."""
    found = dict[Path, Right]()
    found |= {Path(path): RUN for path in SYSTEM}
    found |= {Path(path): READ for path in (*CONFIGURATION, *MACHINE)}
    found |= {Path(path): READ for path in ("/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")}
    found |= {Path("/dev/null"): READ | Right.WRITE_FILE}
    found |= {Path(path): DEVICE for path in DRAWING}
    found |= dict.fromkeys(Path("/dev").glob("nvidia[0-9]*"), DEVICE)
    found |= dict(_python())
    found[Path(f"/proc/{os.getpid()}")] = READ
    found |= dict.fromkeys(readable, READ)
    found |= dict.fromkeys(writable, WRITE)
    return found


def _python() -> Iterator[tuple[Path, Right]]:
    """The interpreter, its packages, other directories of its import path, and p2p itself."""
    scripts = Path(sysconfig.get_path("scripts"))
    interpreter = Path(os.path.realpath(sys.executable)).parent
    for place in (Path(sys.base_prefix), Path(sys.prefix), interpreter, scripts):
        if place != Path("/"):
            yield place, RUN
    for library in filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")):
        yield Path(library), RUN
    package = Path(p2p.__file__).resolve().parent
    for directory in {package.parent, *map(Path, filter(None, sys.path))}:
        inside = directory.is_relative_to(sys.prefix) or directory.is_relative_to(sys.base_prefix)
        with suppress(OSError):  # of another user, or gone
            if directory.is_dir() and not inside:
                yield from _importable(directory)
    yield package, READ


def _importable(directory: Path) -> Iterator[tuple[Path, Right]]:
    """Packages and modules without neighbouring files, which may be keys; of those only names are visible."""
    if directory.name == "site-packages":
        yield directory, RUN
        return
    yield directory, Right.READ_DIR
    for entry in directory.iterdir():
        if entry.suffix in IMPORTED or (entry / "__init__.py").is_file():
            yield entry, RUN

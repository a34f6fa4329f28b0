"""Fallback for kernels without Landlock: namespaces made by the program bwrap."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from p2p.worker.sandbox.landlock import Right

INSIDE = "P2P_IN_BWRAP"
"""Variable: set where the process was started by bwrap already."""
PATIENCE_S = 10.0


def works() -> bool:
    """Whether bwrap exists and may create namespaces."""
    if sys.platform != "linux" or shutil.which("bwrap") is None:
        return False
    try:
        tried = subprocess.run(
            ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True, timeout=PATIENCE_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tried.returncode == 0


def command(rules: Mapping[Path, Right], argv: list[str]) -> list[str]:
    """Command that runs `argv` with only the paths of `rules` visible."""
    binds = []
    for path, rights in sorted(rules.items()):
        if path.is_relative_to("/proc") or path == Path("/dev"):
            continue
        if path.is_relative_to("/dev"):
            kind = "--dev-bind-try"
        elif rights & Right.WRITE_FILE:
            kind = "--bind-try"
        else:
            kind = "--ro-bind-try"
        binds += [kind, str(path), str(path)]
    spaces = ["--unshare-user-try", "--unshare-ipc", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    return ["bwrap", *spaces, "--die-with-parent", "--proc", "/proc", "--dev", "/dev", *binds, "--", *argv]


def enter(rules: Mapping[Path, Right], environment: Mapping[str, str]) -> None:
    """Restart this program inside; returns only on failure.

    Raises:
        OSError: bwrap cannot be started.
    """
    argv = command(rules, [sys.executable, *sys.orig_argv[1:]])
    os.execvpe("bwrap", argv, {**environment, INSIDE: "1"})

"""The command line: `p2p`."""

import signal
import sys
from importlib import import_module

from p2p.cli.interrupts import INTERRUPTED, OWN_PROCESS, leaving_at_once


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code.

    0 passed or done, 2 usage or rejected input, 3 ended without passing, 4 a problem of this machine, 130 interrupted.

    Args:
        arguments: Words of the command; None for those of this process, which then is this command alone.
    """
    if arguments is not None:
        return int(import_module("p2p.cli.command").run_command(arguments))
    OWN_PROCESS.set(True)
    try:
        with leaving_at_once():
            command = import_module("p2p.cli.command")
        return int(command.run_command(sys.argv[1:]))
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said; Python only tidies up

"""The command line: `p2p`."""

import signal
import sys
from importlib import import_module
from os import _exit

INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code.

    0 passed or done, 2 usage or rejected input, 3 ended without passing, 4 a problem of this machine, 130 interrupted.

    Args:
        arguments: Words of the command; None for those of this process, which then is this command alone.
    """
    if arguments is not None:
        return int(import_module("p2p.cli.command").run_command(arguments))
    asked = signal.getsignal(signal.SIGINT)
    if asked is signal.default_int_handler:
        # While modules are loaded, KeyboardInterrupt may come back as another error; nothing has begun that could
        # be left half done, so the process may just end.
        signal.signal(signal.SIGINT, lambda *_: _exit(INTERRUPTED))
    command = import_module("p2p.cli.command")  # about a second
    try:
        signal.signal(signal.SIGINT, asked)
        return int(command.run_command(sys.argv[1:]))
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said; Python only tidies up

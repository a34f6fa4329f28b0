"""The command line: `p2p`.

Whatever takes time to import is imported by `main`, which first sees to it that Ctrl-C shows no traceback.
"""

import gc
import os
import sys
from importlib import import_module


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code.

    0 passed or done, 2 usage or rejected input, 3 ended without passing, 4 a problem of this machine, 130 interrupted.

    Args:
        arguments: Words of the command; None for those of this process, which then is this command alone.
    """
    if arguments is not None:
        return int(import_module("p2p.cli.command").run_command(arguments))
    # After 700 new objects, as by default, it would look through all modules again and again. `p2p show` makes 71,000,
    # and looking through these once takes a tenth of its time.
    gc.set_threshold(100_000)
    # pydantic would read the metadata of every installed package for plugins, 9 ms of 170 in `p2p list`
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    signal = import_module("signal")
    asked = signal.getsignal(signal.SIGINT)
    if asked is signal.default_int_handler:  # else it is ignored: nobody at a terminal waits for this process
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    interrupts = import_module("p2p.cli.interrupts")
    interrupts.OWN_PROCESS.set(True)
    try:
        signal.signal(signal.SIGINT, asked)
        with interrupts.loading():
            command = import_module("p2p.cli.command")
        # as Ctrl-C: the session is told that goes on, and the terminal gets its cursor back
        signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
        return int(command.run_command(sys.argv[1:]))
    except KeyboardInterrupt:
        return int(interrupts.INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said; Python only tidies up
        # Its last garbage collection would take a fifth of the processor time of `p2p show`, and frees no more memory.
        gc.freeze()

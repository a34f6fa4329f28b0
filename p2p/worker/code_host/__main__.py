"""A host of generated code: `python -m p2p.worker.code_host SERVICE PARENT SOCKET INBOX OUTBOX`.

`HostProcess` starts it. It imports all it will ever need, gives up all rights, and only then gets the code to run.
"""

import ctypes
import importlib
import os
import resource
import signal
import socket
import sys

from p2p import registry
from p2p.worker.code_host import preload, shared_memory
from p2p.worker.code_host.interruption import leave_at_alarm
from p2p.worker.code_host.serve import Service, serve
from p2p.worker.sandbox import strict

SERVICES = {
    "reward": "p2p.worker.reward.host_service:RewardService",
    "trial": "p2p.worker.reward.trial:TrialService",
    "function": "p2p.worker.code_host.functions:FunctionService",
}
"""What is done with the code -> "module:class"."""
MEMORY_BYTES = 4 << 30
"""Most that the code may take for itself."""
_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Answer questions until the worker ends."""
    name, parent, *descriptors = arguments
    for number in (signal.SIGINT, signal.SIGTERM):  # they are the worker's to answer, and this process ends with it
        signal.signal(number, signal.SIG_IGN)
    # Be killed when the worker ends.
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != int(parent):  # it ended before
            os._exit(1)
    connection, inbox, outbox = (int(descriptor) for descriptor in descriptors)
    control = socket.socket(fileno=connection)
    shared = shared_memory.open_box(inbox, writable=False), shared_memory.open_box(outbox, writable=True)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    service: Service = registry.load("service", SERVICES, name)(shared_memory.progress(shared[1]))
    for module in preload.MODULES:
        importlib.import_module(module)
    preload.warm_up()
    leave_at_alarm(shared_memory.progress(shared[1]))
    silence = os.open(os.devnull, os.O_RDWR)
    os.dup2(silence, sys.stderr.fileno())
    os.close(silence)
    strict.forbid_all()
    serve(control, shared[0], shared[1], service)


if __name__ == "__main__":
    main(sys.argv[1:])

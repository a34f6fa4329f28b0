"""Run a job's supervisor in the foreground, for schedulers that end what they started once it returns.

    python -m p2p.scheduler.foreground JOB_DIR TOKEN

Starts nothing unless `placed.json` holds TOKEN and nobody has cancelled the job: a start that comes late or twice does
no harm, and one that the scheduler repeats after an interruption goes on from the resume point. SIGTERM, by which a
scheduler says that it needs the machine or that the time is up, ends the job gently.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from p2p.scheduler import supervisor

PLACED = "placed.json"


def main(arguments: list[str]) -> int:
    """Return when the job has ended, with its exit code."""
    directory = Path(arguments[0]).resolve()
    placed = supervisor.read(directory / PLACED)
    if placed.get("token") != arguments[1] or placed.get("cancelled"):
        print(f"{directory} holds no job for this start: it was cancelled, or submitted again.", file=sys.stderr)
        return 0
    command = [sys.executable, "-I", "-S", supervisor.__file__, str(directory)]
    told_to_end = False

    def end(*_: object) -> None:
        nonlocal told_to_end
        told_to_end = True
        if pid := supervisor.read(directory / supervisor.HANDLE).get("pid"):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    started = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    if started.returncode:
        return started.returncode
    if told_to_end:  # the supervisor may have begun after the signal
        end()
    with (directory / supervisor.LOCK).open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)  # held by the supervisor while it lives
    status = supervisor.read(directory / supervisor.STATUS)
    print(json.dumps(status))
    return 0 if status.get("state") == "completed" else int(status.get("exit_code") or 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

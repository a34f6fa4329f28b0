"""Run jobs in this process, one after the other, for debuggers: a breakpoint in the worker stops here.

The directory of a job holds the same files as under a supervisor, and what it writes is also shown on stderr.

What is missing compared with the local backend: `submit` returns when the job has ended; the job is not confined to its
directory and has the keys of this process; its limits of memory, disk and time are not enforced; it owns no cores and
keeps this process's niceness. Generated code still runs in a confined process of its own.
"""

import fcntl
import os
import runpy
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import TextIO

from p2p.contracts.errors import InvalidInput
from p2p.contracts.job import Capabilities, Capacity, JobSpec, JobState, JobStatus
from p2p.scheduler import supervisor
from p2p.scheduler.backends.local import LocalBackend
from p2p.scheduler.resources import JOB_MEMORY_MB, cores, cores_of_a_training
from p2p.store import files, locks

IN_THIS_PROCESS = "P2P_INLINE_JOB"
"""Variable: the directory of the job that runs in this process, which is therefore not confined. A supervisor passes it
on to no job."""
_ONE_AT_A_TIME = threading.RLock()
"""A job has the working directory, the arguments and the environment of the whole process; jobs may be nested."""


class InlineBackend:
    """Runs `{python} -m MODULE …` in this process, any other command in a child of it; `submit` waits for the end."""

    capabilities = Capabilities(here=True, keys=True, at_once=True)

    def __init__(self) -> None:
        self._local = LocalBackend()

    def capacity(self, _job_memory_mb: int = JOB_MEMORY_MB) -> Capacity:
        """One job at a time."""
        return Capacity(runs=1, cores=cores(), cores_per_run=cores_of_a_training(cores()))

    def submit(self, spec: JobSpec, directory: Path) -> JobStatus:
        """Run `spec` to its end in `directory`; a live or completed job is left as it is.

        Raises:
            InvalidInput: `spec` has no command.
            StorageProblem: the directory cannot be written.
            KeyboardInterrupt: Ctrl-C; the job is recorded as cancelled.
        """
        if not spec.argv:
            raise InvalidInput("A job needs a command: expected argv with at least one word.")
        directory = directory.resolve()
        files.make_directory(directory)
        lock = locks.open_lock(directory / supervisor.LOCK)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:  # it runs already
                return self.status(directory)
            known = files.read_model(directory / supervisor.STATUS, JobStatus)
            if known is None or known.state is not JobState.COMPLETED:
                files.write_model(directory / supervisor.JOB, spec)
                with _ONE_AT_A_TIME:
                    _run(spec, directory)
        finally:
            os.close(lock)
        return self.status(directory)

    def status(self, directory: Path) -> JobStatus:
        """Status of the job, as of any job on this machine.

        Raises:
            InvalidInput: `directory` holds no job.
        """
        return self._local.status(directory)

    def cancel(self, directory: Path) -> JobStatus:
        """End the job, in whichever process it runs.

        Raises:
            InvalidInput: `directory` holds no job.
        """
        return self._local.cancel(directory)

    def logs(self, directory: Path, offset: int = 0) -> tuple[str, int]:
        """Log text from byte `offset` on, and the next offset."""
        return self._local.logs(directory, offset)


def _run(spec: JobSpec, directory: Path) -> None:
    """Run a job whose lock we hold, and record its end."""
    started_at = supervisor.now()
    (directory / supervisor.CANCEL).unlink(missing_ok=True)
    me = {"pid": os.getpid(), "began": supervisor.processes()[os.getpid()][1]}
    supervisor.put(directory / supervisor.HANDLE, me)
    supervisor.put_status(directory, state="running", started_at=started_at)
    log_path = directory / supervisor.LOG
    log_start = log_path.stat().st_size if log_path.exists() else 0
    end: dict[str, object] = {"state": "failed", "exit_code": 1}
    try:
        with log_path.open("a", encoding="utf-8", errors="replace") as log, _ended_on_request(directory):
            code = _execute(spec, directory, log)
        cancelled = code != 0 and (directory / supervisor.CANCEL).exists()
        state = "cancelled" if cancelled else "failed" if code else "completed"
        end = {"state": state, "exit_code": code} if code >= 0 else {"state": state, "signal": -code}
    except FileNotFoundError as missing:
        end = {"state": "failed", "exit_code": 127, "error": f"Cannot start: {missing}"}
    except KeyboardInterrupt:
        end = {"state": "cancelled"}
        if not (directory / supervisor.CANCEL).exists():  # Ctrl-C, which is meant for the caller too
            raise
    finally:
        if end["state"] == "failed" and "error" not in end:
            end["error"] = supervisor.last_lines(log_path, log_start)
        supervisor.put_status(directory, started_at=started_at, **end)


def _execute(spec: JobSpec, directory: Path, log: TextIO) -> int:
    """Run the command; return its exit code, negative for a signal.

    Raises:
        FileNotFoundError: there is no such command.
    """
    module = spec.argv[2] if spec.argv[:2] == ("{python}", "-m") and len(spec.argv) > 2 else None
    if module is None:
        argv = [sys.executable if word == "{python}" else word for word in spec.argv]
        added = {"PYTHONUNBUFFERED": "1", "PYTHONSAFEPATH": "1", **spec.env}
        env = supervisor.environment(os.environ, added, spec.secrets)
        log.flush()
        return subprocess.run(argv, cwd=directory, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log).returncode
    shown = _Both(sys.stderr, log)
    with _as_started(spec, directory), redirect_stdout(shown), redirect_stderr(shown):
        try:
            with warnings.catch_warnings():  # the module may be imported already; it runs anew as __main__
                warnings.filterwarnings("ignore", "'.*' found in sys.modules", RuntimeWarning)
                runpy.run_module(module, run_name="__main__", alter_sys=True)
        except SystemExit as left:
            if left.code is None or isinstance(left.code, int):
                return left.code or 0
            print(left.code, file=sys.stderr)
            return 1
        except Exception:  # the job's code may raise anything: print it and exit with 1, as its own interpreter would
            traceback.print_exc()
            return 1
    return 0


@contextmanager
def _as_started(spec: JobSpec, directory: Path) -> Iterator[None]:
    """Set the job's working directory, arguments and environment in this process while the block runs."""
    before = os.environ.copy()
    place = Path.cwd()
    arguments = sys.argv
    os.environ.update({**spec.env, IN_THIS_PROCESS: str(directory)})
    os.chdir(directory)
    sys.argv = [spec.argv[2], *spec.argv[3:]]
    try:
        yield
    finally:
        sys.argv = arguments
        os.chdir(place)
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _ended_on_request(directory: Path) -> Iterator[None]:
    """Interrupt the main thread when the job is cancelled; a job of another thread cannot be ended."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    done = threading.Event()
    main = threading.get_ident()

    def watch() -> None:
        while not done.wait(supervisor.POLL_S):
            if supervisor.is_unwanted(directory):
                # as Ctrl-C would: this also ends a sleep, which _thread.interrupt_main does not
                signal.pthread_kill(main, signal.SIGINT)
                return
            with suppress(OSError):  # a full disk ends no job
                os.utime(directory / supervisor.STATUS)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


class _Both:
    """Text stream that writes to the terminal and the log, including a debugger's prompt."""

    def __init__(self, *streams: TextIO) -> None:
        self._streams = streams
        self.encoding = "utf-8"

    def write(self, text: str) -> int:
        for stream in self._streams:
            stream.write(text)
        self.flush()
        return len(text)

    def flush(self) -> None:
        for stream in self._streams:
            stream.flush()

    def isatty(self) -> bool:
        return False

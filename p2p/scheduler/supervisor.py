"""Supervisor of one job: starts it, keeps its status, ends every process it started.

    python -m p2p.scheduler.supervisor JOB_DIR [SEEN]

Prints a handle once the job runs, or waits for a core, and goes on in the background. On a live or completed job it
changes nothing and prints the same handle. Needs Python 3.11 and the three files that it names, which lie beside it.
SEEN is `updated_at` of the status at the submission: one who comes late starts nothing that has moved on since.
A job runs in its directory and dies with its supervisor; not so on macOS, which lacks prctl and /proc.

    job.json     what to run: argv, env, secrets, what it waits for (see machine_queue.py), limits (see limits.py)
    lock         held (flock) while the supervisor lives: tells life exactly, without pids, clocks, reboots
    status.json  how the job stands; its modification time is the heartbeat
    handle.json  who supervises, and who is supervised
    output.log   what the job writes
    cancel       a file of this name asks for the end; SIGTERM does, with more patience
"""

import ctypes
import fcntl
import json
import os
import runpy
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from subprocess import DEVNULL, Popen, SubprocessError, run
from typing import Any

JOB = "job.json"
LOCK = "lock"
STATUS = "status.json"
HANDLE = "handle.json"
LOG = "output.log"
CANCEL = "cancel"
PASSED_ON = {"PATH", "HOME", "LANG", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "MUJOCO_GL"}
PASSED_ON |= {"OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "P2P_RUNS_DIR", "P2P_BACKEND", "P2P_RENDERER", "P2P_CONFIG"}
PASSED_ON |= {"P2P_GROUP"}
PASSED_ON_PREFIXES = ("LC_", "XDG_", "P2P_MAX_", "P2P_DEBUG", "P2P_CORES_", "P2P_MIN_", "P2P_ALLOW_", "P2P_NODES_")
JOB_TAG = "P2P_JOB"
GROUP_TAG = "P2P_GROUP"
"""What a job and all that it starts belong to, which share a place in the queue; empty for most."""
SUPERVISOR_TAG = "P2P_SUPERVISOR"
"""Hold the job's directory: the first in its processes, the second in its supervisor, which may itself be in a job."""
STOPPED = "Its process is stopped and makes no progress; to let it go on: kill -CONT {}"
POLL_S = 0.1
HEARTBEAT_S = 2.0
TERM_TO_KILL_S = 2.0
GRACE_S = 25.0
"""The same where SIGTERM asked for the end, as schedulers and a machine that shuts down do: less than the 30 s after
which Slurm kills all processes of a job (`KillWait`). A training ends between two rollouts, with a resume point."""
START_TIMEOUT_S = 15.0
ABANDONED_S = 3600.0
"""Age of a temporary file from which nobody writes it any more."""
LONGEST = 1 << 20
"""Bytes of a JSON file; a longer one is none."""
PRCTL = ctypes.CDLL(None).prctl if sys.platform == "linux" else lambda *_: None


def main(arguments: list[str]) -> int:
    """Start the job of a directory, or find it running; 0 on success, 2 if there is no job, else 1."""
    directory = Path(arguments[0]).resolve() if arguments else Path()
    spec = read(directory / JOB)
    if not spec.get("argv"):
        print(f"usage: supervisor.py JOB_DIR [SEEN], with a command as 'argv' in {directory / JOB}", file=sys.stderr)
        return 2
    if os.environ.get(SUPERVISOR_TAG) != str(directory):  # begin again: a job can read its parent's first environment
        clean = environment(os.environ, {}, spec.get("secrets", ())) | {SUPERVISOR_TAG: str(directory)}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], clean)
    try:
        if claim(directory, arguments[1:]) and read(directory / STATUS).get("state") != "completed":
            start(directory, spec)
    except OSError as error:
        print(f"Cannot start the job in {directory}: {error}.", file=sys.stderr)
        return 1
    print(json.dumps(read(directory / HANDLE)))
    return 0


def environment(inherited: Mapping[str, str], added: Mapping[str, str], secrets: Iterable[str]) -> dict[str, str]:
    """Environment of a job: selected `inherited` variables plus `added`; keys only if named in `secrets`."""
    named = set(secrets)
    kept = {k: v for k, v in inherited.items() if k in PASSED_ON | named or k.startswith(PASSED_ON_PREFIXES)}
    hidden = {k for k in (*kept, *added) if k.endswith("_API_KEY")} - named | {JOB_TAG, SUPERVISOR_TAG}
    return {k: v for k, v in {**kept, **added}.items() if k not in hidden}


def claim(directory: Path, seen: list[str]) -> bool:
    """Take the job's lock until this process ends; False if another supervisor has it or ran the job meanwhile."""
    lock = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return not seen or (read(directory / STATUS).get("updated_at") or "") in seen
        ended = read(directory / STATUS).get("state") in ("completed", "failed", "cancelled")
        if not ended and is_alive(read(directory / HANDLE)):
            return False
        time.sleep(0.01)
    raise TimeoutError(f"{LOCK} is held by a process that is not its supervisor")


def start(directory: Path, spec: Mapping[str, Any]) -> None:
    """Fork a supervisor into the background; the foreground process returns."""
    (directory / CANCEL).unlink(missing_ok=True)
    say = partial(put_status, directory, started_at=now())
    say(state="submitting")
    if child := os.fork():  # it shares the lock
        while not os.waitpid(child, os.WNOHANG)[0] and read(directory / STATUS).get("state") == "submitting":
            time.sleep(0.01)
        if read(directory / STATUS).get("state") == "submitting":
            raise OSError(f"its supervisor died; see {directory / LOG}")
        return
    os.setsid()
    PRCTL(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.dup2(os.open(directory / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o644), 1), 2)
    supervise(directory, spec, say)
    sys.exit()


def supervise(directory: Path, spec: Mapping[str, Any], say: Callable[..., None]) -> None:
    """Run the job to its end; `queued` while what it asks for is taken."""
    kill_left_over(directory)
    log_start = os.fstat(1).st_size
    handle = {"pid": os.getpid(), "began": processes()[os.getpid()][1]}
    patience_s = [TERM_TO_KILL_S]

    def wish_the_end(number: int, _: object) -> None:
        if number == signal.SIGTERM:
            patience_s[0] = GRACE_S
        (directory / CANCEL).touch()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, wish_the_end)
    signal.signal(signal.SIGHUP, lambda *_: None)
    put(directory / HANDLE, handle)
    try:
        while_queued = partial(say, state="queued"), partial(is_unwanted, directory)
        if spec.get("cores") or spec.get("line"):
            usable = import_sibling("cores.py", "usable_cores")()
            admit = import_sibling("machine_queue.py", "admit")
            if not admit(spec, str(directory), usable, *while_queued, group(spec)):
                return say(state="cancelled")
        limits = import_sibling("limits.py", "Limits")(spec, directory)
        child = spawn(directory, spec, limits)
    except (OSError, ValueError, SubprocessError) as failure:
        return say(state="failed", error=f"Cannot start: {failure}", exit_code=127)
    put(directory / HANDLE, {**handle, "child": child.pid})
    say(state="running")
    cancelled = stand_by(directory, child, limits, patience_s)
    code = child.returncode
    reason = limits.broken
    state = "cancelled" if cancelled else "failed" if code or reason else "completed"
    error = reason or last_lines(directory / LOG, log_start) if state == "failed" else None
    end = {"exit_code": code} if code >= 0 else {"signal": -code}
    return say(state=state, error=error, peak_memory_mb=limits.peak_memory_mb, **end)


def group(spec: Mapping[str, Any]) -> str:
    """What a job belongs to: its own group, or that of the job that started it."""
    return str(spec.get("group") or os.environ.get(GROUP_TAG, ""))


def is_unwanted(directory: Path) -> bool:
    """Whether the job was cancelled or its directory removed."""
    return (directory / CANCEL).exists() or not (directory / STATUS).exists()


def import_sibling(file: str, name: str) -> Any:
    """Load a name from another file in this directory."""
    return runpy.run_path(str(Path(__file__).with_name(file)))[name]


def spawn(directory: Path, spec: Mapping[str, Any], limits: Any) -> Popen[bytes]:
    """Start the command in its own session; the kernel ends it if this process dies."""
    supervisor = os.getpid()

    def before_exec() -> None:
        PRCTL(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
        if os.getppid() != supervisor:
            os._exit(1)
        limits.lower()

    argv = [sys.executable if word == "{python}" else word for word in spec["argv"]]
    added = {"PYTHONUNBUFFERED": "1", "PYTHONSAFEPATH": "1", **spec.get("env", {})}
    env = environment(os.environ, added, spec.get("secrets", ())) | {JOB_TAG: str(directory)}
    if group(spec):
        env |= {GROUP_TAG: group(spec)}
    return Popen(argv, stdin=DEVNULL, cwd=directory, env=env, start_new_session=True, preexec_fn=before_exec)


def stand_by(directory: Path, child: Popen[bytes], limits: Any, patience_s: list[float]) -> bool:
    """Wait until the job and all its processes are gone; True if it was cancelled.

    Args:
        directory: Of the job.
        child: Its command.
        limits: Enforced while it runs.
        patience_s: One number, which a signal may raise: how long the command has to end after SIGTERM [s].
    """
    cancelled_at: float | None = None
    told = set[int]()
    beat = time.monotonic()
    note = None
    noted = None
    while child.returncode is None or end_family(cancelled_at, told):
        time.sleep(POLL_S)
        note = reap(child, note)
        if child.returncode is not None:
            continue
        limits.enforce(lambda: descendants(os.getpid())[0])
        if is_unwanted(directory):
            cancelled_at = cancelled_at or time.monotonic()
            end_family(cancelled_at, told, patience_s[0])
        elif note != noted or time.monotonic() - beat >= HEARTBEAT_S:
            beat = time.monotonic()
            with suppress(OSError):  # a full disk ends no job
                os.utime(directory / STATUS)
                if note != noted:
                    put_status(directory, **read(directory / STATUS) | {"error": note})
                    noted = note
    return cancelled_at is not None


def reap(child: Popen[bytes], note: str | None) -> str | None:
    """Collect ended processes: the job's own, and orphans, which this subreaper inherits."""
    with suppress(ChildProcessError):
        while (event := os.waitpid(-1, os.WNOHANG | os.WUNTRACED | os.WCONTINUED))[0]:
            if event[0] == child.pid:
                note = STOPPED.format(child.pid) if os.WIFSTOPPED(event[1]) else None
                if os.WIFEXITED(event[1]) or os.WIFSIGNALED(event[1]):
                    child.returncode = os.waitstatus_to_exitcode(event[1])
    return note


def end_family(cancelled_at: float | None, told: set[int], patience_s: float = TERM_TO_KILL_S) -> bool:
    """Signal all descendants (SIGTERM first after a cancel, then SIGKILL); False when none is left.

    Supervisors among them get SIGINT, by which they are no more patient than for a cancel.
    """
    own, nested = descendants(os.getpid())
    if cancelled_at is None:  # jobs started by this one cancel themselves with it, and outlive its end by itself
        nested = set()
    else:
        send(own - told, signal.SIGTERM)
        send(nested - told, signal.SIGINT)
        told |= own | nested
    if cancelled_at is None or time.monotonic() - cancelled_at > patience_s:
        send(own, signal.SIGKILL)
    return bool(own or nested)


def descendants(root: int) -> tuple[set[int], set[int]]:
    """Processes below `root`; supervisors of other jobs are included, their children are not."""
    table = processes()
    own = set[int]()
    nested = set[int]()
    generation = {root}
    while generation:
        children = {pid for pid, (parent, _) in table.items() if parent in generation}
        supervisors = {pid for pid in children if variable(pid, SUPERVISOR_TAG)}
        generation = children - supervisors
        own = own | generation
        nested = nested | supervisors
    return own, nested


def kill_left_over(directory: Path) -> None:
    """Kill processes of a job whose supervisor was killed."""
    send({pid for pid in processes() if variable(pid, JOB_TAG) == str(directory)}, signal.SIGKILL)


def processes() -> dict[int, tuple[int, str]]:
    """Every process with its parent and start time, which tells a reused pid apart."""
    found = {}
    if sys.platform == "linux":
        boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        for pid in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - half the time of iterdir
            with suppress(OSError):
                fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
                found[int(pid)] = int(fields[1]), f"{boot_id} {fields[19]}"
    else:
        table = run(["ps", "-axo", "pid=,ppid=,lstart="], capture_output=True, text=True, check=True)
        rows = (line.split(maxsplit=2) for line in table.stdout.splitlines())
        found = {int(pid): (int(parent), began) for pid, parent, began in rows}
    return found


def is_alive(handle: Mapping[str, Any]) -> bool:
    """Whether the supervisor named in `handle` is alive."""
    pid = handle.get("pid")
    began = handle.get("began")
    return isinstance(pid, int) and bool(began) and began == processes().get(pid, (0, ""))[1]


def variable(pid: int, name: str) -> str | None:
    """Environment variable a process was started with; None if unset or without /proc."""
    prefix = os.fsencode(f"{name}=")
    with suppress(OSError):
        entries = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        return next((os.fsdecode(entry[len(prefix) :]) for entry in entries if entry.startswith(prefix)), None)
    return None


def send(pids: Iterable[int], number: int) -> None:
    """Signal the processes that still exist."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def read(path: Path) -> dict[str, Any]:
    """Read a JSON object; empty if the file is absent, broken, a link or no regular file."""
    with suppress(OSError, ValueError, RecursionError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
            if regular and isinstance(value := json.loads(file.read(LONGEST)), dict):
                return value
    return {}


def put(path: Path, value: Mapping[str, Any]) -> None:
    """Write JSON atomically: readers see the old file or the new one, also after a crash."""
    sweep(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with suppress(FileNotFoundError):
        temporary.unlink()  # of a process that had this number before, or a link in a copied session
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    descriptor = os.open(path.parent, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def sweep(path: Path) -> None:
    """Delete temporary files that killed writers of `path` left."""
    oldest = time.time() - ABANDONED_S
    for left in path.parent.glob(f".{path.name}.[0-9]*"):
        with suppress(OSError):
            if left.lstat().st_mtime < oldest:
                left.unlink()


def put_status(directory: Path, **status: Any) -> None:
    """Write `status.json`."""
    put(directory / STATUS, {**status, "updated_at": now()})


def last_lines(log: Path, start: int) -> str:
    """Last 10 log lines after byte `start`, from the last 4 KiB."""
    with log.open("rb") as file:
        file.seek(max(start, log.stat().st_size - 4096))
        lines = file.read().decode(errors="replace").splitlines()
    return "\n".join(lines[-10:]) or "It ended without a word in its log."


def now() -> str:
    """Current UTC time, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

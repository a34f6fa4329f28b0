"""What hostile code would try. Each attempt raises, or returns what is false, where it is blocked.

`python hostile_attempts.py MODE UID JOB DECOY NEIGHBOUR` confines itself as MODE says and prints what became of each.
"""

import errno
import json
import mmap
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from p2p.contracts.base import build_contracts
from p2p.worker.sandbox import capabilities, confine, kernel, strict

MODE, UID, JOB, DECOY, NEIGHBOUR = sys.argv[1], int(sys.argv[2]), *map(Path, sys.argv[3:6])
OUTSIDE = os.getppid()
PACKAGES = Path(json.__file__).parent, Path(confine.__file__).parent
CANARY = "canary-of-the-environment"
INHERITED = os.dup2(os.open(os.devnull, os.O_RDONLY), 200)
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS)
LIMIT_S = 20.0
SIGNAL_0, PR_SET_DUMPABLE = 0, 4


def raw(name: str, *arguments: int | bytes | None) -> Callable[[], object]:
    """A system call with arguments that do no harm: only a refusal counts as blocked, not a wrong argument."""

    def call() -> object:
        try:
            kernel.call(name, *arguments)
        except OSError as error:
            if error.errno in REFUSALS:
                raise
        return "the kernel took it"

    return call


def names(directory: Path) -> object:
    return list(directory.iterdir()) or True


def keep(path: Path, text: str) -> object:
    path.write_text(text)
    return True


def through_a_link() -> object:
    (JOB / "link").symlink_to(DECOY)
    return (JOB / "link").read_text()


def listen_at_a_path() -> object:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(JOB / "socket"))
    return listener


def x32_call() -> object:
    try:
        return kernel._LIBC.syscall(0x40000000 + 39)
    except OSError:
        return None


def in_a_thread(attempt: Callable[[], object]) -> object:
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(attempt()))
    thread.start()
    thread.join()
    return found


def executable_memory() -> object:
    return mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_EXEC)


CONFINED: dict[str, Callable[[], object]] = {
    # secrets
    "read a key": DECOY.read_text,
    "read a key in a thread": lambda: in_a_thread(lambda: DECOY.read_text()),
    "read a key with another program": lambda: subprocess.check_output(["/bin/cat", DECOY], stderr=subprocess.DEVNULL),
    "read a key through a link": through_a_link,
    "read a key through the parent's root": lambda: Path(f"/proc/{OUTSIDE}/root{DECOY}").read_text(),
    "list the directory of keys": lambda: names(DECOY.parent),
    "list the home": lambda: names(Path("/root")),
    "read passwd": lambda: Path("/etc/passwd").read_text(),
    "read shadow": lambda: Path("/etc/shadow").read_text(),
    "list the root directory": lambda: names(Path("/")),
    "list processes": lambda: names(Path("/proc")),
    "read the parent's environment": lambda: Path(f"/proc/{OUTSIDE}/environ").read_bytes(),
    "read the parent's command": lambda: Path(f"/proc/{OUTSIDE}/cmdline").read_bytes(),
    "read the parent's memory": lambda: os.open(f"/proc/{OUTSIDE}/mem", os.O_RDONLY),
    "list the parent's descriptors": lambda: names(Path(f"/proc/{OUTSIDE}/fd")),
    "own environment": lambda: CANARY in str(dict(os.environ)),
    "own first environment": lambda: CANARY.encode() in Path(f"/proc/{os.getpid()}/environ").read_bytes(),
    "first environment of the worker": lambda: CANARY.encode() in Path(f"/proc/{os.getppid()}/environ").read_bytes(),
    "use an inherited descriptor": lambda: os.fstat(INHERITED),
    # files of others
    "read another job": lambda: (NEIGHBOUR / "secret").read_text(),
    "write into another job": lambda: keep(NEIGHBOUR / "new", "x"),
    "overwrite another job": lambda: keep(NEIGHBOUR / "secret", "x"),
    "overwrite a key": lambda: keep(DECOY, "x"),
    "truncate a key": lambda: os.truncate(DECOY, 0) or True,
    "remove a key": lambda: DECOY.unlink() or True,
    "move a key here": lambda: DECOY.rename(JOB / "moved"),
    "link a key here": lambda: os.link(DECOY, JOB / "linked") or True,
    "chmod a key": lambda: DECOY.chmod(0o666) or True,
    "chown a key": lambda: os.chown(DECOY, UID, -1) or True,
    "date a key": lambda: os.utime(DECOY, (0, 0)) or True,
    "attribute of a key": lambda: os.setxattr(DECOY, "user.x", b"1") or True,
    "change a library": lambda: keep(PACKAGES[0] / "planted.py", "x"),
    "change the product": lambda: keep(PACKAGES[1] / "planted.py", "x"),
    "write into /tmp": lambda: keep(Path("/tmp/planted-by-a-test"), "x"),
    "write into /dev/shm": lambda: keep(Path("/dev/shm/planted-by-a-test"), "x"),
    "write into /var/tmp": lambda: keep(Path("/var/tmp/planted-by-a-test"), "x"),
    "make a pipe with a name": lambda: os.mkfifo(JOB / "pipe") or True,
    "make a device": lambda: os.mknod(JOB / "device", 0o020666, os.makedev(1, 1)) or True,
    "list terminals": lambda: names(Path("/dev/pts")),
    "watch a directory": raw("inotify_add_watch", 0, bytes(DECOY.parent), 0x2),
    "watch a file system": raw("fanotify_init", 0, 0),
    "open by handle": raw("open_by_handle_at", -1, None, 0),
    "ask for a handle": raw("name_to_handle_at", -1, None, None, None, 0),
    # the network
    "tcp": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
    "tcp 6": lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM),
    "udp": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    "unix socket": lambda: socket.socket(socket.AF_UNIX),
    "listen at a path": listen_at_a_path,
    "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0),
    "raw socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1),
    "packet socket": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0),
    "vsock": lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM),
    "name resolution": lambda: socket.create_connection(("localhost", 22), 1),
    "io_uring": raw("io_uring_setup", 1, None),
    # other processes
    "signal the parent": lambda: os.kill(OUTSIDE, SIGNAL_0) or True,
    "signal the first process": lambda: os.kill(1, SIGNAL_0) or True,
    "signal through a pidfd": raw("pidfd_send_signal", -1, 0, None, 0),
    "take a descriptor": raw("pidfd_getfd", -1, 0, 0),
    "trace the parent": raw("ptrace", 0x4206, OUTSIDE, 0, 0),
    "read its memory": raw("process_vm_readv", OUTSIDE, None, 0, None, 0, 0),
    "write its memory": raw("process_vm_writev", OUTSIDE, None, 0, None, 0, 0),
    "its limits": raw("prlimit64", OUTSIDE, 7, None, None),
    "its cores": raw("sched_setaffinity", OUTSIDE, 0, None),
    "its priority": raw("setpriority", 0, OUTSIDE, 0),
    "compare with it": raw("kcmp", OUTSIDE, OUTSIDE, 9, 0, 0),
    "shared memory of System V": raw("shmget", 0, 4096, 0o600),
    "queue of System V": raw("msgget", 0, 0),
    # the machine
    "mount": raw("mount", None, None, None, 0, None),
    "unmount": raw("umount2", None, 0),
    "new root": raw("pivot_root", None, None),
    "chroot": raw("chroot", None),
    "open a tree": raw("open_tree", -1, None, 0),
    "new namespaces": raw("unshare", 0x10000000),
    "enter namespaces": raw("setns", -1, 0),
    "fork into namespaces": raw("clone", 0x10000000 | 17, None, None, None, None),
    "clone3": raw("clone3", None, 0),
    "bpf": raw("bpf", 99, None, 0),
    "perf": raw("perf_event_open", None, 0, -1, -1, 0),
    "userfaultfd": raw("userfaultfd", -1),
    "keyring": raw("keyctl", 99, 0, 0, 0, 0),
    "add to a keyring": raw("add_key", None, None, None, 0, 0),
    "load a module": raw("init_module", None, 0, None),
    "load a kernel": raw("kexec_load", 0, 0, None, 0),
    "reboot": raw("reboot", 0, 0, 0, None),
    "swap": raw("swapon", None, 0),
    "set the clock": raw("clock_settime", 99, None),
    "accounting": raw("acct", b"/nonexistent"),
    "kernel log": raw("syslog", 99, None, 0),
    "host name": raw("sethostname", None, -1),
    "personality": raw("personality", 0xFFFFFFFF),
    "secret memory": raw("memfd_secret", -1),
    "capabilities": lambda: capabilities.held() & ~(1 << capabilities.DAC_OVERRIDE),
}
"""Name -> attempt, of the trainer and of generated code."""

STRICT: dict[str, Callable[[], object]] = {
    "look at a file": lambda: DECOY.stat(),
    "read its own source": lambda: Path(__file__).read_text(),
    "write into its job": lambda: keep(JOB / "file", "x"),
    "fork": os.fork,
    "another program": lambda: subprocess.run(["/bin/true"]),
    "a thread": lambda: threading.Thread(target=print).start() or True,
    "signal itself": lambda: os.kill(os.getpid(), signal.SIGTERM) or True,
    "shared memory": lambda: mmap.mmap(-1, 4096),
    "executable memory": executable_memory,
    "a nameless file": lambda: os.memfd_create("x"),
    "a pipe": os.pipe,
    "a pair of sockets": socket.socketpair,
    "another directory": lambda: os.chdir("/") or True,
    "import": lambda: __import__("wave"),
    "undo the filter": raw("seccomp", 0, 0, None),
}
"""Name -> attempt, of generated code alone."""


def verdict(attempt: Callable[[], object]) -> str:
    """What became of it, in a word and a detail."""
    try:
        found = attempt()
    except BaseException as error:
        return f"blocked: {type(error).__name__} {error}"
    return f"OPEN: {found!r:.100}" if found else "blocked"


def apart(attempt: Callable[[], object]) -> str:
    """The same in a process of its own, with a time limit."""
    reader, writer = os.pipe()
    if not (child := os.fork()):
        os.write(writer, verdict(attempt).encode())
        os._exit(0)
    os.close(writer)
    ready, _, _ = select.select([reader], [], [], LIMIT_S)
    said = os.read(reader, 4096).decode(errors="replace") if ready else "LATE"
    os.close(reader)
    os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    return said or f"blocked: ended by signal {os.WTERMSIG(status)}"


def main() -> None:
    build_contracts()  # which imports: a user without rights may not read the interpreter's files
    if UID:
        os.setgroups([])
        os.setresgid(UID, UID, UID)
        os.setresuid(UID, UID, UID)
        kernel.prctl(PR_SET_DUMPABLE, 1)  # as after an exec: its own /proc is its own
    results = {}
    if MODE == "trainer":
        confine.confine([JOB])
        attempts = CONFINED | {"the other convention of calls": x32_call}
        results = {name: apart(attempt) for name, attempt in attempts.items()}
    elif MODE == "strict":
        os.close(INHERITED)
        strict.forbid_all()
        results = {name: verdict(attempt) for name, attempt in {**CONFINED, **STRICT}.items()}
    else:
        harmless = ("read a key", "list processes", "tcp", "signal the parent", "read passwd", "shared memory")
        results = {name: verdict({**CONFINED, **STRICT}[name]) for name in harmless}
    os.write(1, json.dumps(results).encode())


if __name__ == "__main__":
    main()

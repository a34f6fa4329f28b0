"""System call filter of a process (seccomp), irrevocable, for all its threads.

A filter is a list of `Rule`, tried in order; the first that names the call decides, if its condition holds. The
deny list is for p2p's own code; the allow list for generated code is in `strict`.
"""

import ctypes
import errno
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from p2p.worker.sandbox import kernel, system_calls

ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000
_ERRNO = 0x00050000
"""What the kernel does: it makes the call, or ends the process, or fails it with the error in the low bits."""

_LOAD = 0x20
_JUMP_IF_EQUAL = 0x15
_JUMP_IF_ANY_BIT = 0x45
_JUMP_IF_AT_LEAST = 0x35
_RETURN = 0x06
_NUMBER = 0
_ARCHITECTURE = 4
_ARGUMENTS = 16
"""Where the call's number, the architecture and the arguments (8 bytes each) are in the data of a filter."""
_WORD = 0xFFFFFFFF
_X32 = 0x40000000
"""Calls from here on are those of x86_64's other convention, with numbers of their own."""
_MODE_FILTER = 1
_ACTION_AVAILABLE = 2
_ALL_THREADS = 1


def refuse(error: int = errno.EPERM) -> int:
    """Action that fails a call with an error; Python raises PermissionError for EPERM and EACCES."""
    return _ERRNO | error


@dataclass(frozen=True)
class Rule:
    """Action for one system call."""

    call: str
    action: int
    """If the condition holds, or there is none."""
    argument: int | None = None
    """Position of the argument that is looked at, from 0; None looks at none."""
    bits: int | None = None
    """The condition is that the argument has any of these of its lower 32 bits; None: that it is not 0, all 64 bits."""
    otherwise: int = ALLOW
    """If the condition does not hold."""


NAMESPACES = 0x7E020080
"""Flags of `clone` that make namespaces: CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWTIME."""
THREAD = 0x10000
"""Flag of `clone` that makes a thread (CLONE_THREAD)."""

_MACHINE = (
    *("mount", "umount2", "pivot_root", "chroot", "setns", "unshare", "move_mount", "open_tree", "open_tree_attr"),
    *("fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "quotactl", "quotactl_fd", "bpf", "perf_event_open"),
    *("keyctl", "add_key", "request_key", "kexec_load", "kexec_file_load", "init_module", "finit_module"),
    *("delete_module", "reboot", "swapon", "swapoff", "settimeofday", "clock_settime", "adjtimex", "clock_adjtime"),
    *("acct", "syslog", "sethostname", "setdomainname", "vhangup", "iopl", "ioperm", "lookup_dcookie"),
)
_OTHER_PROCESSES = (
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp", "pidfd_getfd"),
    *("pidfd_send_signal", "setpriority", "ioprio_set", "migrate_pages", "move_pages"),
)
_BEYOND_LANDLOCK = (  # Landlock knows no right for these
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat", "utime", "utimes"),
    *("futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"),
    *("setxattrat", "removexattrat", "file_setattr", "mknod", "mknodat", "truncate", "name_to_handle_at"),
    *("open_by_handle_at", "inotify_add_watch", "fanotify_init", "shmget", "shmat", "msgget", "semget", "mq_open"),
    *("userfaultfd", "memfd_secret", "personality", "io_uring_setup", "io_uring_enter", "io_uring_register"),
)
_OF_OTHERS_WHEN_NOT_0 = ("prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler")


def deny_list() -> list[Rule]:
    """Rules for p2p's own code: no network, no other processes, no changes to the machine; the rest is allowed."""
    refused = [Rule(call, refuse()) for call in (*_MACHINE, *_OTHER_PROCESSES, *_BEYOND_LANDLOCK)]
    return [
        *refused,
        *(Rule(call, refuse(), argument=0, bits=_WORD) for call in _OF_OTHERS_WHEN_NOT_0),
        Rule("socket", refuse(errno.EACCES)),  # of every family: Landlock does not govern UNIX sockets
        Rule("clone", refuse(), argument=0, bits=NAMESPACES),
        Rule("clone3", refuse(errno.ENOSYS)),  # its flags cannot be seen; the C library falls back to clone
    ]


def no_processes() -> list[Rule]:
    """Rules for a process with all its children running: new threads only, no processes or programs."""
    calls = ("fork", "vfork", "execve", "execveat")
    return [
        *(Rule(call, refuse()) for call in calls),
        Rule("clone", ALLOW, argument=0, bits=THREAD, otherwise=refuse()),
        Rule("clone3", refuse(errno.ENOSYS)),
    ]


def is_available() -> bool:
    """Whether this kernel filters system calls, on a known architecture."""
    try:
        kernel.call("seccomp", _ACTION_AVAILABLE, 0, struct.pack("=I", _ERRNO))
    except (OSError, KeyError):
        return False
    return True


def install(rules: Iterable[Rule], default: int = ALLOW) -> None:
    """Install a filter for all threads of this process and its children; `default` is for calls without a rule.

    Raises:
        OSError: the kernel refused.
    """
    program = assemble(rules, default)

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))

    code = ctypes.create_string_buffer(program, len(program))
    pointer = Program(len(program) // 8, ctypes.cast(code, ctypes.c_void_p))
    kernel.give_up_privileges()
    kernel.call("seccomp", _MODE_FILTER, _ALL_THREADS, bytes(pointer))


def assemble(rules: Iterable[Rule], default: int) -> bytes:
    """Program of a filter, 8 bytes per instruction (BPF)."""
    program = [
        _instruction(_LOAD, _ARCHITECTURE),
        _instruction(_JUMP_IF_EQUAL, system_calls.ARCHITECTURES[system_calls.machine()], yes=1),
        _instruction(_RETURN, KILL_PROCESS),
        _instruction(_LOAD, _NUMBER),
    ]
    if system_calls.machine() == "x86_64":
        program += [_instruction(_JUMP_IF_AT_LEAST, _X32, no=1), _instruction(_RETURN, KILL_PROCESS)]
    for rule in rules:
        if (number := system_calls.number(rule.call)) is not None:
            decision = _decide(rule)
            program += [_instruction(_JUMP_IF_EQUAL, number, no=len(decision)), *decision]
    return b"".join([*program, _instruction(_RETURN, default)])


def _decide(rule: Rule) -> list[bytes]:
    """Instructions that return the rule's action for its call."""
    if rule.argument is None:
        return [_instruction(_RETURN, rule.action)]
    low = _ARGUMENTS + 8 * rule.argument
    load = _instruction(_LOAD, low)
    ends = [_instruction(_RETURN, rule.action), _instruction(_RETURN, rule.otherwise)]
    if rule.bits is not None:
        return [load, _instruction(_JUMP_IF_ANY_BIT, rule.bits, no=1), *ends]
    low_half = _instruction(_JUMP_IF_ANY_BIT, _WORD, yes=2)
    return [load, low_half, _instruction(_LOAD, low + 4), _instruction(_JUMP_IF_ANY_BIT, _WORD, no=1), *ends]


def _instruction(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    """One instruction; `yes` and `no` are the numbers of instructions to skip."""
    return struct.pack("=HBBI", code, yes, no, value)

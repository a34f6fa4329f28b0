"""Sandbox of generated code: after `forbid_all` a process can only compute and use its open channels.

What is left to it: reading and writing descriptors that are open, private memory that cannot be executed, the time,
ending. No file is opened, not even looked at; no process, no thread, no signal, no socket, no shared memory beyond
what is mapped already; no sleep, since limits on its processor time would never end it. A call that is not allowed
raises PermissionError. Locks can still be waited for (futex), and what is to be read: the worker ends a call that uses
no processor time for a minute.
"""

import sys

from p2p.worker.sandbox import capabilities, kernel, landlock, seccomp
from p2p.worker.sandbox.seccomp import ALLOW, Rule, refuse

PROT_EXEC = 0x4
MAP_SHARED = 0x1

ALLOWED = (
    *("futex", "read", "write", "sendto", "recvfrom", "readv", "writev"),
    *("clock_gettime", "clock_getres", "gettimeofday", "getrandom"),
    *("munmap", "mremap", "brk", "madvise"),
    *("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall", "sched_yield", "rseq"),
    *("membarrier", "getpid", "gettid", "close", "lseek", "fstat", "exit", "exit_group"),
)
"""System calls that generated code may make, the frequent ones first."""


def allow_list() -> list[Rule]:
    """Rules of generated code; all other calls are refused."""
    rules = []
    for call in ALLOWED:
        if call == "sendto":  # with an address it could reach sockets that others listen at
            rules.append(Rule(call, refuse(), argument=4))
        else:
            rules.append(Rule(call, ALLOW))
    return [
        *rules,
        # The first rule that names a call decides, so that memory is not shared is a filter of its own.
        Rule("mmap", refuse(), argument=2, bits=PROT_EXEC),
        Rule("mprotect", refuse(), argument=2, bits=PROT_EXEC),
    ]


def forbid_all() -> None:
    """Allow this process only the calls in `ALLOWED`, irrevocably, in all its threads.

    To be called when all is imported (numpy loads `numpy.random` on first use), shared memory is mapped, descriptors
    that are not needed are closed, and no other thread runs.

    Raises:
        OSError: the kernel offers this sandbox and refused it.
    """
    if sys.platform != "linux":  # level `rlimits`: generated code runs only where its person allowed that
        return
    capabilities.drop()
    kernel.give_up_privileges()
    if landlock.abi():
        landlock.restrict({})
    if seccomp.is_available():
        seccomp.install([Rule("mmap", refuse(), argument=3, bits=MAP_SHARED)])
        seccomp.install(allow_list(), default=refuse())

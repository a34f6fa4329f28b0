"""Numbers of Linux system calls: on x86_64, then on aarch64; None if the architecture lacks the call."""

import platform
from functools import cache

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""Machine -> how the kernel names it in the data of a seccomp filter (AUDIT_ARCH)."""

# fmt: off
NUMBERS: dict[str, tuple[int | None, int | None]] = {
    # files and descriptors
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "close": (3, 57), "lseek": (8, 62),
    "fstat": (5, 80), "poll": (7, None), "ppoll": (271, 73), "select": (23, None), "pselect6": (270, 72),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "lchown": (94, None), "fchown": (93, 55), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
    "futimesat": (261, None), "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "setxattrat": (463, 463), "removexattrat": (466, 466), "mknod": (133, None), "mknodat": (259, 33),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "inotify_add_watch": (254, 27),
    "fanotify_init": (300, 262), "file_setattr": (469, 469), "truncate": (76, 45),
    # memory
    "mmap": (9, 222), "mprotect": (10, 226), "munmap": (11, 215), "mremap": (25, 216), "brk": (12, 214),
    "madvise": (28, 233), "userfaultfd": (323, 282), "process_madvise": (440, 440), "process_mrelease": (448, 448),
    "memfd_secret": (447, 447), "migrate_pages": (256, 238), "move_pages": (279, 239), "pkey_mprotect": (329, 288),
    # threads, processes, signals
    "futex": (202, 98), "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132), "restart_syscall": (219, 128), "sched_yield": (24, 124), "rseq": (334, 293),
    "membarrier": (324, 283), "getpid": (39, 172), "gettid": (186, 178), "exit": (60, 93), "exit_group": (231, 94),
    "clone": (56, 220), "clone3": (435, 435), "fork": (57, None), "vfork": (58, None), "execve": (59, 221),
    "execveat": (322, 281), "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kcmp": (312, 272), "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424), "personality": (135, 92),
    # of other processes, when their first argument is not 0
    "prlimit64": (302, 261), "sched_setaffinity": (203, 122), "sched_setattr": (314, 274),
    "sched_setparam": (142, 118), "sched_setscheduler": (144, 119),
    # and of whole groups of them
    "setpriority": (141, 140), "ioprio_set": (251, 30),
    # time and chance
    "clock_gettime": (228, 113), "clock_getres": (229, 114), "clock_nanosleep": (230, 115), "nanosleep": (35, 101),
    "gettimeofday": (96, 169), "getrandom": (318, 278),
    # what goes out
    "sendto": (44, 206), "recvfrom": (45, 207), "socket": (41, 198), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "shmget": (29, 194), "shmat": (30, 196),
    "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    # the machine
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "setns": (308, 268),
    "unshare": (272, 97), "move_mount": (429, 429), "open_tree": (428, 428), "open_tree_attr": (467, 467),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "quotactl": (179, 60), "quotactl_fd": (443, 443), "bpf": (321, 280),
    "perf_event_open": (298, 241), "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266),
    "acct": (163, 89), "syslog": (103, 116), "sethostname": (170, 161), "setdomainname": (171, 162),
    "vhangup": (153, 58), "iopl": (172, None), "ioperm": (173, None), "lookup_dcookie": (212, 18),
    # of the sandbox itself
    "capget": (125, 90), "capset": (126, 91), "seccomp": (317, 277), "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445), "landlock_restrict_self": (446, 446),
}
# fmt: on
"""Call -> its number on the architectures, in their order."""


@cache
def number(call: str) -> int | None:
    """Number of a system call on this machine; None if it lacks the call.

    Raises:
        KeyError: this architecture is not in the table.
    """
    column = list(ARCHITECTURES).index(machine())
    return NUMBERS[call][column]


@cache
def machine() -> str:
    """This machine's architecture.

    Raises:
        KeyError: it is not in the table.
    """
    name = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine())
    if name not in ARCHITECTURES:
        raise KeyError(f"system calls of {name} are not known. Known: {', '.join(ARCHITECTURES)}")
    return name

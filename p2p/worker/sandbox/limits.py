"""Resource limits for a process and its children. The job's supervisor sets the memory limit."""

import resource

FILE_BYTES = 8 << 30
"""Largest file."""
OPEN_FILES = 1024


def apply() -> None:
    """Limit core dumps (they would hold all memory), file size, and open files."""
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, FILE_BYTES)
    _lower(resource.RLIMIT_NOFILE, OPEN_FILES)


def _lower(limit: int, value: int) -> None:
    """Set an irrevocable limit; keep a lower one."""
    soft, hard = (
        value if set_to == resource.RLIM_INFINITY else min(set_to, value) for set_to in resource.getrlimit(limit)
    )
    resource.setrlimit(limit, (soft, hard))

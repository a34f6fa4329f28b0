"""Limits of resources for a process and each it starts. That of memory is set by the job's supervisor."""

import resource

FILE_BYTES = 8 << 30
"""Largest file."""
OPEN_FILES = 1024


def apply() -> None:
    """No core dumps, which would hold all memory; no file without end; not too many of them open."""
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, FILE_BYTES)
    _lower(resource.RLIMIT_NOFILE, OPEN_FILES)


def _lower(limit: int, value: int) -> None:
    """Set a limit that cannot be raised again; one that is lower already stays."""
    soft, hard = (
        value if set_to == resource.RLIM_INFINITY else min(set_to, value) for set_to in resource.getrlimit(limit)
    )
    resource.setrlimit(limit, (soft, hard))

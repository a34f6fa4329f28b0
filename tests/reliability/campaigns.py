"""The campaigns by name: how often each is conducted in `make reliability`, and how often as a test."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from broken_files import broken_files
from clock_jumps import clock_jumps
from findings import Findings
from full_disk import full_disk
from job_machine import job_machine
from killed_processes import killed_processes
from killed_writes import killed_writes
from polling import polling
from server_kills import server_kills
from two_servers import two_servers


@dataclass(frozen=True)
class Campaign:
    """Faults of one kind, injected into real processes."""

    title: str
    conduct: Callable[[int, Path], Findings]
    """Takes how often, and a runs directory that does not exist yet."""
    full: int
    """How often is enough for a figure."""
    quick: int
    """How often is enough to notice that something has broken."""


CAMPAIGNS = {
    "server_kills": Campaign("`kill -9` of the MCP server while a client works with it", server_kills, 200, 3),
    "killed_processes": Campaign("`kill -9` and SIGSTOP of workers and supervisors", killed_processes, 50, 2),
    "killed_writes": Campaign("a writer killed at each system call of a save", killed_writes, 3, 1),
    "full_disk": Campaign("a full disk, and room again", full_disk, 30, 2),
    "broken_files": Campaign("JSON, JSONL and SQLite files broken", broken_files, 500, 30),
    "clock_jumps": Campaign("the clock set two hours ahead, back, and right again", clock_jumps, 60, 3),
    "two_servers": Campaign("two servers on one runs directory", two_servers, 50, 1),
    "job_machine": Campaign("random histories of jobs against a model", job_machine, 500, 5),
    "polling": Campaign("200 clients polling one server once a second", polling, 60, 0),
}

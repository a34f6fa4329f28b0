"""The time, as it is written into files."""

from datetime import UTC, datetime


def now() -> str:
    """Now, in UTC, ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def seconds_between(start: str, end: str) -> float:
    """Seconds from one such time to another."""
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()

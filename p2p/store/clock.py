"""Timestamps, as written into files."""

from datetime import UTC, datetime


def now() -> str:
    """Current UTC time, ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def seconds_between(start: str, end: str) -> float:
    """Seconds between two timestamps."""
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()

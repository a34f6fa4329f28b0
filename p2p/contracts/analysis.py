"""A report on a whole session."""

from p2p.contracts.base import Contract


class SessionAnalysis(Contract):
    """What was tried, what worked, and what to try next (`analysis.json`)."""

    session_id: str
    iterations: int
    """How many were judged when it was written."""
    analysis: str
    """In Markdown."""
    key_findings: tuple[str, ...]
    """Each with the number it rests on."""
    recommendations: tuple[str, ...]
    written_by: str
    """"builtin", or `provider:model`."""
    fallback: str = ""
    """Why the session's model did not write it; empty where it did, or there is none."""

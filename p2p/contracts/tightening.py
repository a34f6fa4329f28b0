"""Criteria that were made stricter after eyes had refused what met them (`tightened.jsonl`)."""

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.intent import Intent


class Tightening(Contract):
    """One change of a session's criteria; they only ever get stricter."""

    after_iteration: int
    """The iteration that eyes refused; later ones are trained and judged by the new criteria."""
    by: str = Field(min_length=1, max_length=100)
    """Who made them stricter."""
    why: str = Field(min_length=1, max_length=500)
    """What met the criteria and was not what was meant."""
    before: Intent
    after: Intent
    at: str
    """UTC, ISO 8601."""

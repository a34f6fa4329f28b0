"""What this machine has, and what it lacks."""

from enum import StrEnum

from p2p.contracts.base import Contract


class Level(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARNING = "warning"
    """Something works less well without it."""
    PROBLEM = "problem"
    """Training is not possible."""


class SetupCheck(Contract):
    """One thing p2p looked at."""

    name: str
    level: Level
    found: str
    remedy: str = ""
    """What to do; empty when nothing."""


class SetupReport(Contract):
    """All of them."""

    checks: tuple[SetupCheck, ...]

    @property
    def usable(self) -> bool:
        """True when training is possible."""
        return all(check.level is not Level.PROBLEM for check in self.checks)

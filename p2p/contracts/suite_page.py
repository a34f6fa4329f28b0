"""What the page of a suite's run tells beyond its results: why sessions did not pass."""

from enum import StrEnum

from p2p.contracts.base import Contract


class Cause(StrEnum):
    """Why a session did not pass."""

    NOT_TRAINED = "ended by an error before anything was trained"
    CRASHED = "crashed"
    CAPPED = "reached its cap"
    TIMED_OUT = "timed out"
    CANCELLED = "cancelled"
    SKIPPED = "skipped: its stage was not run"
    OPEN = "has not ended"
    NO_POLICY = "left no policy"
    VETOED = "met its own criteria, and was vetoed"
    NO_VERDICT = "its own judges could not decide"
    OWN_CRITERION = "missed a criterion of its own"
    OWN_TOGETHER = "met its own criteria, but not together or not well enough"
    AWAITS_EXAM = "has not sat its exam yet"
    EXAM_NOT_MEASURED = "its exam could not be measured"
    EXAM_CRITERION = "passed by itself, missed a criterion of the exam"
    EXAM_TOGETHER = "passed by itself, met the exam's criteria but not together or not well enough"


class FailureCause(Contract):
    """Why one session did not pass."""

    cause: Cause
    detail: str = ""
    """What exactly: the criteria that were missed, or the error."""

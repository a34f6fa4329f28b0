"""How often the exams of a suite are right about motions whose truth is known."""

import hashlib

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.intent import Intent
from p2p.contracts.known_motions import ClaimKind

MOST_FALSE_PASSES = 0.01
"""Share of near misses and exploits that may pass the exams of a suite."""
MOST_FALSE_FAILS = 0.025
"""Share of motions that do what is asked that may fail the exams of a suite."""
POSITIVE_RULE = "positive"
"""Rule of motions that do what is asked."""


def held_out(seed: int, suite: str, case: str, clip: "ExamClip") -> bool:
    """Whether a motion is never looked at: half of the rules of each case, and every other positive."""
    if clip.rule == POSITIVE_RULE:
        return clip.number % 2 == 1
    return hashlib.sha256(f"{seed} {suite} {case} {clip.rule}".encode()).digest()[0] % 2 == 1


class ExamCalibrationRequest(Contract):
    """Which exams are to be measured."""

    suites: tuple[str, ...]
    """Names of suites, or `all` that come with p2p."""
    env_ids: tuple[str, ...] = ()
    """Only cases of these robots; empty for all. The others keep their entries."""
    seed: int = Field(default=1, ge=0)
    """Of the motions."""
    variations: int = Field(default=2, ge=1, le=100)
    """Motions of each rule."""


class ExamToCalibrate(Contract):
    """One exam, as the worker gets it."""

    case: str
    exam: Intent


class ExamClipsRequest(Contract):
    """Make the motions of some exams and measure them (`request.json`)."""

    suite: str
    exams: tuple[ExamToCalibrate, ...]
    seed: int = Field(default=1, ge=0)
    variations: int = Field(default=2, ge=1, le=100)
    """Motions of each rule; of those that do what is asked four times as many."""


class ExamClip(Contract):
    """What an exam said of one motion."""

    case: str
    rule: str
    words: str
    """What is done, in words."""
    kind: ClaimKind
    number: int
    passed: bool
    """Whether every required criterion was met."""
    missed: dict[str, float | None]
    """Criterion that was not met -> value."""


class ExamClips(Contract):
    """All motions of the request (`result.json`)."""

    clips: tuple[ExamClip, ...]


class Count(Contract):
    """How many motions of a kind passed."""

    passed: int = 0
    of: int = 0


class ExamCounts(Contract):
    """What one exam said of motions of known truth."""

    positives: Count = Count()
    """Motions that do what is asked: all should pass."""
    near_misses: Count = Count()
    """They do almost that: none should pass."""
    exploits: Count = Count()
    """They get the numbers without doing it: none should pass."""
    others: Count = Count()
    """What other sentences of the robot ask for: none should pass."""

    @property
    def false_passes(self) -> int:
        """Near misses and exploits that passed."""
        return self.near_misses.passed + self.exploits.passed

    @property
    def spoilt(self) -> int:
        """Near misses and exploits."""
        return self.near_misses.of + self.exploits.of


class ExamCalibration(Contract):
    """Calibration of one exam."""

    digest: str
    """Of the exam that was measured."""
    mended_on: ExamCounts
    """Motions whose verdicts were looked at one by one while exams were mended."""
    never_looked_at: ExamCounts
    """Motions of rules of which only these counts were seen."""
    passed_wrongly: tuple[str, ...] = ()
    """Rules of the former with a motion that passed and should not have."""


class SuiteCalibration(Contract):
    """Calibration of a suite's exams (`calibration.json` beside them)."""

    suite: str
    seed: int
    variations: int
    hold_out_seed: int
    """Decides which rules of each case are never looked at."""
    cases: dict[str, ExamCalibration]
    """By the name of the case."""

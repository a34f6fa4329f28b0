"""Code that a model wrote to judge what predicates cannot say, and eyes should not."""

import hashlib

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.intent import Criterion, Key


class Leaf(Contract):
    """One thing that is measured for a criterion."""

    name: str = Field(max_length=80)
    metric: str = Field(max_length=1000)
    """What is computed, of which features, in which window."""
    threshold: str = Field(max_length=300)
    """When it is fully met, with its unit."""
    partial_credit: str = Field(max_length=500)
    """How the credit grows from 0 to 1 on the way there."""


class Decomposition(Contract):
    """How a criterion is measured."""

    measurable: bool
    """Whether the features can tell it at all; what they cannot is left to eyes."""
    reason: str = Field(max_length=2000)
    """Why, and how a motion that does not do it could still get a high score."""
    leaves: tuple[Leaf, ...] = Field(default=(), max_length=8)
    """In the order in which they must happen where they have one; none where it cannot be measured."""


class JudgeFunction(Contract):
    """The function for one criterion."""

    key: Key
    """Of the criterion."""
    decomposition: Decomposition
    source: str = ""
    """Python with `judge(features) -> {"score", "evidence"}`; empty where the criterion is left to eyes."""
    problems: tuple[str, ...] = ()
    """Why there is no usable function where there should be one."""
    written_by: str = ""
    """"calling_agent", with its model where it was named; empty for the model that wrote the others."""

    @property
    def code_hash(self) -> str:
        """SHA-256 of the source, first 16 hex digits."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:16]


class JudgeCode(Contract):
    """The functions of a session, written once (`judge_code.json`)."""

    written_by: str
    """`provider:model`, or "calling_agent"."""
    functions: tuple[JudgeFunction, ...]

    @property
    def usable(self) -> tuple[JudgeFunction, ...]:
        """Those that measure something."""
        return tuple(function for function in self.functions if function.source)


class RolloutFinding(Contract):
    """What a function says of one rollout."""

    score: float = Field(ge=0, le=1)
    """The criterion is met at 1."""
    evidence: str = Field(default="", max_length=2000)
    """What was measured; the text is the model's."""


class CodeFinding(Contract):
    """What the function for one criterion said of the judged rollouts."""

    key: Key
    """Of the criterion."""
    written_by: str
    code_hash: str
    """SHA-256 of its source, first 16 hex digits."""
    scores: tuple[float, ...] = ()
    """Of each rollout, in their order; empty where it failed."""
    worst: RolloutFinding | None = None
    """What it says of the rollout with the lowest score; None where it failed."""
    problem: str = ""
    """Why it failed, with the line and a fix. It then counts nothing: that is no score of 0."""


class JudgeCodeTask(Contract):
    """What the writer of judge functions has to know."""

    session_id: str
    to_measure: tuple[Criterion, ...]
    """The criteria that no predicate measures; a function may be written for each."""
    rules: str
    """What the code gets, returns, and may use."""
    functions: tuple[JudgeFunction, ...]
    """Those there are."""


class KnownMotion(Contract):
    """What a function says of a motion whose truth is known."""

    motion: str
    score: float


class JudgeCodeReport(Contract):
    """What came of a function that was handed in."""

    session_id: str
    key: Key
    accepted: bool
    """False: nothing is judged with it."""
    errors: tuple[str, ...]
    """With the line, the reason, and a fix."""
    code_hash: str
    known_motions: tuple[KnownMotion, ...]
    """What it scores highest among motions whose truth is known; empty where there are none of this robot."""

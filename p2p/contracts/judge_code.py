"""Code that a model wrote to judge what predicates cannot say, and eyes should not."""

import hashlib

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.intent import Key


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

    @property
    def code_hash(self) -> str:
        """SHA-256 of the source, first 16 hex digits."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:16]


class JudgeCode(Contract):
    """The functions of a session, written once (`judge_code.json`)."""

    written_by: str
    """`provider:model`."""
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

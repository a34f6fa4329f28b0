"""A reward that a model wrote, seen from the worker: it is computed in a process of its own, and nothing it says is
believed unseen."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, ValidationError

from p2p.contracts.base import Contract
from p2p.contracts.errors import InvalidReward, RewardFailed
from p2p.contracts.reward import RewardReport, RewardSpec
from p2p.contracts.reward_rules import Method
from p2p.worker.code_host.boxes import Arrays
from p2p.worker.code_host.host_process import Answer, CodeRefused, HostFailed, HostProcess
from p2p.worker.code_host.untrusted_text import one_line
from p2p.worker.reward.gate import admit
from p2p.worker.reward.loader import read_source
from p2p.worker.reward.recording import Recording
from p2p.worker.reward.service import arrays_of
from p2p.worker.reward.steps import Clock, Floats, Steps, first_bad_row, not_finite
from p2p.worker.reward.trial import refused_with

LIMIT_S = 10.0
"""For loading a reward, and for an exchange with few rows; a proof has ten times as long."""
LIMIT_PER_ROW_S = 0.005
PROOF_FACTOR = 10.0
MAX_TERMS = 256
MAX_NAME = 200
"""Characters of a term's name."""

_TOO_SLOW = (
    "did not come to an end within {:.0f} s on a few hundred transitions. "
    "Look for a loop without an end, or for very slow code."
)

_NO_REPORT = "it answered something that is no report."
ROUNDING = 1e-9
MAX_ISSUES = 64
MAX_TEXT = 2_000
"""Characters of each thing that a report says."""

Operation = Literal["run", "evaluate", "replay"]


class _Evaluated(Contract):
    """What comes with a table."""

    names: tuple[str, ...] = Field(max_length=MAX_TERMS)
    method: Method = "loop"
    reason: str = ""


class HostedReward:
    """A reward that loads, in a process of its own, which ends with this object.

    Args:
        source: Text of the file.

    Raises:
        InvalidReward: it does not load.
        EnvironmentProblem: the process does not start.
    """

    def __init__(self, source: str) -> None:
        admit(source)
        self.source = source
        self._host = HostProcess("reward")
        self.close = self._host.close
        """Ends the process."""
        self.spec = self._load()
        """What it says about itself."""

    @classmethod
    def from_file(cls, path: Path) -> "HostedReward":
        """Load the reward in `path`.

        Raises:
            InvalidReward: there is no such file, or what is in it does not load.
        """
        return cls(read_source(path))

    @property
    def pid(self) -> int:
        """Of its process."""
        return self._host.pid

    def run(self, steps: Steps) -> tuple[Floats, tuple[str, ...]]:
        """Total and terms of whole episodes side by side, step after step, and the names of the terms.

        Raises:
            RewardFailed: the reward raised, gave no answer, or returned what is not a finite number.
        """
        clock = Clock(steps.starts.shape[1])
        answer = self.ask_of_steps("run", {}, steps, clock)
        return checked_table(answer, steps, clock, ())

    def evaluation(self, n: int, seed: int) -> "HostedEvaluation":
        """The evaluation of the blocks of `n` environments; `seed` is of the rows by which a batch is checked."""
        return HostedEvaluation(self, n, seed)

    def ask_of_steps(
        self, operation: Operation, fields: Mapping[str, Any], steps: Steps, clock: Clock, patience: float = 1.0
    ) -> Answer:
        """Have some steps computed, in a time that grows with their number.

        Raises:
            RewardFailed: there was no answer, or the reward is said to have failed.
        """
        limit = patience * max(LIMIT_S, LIMIT_PER_ROW_S * steps.rows)
        try:
            return self._host.ask(operation, fields, arrays_of(steps), limit)
        except CodeRefused as refusal:
            raise RewardFailed(str(refusal)) from refusal
        except HostFailed as failure:
            what = f"{_at(failure, self.source)}the reward {failure}"
            if failure.row is not None and failure.row < steps.rows:
                raise clock.failure(what, steps, failure.row) from failure
            raise RewardFailed(f"{what}, {clock.span(steps)}.") from failure

    def ask(self, operation: str, fields: Mapping[str, Any], arrays: Arrays) -> Answer:
        """Anything else.

        Raises:
            RewardFailed: there was no answer, or the reward is said to have failed.
        """
        try:
            return self._host.ask(operation, fields, arrays, PROOF_FACTOR * LIMIT_S)
        except (CodeRefused, HostFailed) as failure:
            raise RewardFailed(f"the reward {failure}.") from failure

    def _load(self) -> RewardSpec:
        try:
            answer = self._host.ask("load", {"source": self.source}, {}, LIMIT_S)
            return RewardSpec.model_validate(answer.fields)
        except CodeRefused as refusal:
            self.close()
            raise InvalidReward(str(refusal)) from refusal
        except HostFailed as failure:
            what = f"{_at(failure, self.source)}the reward {failure}, while it was loaded."
            raise InvalidReward(what) from failure
        except ValidationError as error:
            self.close()
            raise InvalidReward("the reward's description is none.") from error


class HostedEvaluation:
    """The evaluation of block after block in the process of a reward.

    Args:
        reward: The reward.
        n: Environments.
        seed: Of the choice of rows by which a batch is checked.
    """

    def __init__(self, reward: HostedReward, n: int, seed: int) -> None:
        self._reward, self._clock = reward, Clock(n)
        self._key = {"key": reward.ask("begin", {"n": n, "seed": seed}, {}).fields}
        self._said = _Evaluated(names=())

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the terms, known after the first block."""
        return self._said.names

    @property
    def method(self) -> Method:
        """How blocks are evaluated."""
        return self._said.method

    @property
    def reason(self) -> str:
        """Why not all rows at once."""
        return one_line(self._said.reason)

    def evaluate(self, steps: Steps) -> Floats:
        """Total and terms of every row of the next block, shape (T * n, 1 + n_terms).

        Raises:
            RewardFailed: the reward raised, gave no answer, or returned what is not a finite number.
        """
        patience = 1.0 if self._clock.steps else PROOF_FACTOR
        answer = self._reward.ask_of_steps("evaluate", self._key, steps, self._clock, patience)
        table, _ = checked_table(answer, steps, self._clock, self.names)
        self._said = _Evaluated.model_validate(answer.fields)
        self._clock.advance(steps.starts)
        return table

    def replay(self, steps: Steps) -> None:
        """Live through steps again that are over, for what the reward remembers of them.

        Raises:
            RewardFailed: it raised, or gave no answer.
        """
        self._reward.ask_of_steps("replay", self._key, steps, self._clock)

    def state(self) -> dict[str, Any]:
        """What was chosen and counted so far, as JSON.

        Raises:
            RewardFailed: there was no answer.
        """
        said = self._reward.ask("state", self._key, {}).fields
        return {"host": said, "steps": self._clock.steps, "ages": self._clock.ages.tolist()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state; `replay` then gives the reward its memory back.

        Raises:
            RewardFailed: there was no answer.
        """
        self._clock.steps, self._clock.ages = state["steps"], np.array(state["ages"], dtype=np.int64)
        answer = self._reward.ask("restore", {**self._key, "state": state["host"]}, {})
        self._said = _said(answer)


def try_hosted(source: str, recording: Recording, limit_s: float) -> RewardReport:
    """Try a reward on recorded transitions, in a process of its own.

    The report of a reward that ran out of time says so, with the line at which it was.
    """
    host = HostProcess("trial")
    try:
        answer = host.ask("try", {"source": source}, arrays_of(recording), limit_s)
        report = RewardReport.model_validate(answer.fields)
        return report if _is_possible(report, len(recording.starts), source) else refused_with(_NO_REPORT)
    except HostFailed as failure:
        message = _TOO_SLOW.format(limit_s) if failure.late else f"it {failure}."
        return refused_with(message, _line(failure, source))
    except CodeRefused as refusal:
        return refused_with(str(refusal))
    except ValidationError:
        return refused_with(_NO_REPORT)
    finally:
        host.close()


def _is_possible(report: RewardReport, rows: int, source: str) -> bool:
    """Whether a report can be one of this trial: the reward shares a process with whoever writes it.

    Whoever reads the words of a report reads the reward's: what it can claim is bounded, and no claim of its own
    takes the place of what a training measures.
    """
    costs = [report.microseconds_per_call, report.microseconds_per_step or 0.0]
    numbers = [value for term in report.terms for value in (term.mean, term.minimum, term.maximum, term.std)]
    shares = [term.share for term in report.terms]
    names = [term.name for term in report.terms]
    described = report.spec.terms if report.spec is not None else ()
    texts = [
        *(issue.message for issue in report.issues),
        *(text for term in described for text in (term.description, term.latex)),
        *((report.spec.latex, report.spec.description) if report.spec is not None else ()),
        report.method_reason,
    ]
    lines = [issue.line for issue in report.issues if issue.line is not None]
    complete = report.spec is not None and report.terms and report.transitions == rows
    return (
        all(math.isfinite(number) for number in (*numbers, *costs, *shares))
        and min([*costs, *shares, *(term.std for term in report.terms)]) >= 0
        and max(shares, default=0.0) <= 1 + ROUNDING
        and (bool(complete) if report.accepted else 0 <= report.transitions <= rows)
        and len(set(names)) == len(names) <= MAX_TERMS
        and len(described) <= MAX_TERMS
        and all(len(name) <= MAX_NAME and name.isprintable() for name in (*names, *(term.name for term in described)))
        and len(report.issues) <= MAX_ISSUES
        and all(issue.severity in ("error", "warning") for issue in report.issues)
        and all(len(text) <= MAX_TEXT for text in texts)
        and all(1 <= line <= source.count("\n") + 1 for line in lines)
    )


def checked_table(answer: Answer, steps: Steps, clock: Clock, names: tuple[str, ...]) -> tuple[Floats, tuple[str, ...]]:
    """The table of an answer, and the names of its terms, which have to be `names` if there are any.

    Raises:
        RewardFailed: it is none, or holds a number that is not finite.
    """
    try:
        said = _said(answer)
    except RewardFailed as failure:
        raise RewardFailed(f"{failure.args[0].removesuffix('.')}, {clock.span(steps)}.") from failure
    if answer.table.shape != (steps.rows, 1 + len(said.names)):
        raise RewardFailed(
            f"the reward answered {answer.table.shape[0]} rows of {answer.table.shape[1]} numbers, expected "
            f"{steps.rows} of {1 + len(said.names)}, {clock.span(steps)}."
        )
    if names and said.names != names:
        what = f"the reward's terms changed from {', '.join(names)} to {', '.join(said.names)}"
        raise RewardFailed(f"{what}, {clock.span(steps)}.")
    bad = first_bad_row(answer.table)
    if bad is not None:
        raise clock.failure(not_finite(answer.table[bad], said.names), steps, bad)
    return answer.table, said.names


def _said(answer: Answer) -> _Evaluated:
    try:
        said = _Evaluated.model_validate(answer.fields)
    except ValidationError as error:
        raise RewardFailed("the reward answered something that is no evaluation.") from error
    if len(set(said.names)) < len(said.names) or any(
        len(name) > MAX_NAME or not name.isprintable() for name in said.names
    ):
        raise RewardFailed(f"the reward's terms need different names of at most {MAX_NAME} printable characters.")
    return said


def _line(failure: HostFailed, source: str) -> int | None:
    """The line at which it was, where it is one."""
    return failure.line if failure.line is not None and failure.line <= source.count("\n") + 1 else None


def _at(failure: HostFailed, source: str) -> str:
    line = _line(failure, source)
    return "" if line is None else f"line {line}: "

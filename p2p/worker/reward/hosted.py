"""Client of a model-written reward: it runs in its own process, and every answer is checked."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError

from p2p.contracts.base import Contract
from p2p.contracts.errors import InvalidReward, RewardFailed
from p2p.contracts.reward import RewardReport, RewardSpec, TermStatistics
from p2p.contracts.reward_rules import Method
from p2p.worker.code_host.host_process import CodeRefused, HostAnswer, HostFailed, HostProcess
from p2p.worker.code_host.untrusted_text import MAX_MESSAGE, one_line
from p2p.worker.reward.host_service import arrays_of
from p2p.worker.reward.recorded_steps import Evaluated, RecordedSteps, StepFailed
from p2p.worker.reward.recording import Recording
from p2p.worker.reward.trial import LARGEST, MAX_NAME, MAX_TERMS, refused_with
from p2p.worker.reward_source.gate import admit
from p2p.worker.reward_source.loader import read_source

LIMIT_S = 10.0
"""For loading a reward, and for an exchange with few rows; a proof has ten times as long."""
LIMIT_PER_ROW_S = 0.005
PROOF_FACTOR = 10.0

_TOO_SLOW = (
    "did not finish within {:.0f} s on a few hundred transitions. Look for an endless loop, or for very slow code."
)

_NO_REPORT = "it returned an invalid report."
ROUNDING = 1e-9
MAX_ISSUES = 64
MAX_TEXT = MAX_MESSAGE
"""Characters of each thing that a report says."""

Operation = Literal["run", "evaluate", "replay"]


class _Evaluated(Contract):
    """Fields sent with a table."""

    names: tuple[str, ...] = Field(max_length=MAX_TERMS)
    method: Method = "loop"
    reason: str = ""


class HostedReward:
    """Loaded reward in its own process, which ends with this object.

    It runs whole episodes (`run`), and evaluates one training block by block (`begin`, then `evaluate`).

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
        """Description that it gives of itself."""
        self._said = _Evaluated(names=())

    @classmethod
    def from_file(cls, path: Path) -> "HostedReward":
        """Load the reward in `path`.

        Raises:
            InvalidReward: there is no such file, or what is in it does not load.
        """
        return cls(read_source(path))

    @property
    def pid(self) -> int:
        """Process id."""
        return self._host.pid

    def run(self, steps: RecordedSteps) -> Evaluated:
        """Total and terms of whole episodes side by side, step by step, and the names of the terms.

        Raises:
            StepFailed: the reward raised, or gave no answer of use.
        """
        answer = self._ask_of_steps("run", steps)
        return answer.table, _checked(answer, steps, ()).names

    def begin(self, n: int, seed: int) -> Self:
        """Start evaluating blocks of `n` environments; `seed` selects the rows computed both ways."""
        self._ask("begin", {"n": n, "seed": seed})
        self._said = _Evaluated(names=())
        return self

    @property
    def method(self) -> Method:
        """How blocks are evaluated."""
        return self._said.method

    @property
    def reason(self) -> str:
        """Reason for not being vectorised."""
        return one_line(self._said.reason)

    def evaluate(self, steps: RecordedSteps) -> Evaluated:
        """Total and terms of every row of the next block, shape (T * n, 1 + n_terms), and the names of the terms.

        Raises:
            StepFailed: the reward raised, or gave no answer of use.
        """
        names = self._said.names
        answer = self._ask_of_steps("evaluate", steps, 1.0 if names else PROOF_FACTOR)
        self._said = _checked(answer, steps, names)
        return answer.table, self._said.names

    def replay(self, steps: RecordedSteps) -> None:
        """Replay past steps to rebuild the reward's memory.

        Raises:
            StepFailed: it raised, or gave no answer.
        """
        self._ask_of_steps("replay", steps)

    def state(self) -> dict[str, Any]:
        """Choices and counts so far, as JSON.

        Raises:
            RewardFailed: there was no answer.
        """
        state: dict[str, Any] = self._ask("state", {}).fields
        return state

    def restore(self, state: Mapping[str, Any]) -> tuple[str, ...]:
        """Continue from a saved state and return the names of the terms; `replay` then restores the reward's memory.

        Raises:
            RewardFailed: there was no answer of use.
        """
        self._said = _said(self._ask("restore", {"state": state}))
        return self._said.names

    def _ask_of_steps(self, operation: Operation, steps: RecordedSteps, patience: float = 1.0) -> HostAnswer:
        """Ask about some steps, within a time that grows with their number.

        Raises:
            StepFailed: there was no answer, or the reward failed.
        """
        limit = patience * max(LIMIT_S, LIMIT_PER_ROW_S * steps.rows)
        try:
            return self._host.ask(operation, {}, arrays_of(steps), limit)
        except (CodeRefused, HostFailed) as failure:
            what = str(failure)
            if isinstance(failure, HostFailed):
                what = f"{_at(failure, self.source)}the reward {what}"
            known = failure.row is not None and failure.row < steps.rows
            raise StepFailed(what, failure.row if known else None) from failure

    def _ask(self, operation: str, fields: Mapping[str, Any]) -> HostAnswer:
        """Ask anything else.

        Raises:
            RewardFailed: there was no answer, or the reward failed.
        """
        try:
            return self._host.ask(operation, fields, {}, PROOF_FACTOR * LIMIT_S)
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
            raise InvalidReward("the reward's description is invalid.") from error


def _checked(answer: HostAnswer, steps: RecordedSteps, names: tuple[str, ...]) -> _Evaluated:
    """Fields of a valid table; its terms must be `names` if there are any.

    Raises:
        StepFailed: it is no answer to these steps.
    """
    said = _said(answer)
    rows, columns = answer.table.shape
    if (rows, columns) != (steps.rows, 1 + len(said.names)):
        raise StepFailed(
            f"the reward answered {rows} rows of {columns} numbers, expected {steps.rows} of {1 + len(said.names)}"
        )
    if names and said.names != names:
        raise StepFailed(f"the reward's terms changed from {', '.join(names)} to {', '.join(said.names)}")
    return said


def _said(answer: HostAnswer) -> _Evaluated:
    try:
        said = _Evaluated.model_validate(answer.fields)
    except ValidationError as error:
        raise StepFailed("the reward returned an invalid evaluation") from error
    if len(set(said.names)) < len(said.names) or any(
        len(name) > MAX_NAME or not name.isprintable() for name in said.names
    ):
        raise StepFailed(f"the reward's terms need different names of at most {MAX_NAME} printable characters")
    return said


def try_hosted(source: str, recording: Recording, limit_s: float) -> RewardReport:
    """Try a reward on recorded transitions, in its own process.

    The report of a reward that ran out of time says so, with the line at which it was.
    """
    host = HostProcess("trial")
    try:
        answer = host.ask("try", {"source": source}, arrays_of(recording), limit_s)
        report = RewardReport.model_validate(answer.fields)
        if not _is_possible(report, len(recording.starts), source, limit_s):
            return refused_with(_NO_REPORT)
        # The report with each of its messages on one line: a second one could pass for p2p's.
        issues = tuple(issue.model_copy(update={"message": one_line(issue.message)}) for issue in report.issues)
        return report.model_copy(update={"issues": issues, "method_reason": one_line(report.method_reason)})
    except HostFailed as failure:
        message = _TOO_SLOW.format(limit_s) if failure.late else f"it {failure}."
        return refused_with(message, _line(failure, source))
    except CodeRefused as refusal:
        return refused_with(str(refusal))
    except ValidationError:
        return refused_with(_NO_REPORT)
    finally:
        host.close()


def _is_possible(report: RewardReport, rows: int, source: str, limit_s: float) -> bool:
    """Whether a report can be of this trial: generated code shares a process with the reporting code.

    The words of a report are therefore the reward's: what it can claim is bounded, and no claim takes the place of
    what a training, a probe or the pay for known motions measures; these are added later, by others.
    """
    seconds = [report.microseconds_per_call * report.transitions, (report.microseconds_per_step or 0.0) * rows]
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
        report.ranking is None
        and report.probe is None
        and all(0 <= cost <= 1e6 * limit_s for cost in seconds)
        and all(map(_is_statistics, report.terms))
        and sum(term.share for term in report.terms) <= 1 + ROUNDING
        and (bool(complete) if report.accepted else 0 <= report.transitions <= rows)
        and len(set(names)) == len(names) <= MAX_TERMS
        and len(described) <= MAX_TERMS
        and all(len(name) <= MAX_NAME and name.isprintable() for name in (*names, *(term.name for term in described)))
        and len(report.issues) <= MAX_ISSUES
        and all(issue.severity in ("error", "warning") for issue in report.issues)
        and all(len(text) <= MAX_TEXT for text in texts)
        and all(1 <= line <= source.count("\n") + 1 for line in lines)
    )


def _is_statistics(term: TermStatistics) -> bool:
    """Whether there are values with these statistics, each of which a trial accepts."""
    numbers = (term.mean, term.std, term.minimum, term.maximum, term.share)
    if not all(math.isfinite(number) and abs(number) <= LARGEST for number in numbers):
        return False
    slack = ROUNDING * max(1.0, abs(term.minimum), abs(term.maximum))
    return (
        term.minimum <= term.maximum
        and term.minimum - slack <= term.mean <= term.maximum + slack
        and 0 <= term.std <= term.maximum - term.minimum + slack
        and 0 <= term.share <= 1 + ROUNDING
    )


def _line(failure: HostFailed, source: str) -> int | None:
    """Line of the fault, if known."""
    return failure.line if failure.line is not None and failure.line <= source.count("\n") + 1 else None


def _at(failure: HostFailed, source: str) -> str:
    line = _line(failure, source)
    return "" if line is None else f"line {line}: "

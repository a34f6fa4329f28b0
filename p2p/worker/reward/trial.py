"""Try a reward on recorded transitions: refusals of the gate, broken contract, warnings."""

import math
import re
import time
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from p2p.analysis.reward_audit import return_line, term_line
from p2p.analysis.term_statistics import term_statistics
from p2p.contracts.base import Contract
from p2p.contracts.commands import COMMAND_FEATURES
from p2p.contracts.errors import InvalidReward
from p2p.contracts.reward import RewardIssue, RewardReport, RewardSpec
from p2p.training.reward_function import RewardFunction
from p2p.worker.code_host.serve import Result
from p2p.worker.code_host.untrusted_text import MAX_MESSAGE, shortened
from p2p.worker.reward.host_service import ROWS, columns_of
from p2p.worker.reward.recording import Recording, Transition
from p2p.worker.reward.runner import method_of
from p2p.worker.reward_source.gate import violations
from p2p.worker.reward_source.loader import FAILURES, LoadedReward, line_of, named
from p2p.worker.vectorise import NotVectorised, prove, vectorise

LARGEST = 1e100
"""Of a value; sums and squares of a few hundred are still finite."""
SLOW_US = 100.0
"""About half of what a whole training step takes without the reward, [µs]."""
MAX_TERMS = 256
MAX_NAME = 200
"""Characters of a term's name."""
SUM_TOLERANCE = 1e-6
"""How far the terms may be from the total, relative to it where it is large."""

M = TypeVar("M", bound=Contract)
Terms = dict[str, float]
_LINE = re.compile(r"line (\d+): (.*)", re.DOTALL)


def try_source(source: str, recording: Recording) -> RewardReport:
    """Load a reward and run it on recorded transitions. Call it only where generated code may run."""
    if issues := gate_issues(source):
        return refused(*issues)
    try:
        reward = LoadedReward(source)
    except InvalidReward as error:
        found = _LINE.match(str(error))
        return refused_with(found[2], int(found[1])) if found else refused_with(str(error))
    return Trial(reward).run(recording)


def refused_with(message: str, line: int | None = None) -> RewardReport:
    """Report of a reward that was refused before it ran, for one reason."""
    return refused(RewardIssue(severity="error", message=message, line=line))


def refused(*issues: RewardIssue) -> RewardReport:
    """Report of a reward that was refused before it ran."""
    return RewardReport(spec=None, issues=issues)


def gate_issues(source: str) -> tuple[RewardIssue, ...]:
    """Findings of the gate; none in source that is not valid Python, which loading will report."""
    try:
        found = violations(source)
    except InvalidReward:
        return ()
    return tuple(RewardIssue(severity="error", message=one.message, line=one.line) for one in found)


class TrialService:
    """Tries rewards in their host, one each; counterpart of `try_hosted`.

    Args:
        progress: Not used.
    """

    def __init__(self, progress: NDArray[np.int64]) -> None:
        self._progress = progress

    def answer(self, _operation: str, fields: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Result:
        """Try a reward, whatever the operation's name."""
        recording = Recording(**{name: arrays[name] for name in ROWS}, columns=columns_of(arrays))
        return in_short(try_source(fields["source"], recording)).model_dump(mode="json"), None


def in_short(report: RewardReport) -> RewardReport:
    """The report with each text cut to what a client believes: a docstring or an error may be of any length."""
    spec = report.spec
    if spec is not None:
        terms = tuple(_cut(term, "description", "latex") for term in spec.terms)
        spec = _cut(spec.model_copy(update={"terms": terms}), "description", "latex")
    issues = tuple(_cut(issue, "message") for issue in report.issues)
    return _cut(report.model_copy(update={"spec": spec, "issues": issues}), "method_reason")


def _cut(said: M, *names: str) -> M:
    return said.model_copy(update={name: shortened(getattr(said, name), MAX_MESSAGE) for name in names})


class _Refused(Exception):
    """The reward broke its contract; carries the issue."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.issue = RewardIssue(severity="error", message=message, line=line)


class Trial:
    """One reward on trial.

    Args:
        reward: What is tried.
    """

    def __init__(self, reward: LoadedReward) -> None:
        self._reward = reward
        self._names: tuple[str, ...] = ()
        self._values: dict[str, list[float]] = {}
        self._totals: list[float] = []
        self._seconds = 0.0
        self._notes: dict[str, RewardIssue] = {}
        self._batch: dict[str, Any] = {}

    def run(self, recording: Recording) -> RewardReport:
        """Run it on every transition, with a fresh instance per episode, until it breaks its contract."""
        issues: list[RewardIssue] = []
        episodes = recording.episodes()
        try:
            for episode in episodes:
                self._play(episode)
            instance = self._fresh()
            again = [self._call(instance, one, step)[0] for step, one in enumerate(episodes[0], start=1)]
            if again != self._totals[: len(again)]:
                self._note(
                    "random", "It is not deterministic: the same episode gave different rewards the second time."
                )
            self._batch = _try_batch(self._reward, recording)
        except _Refused as refusal:
            issues.append(refusal.issue)
        return self.report(issues)

    def report(self, errors: Sequence[RewardIssue]) -> RewardReport:
        """Findings so far."""
        terms = term_statistics({name: np.array(values) for name, values in self._values.items()})
        calls = max(len(self._totals), 1)
        microseconds = 1e6 * self._seconds / calls
        if microseconds > SLOW_US:
            self._note("slow", f"One call takes {microseconds:.0f} µs, which slows the training down.")
        declared = set(self._reward.description.terms)
        if self._names and declared != set(self._names):
            astray = sorted(declared ^ set(self._names))[0]
            self._note(
                "declared",
                f"It describes the terms {', '.join(sorted(declared)) or '(none)'}, "
                f"but returns {', '.join(self._names)}. Both must name the same.",
                term_line(self._reward.source, astray),
            )
        totals = np.array(self._totals)
        if (
            len(totals) > 1
            and abs(totals[0]) > SUM_TOLERANCE
            and np.ptp(totals) <= SUM_TOLERANCE * max(1.0, float(np.abs(totals).max()))
        ):
            self._note(
                "constant",
                f"The total was {totals[0]:.6g} at every one of {len(totals)} steps of random motion, whatever the "
                "robot did: so far it teaches nothing. Return sum(terms.values()), and let a term depend "
                "on what was asked.",
                return_line(self._reward.source),
                mend=True,
            )
        warnings = [] if errors else list(self._notes.values())
        return RewardReport(
            spec=RewardSpec.model_validate(self._reward.description.fields()),
            terms=terms,
            issues=(*errors, *warnings),
            transitions=len(self._totals),
            microseconds_per_call=microseconds,
            **self._batch,
        )

    def _play(self, episode: Sequence[Transition]) -> None:
        instance = self._fresh()
        for step, transition in enumerate(episode, start=1):
            total, terms = self._call(instance, transition, step)
            if not self._names:
                self._names = tuple(terms)
            if set(terms) != set(self._names):
                raise _Refused(
                    f"the terms changed from {', '.join(self._names)} to {', '.join(terms)} at step {step} of an "
                    "episode. Return the same terms every time, 0.0 for one that is not active."
                )
            self._totals.append(total)
            for name, value in terms.items():
                self._values.setdefault(name, []).append(value)
            gap = abs(sum(terms.values()) - total)
            if gap > SUM_TOLERANCE * max(1.0, abs(total)):
                self._note(
                    "sum",
                    f"The terms do not sum to the total: {sum(terms.values()):.6g} against {total:.6g} at step {step}. "
                    "Return sum(terms.values()), and return every other contribution as a term.",
                    return_line(self._reward.source),
                    mend=True,
                )

    def _call(self, instance: RewardFunction, transition: Transition, step: int) -> tuple[float, Terms]:
        """One call on copies of the transition."""
        t = transition
        arrays = (t.obs.copy(), t.action.copy(), t.next_obs.copy())
        info = dict(t.info)
        begun = time.process_time()
        try:
            result = instance.compute(*arrays, info)
        except FAILURES as error:
            hint = _key_hint(error, t.info)
            raise _Refused(f"raised {named(error)} at step {step} of an episode.{hint}", line_of(error)) from error
        self._seconds += time.process_time() - begun
        originals = zip(("obs", "action", "next_obs"), (t.obs, t.action, t.next_obs), arrays, strict=True)
        changed = [name for name, original, array in originals if not np.array_equal(original, array)]
        if len(info) != len(t.info) or any(info.get(key) is not value for key, value in t.info.items()):
            changed.append("info")
        if changed:
            what = f"It writes into {', '.join(changed)}. These are copies: nothing but the reward sees the change."
            self._note("writes", what)
        return _checked(result, step)

    def _fresh(self) -> RewardFunction:
        try:
            return self._reward.fresh()
        except FAILURES as error:
            raise _Refused(f"could not be created again for another episode: {error}", line_of(error)) from error

    def _note(self, kind: str, message: str, line: int | None = None, mend: bool = False) -> None:
        """Keep the newest warning of a kind."""
        self._notes[kind] = RewardIssue(severity="warning", message=message, line=line, mend=mend)


def _try_batch(reward: LoadedReward, recording: Recording) -> dict[str, Any]:
    """Evaluation method of a training, as fields of its report."""
    r = recording
    try:
        vector = vectorise(reward)
        prove(vector, reward, r.obs, r.actions, r.next_obs, r.columns, r.starts)
    except NotVectorised as refusal:
        return {"method_reason": str(refusal)}
    begun = time.process_time()
    vector(r.obs.copy(), r.actions.copy(), r.next_obs.copy(), r.columns)
    microseconds = 1e6 * (time.process_time() - begun) / len(r.starts)
    return {"method": method_of(vector), "microseconds_per_step": microseconds}


def _checked(result: Any, step: int) -> tuple[float, Terms]:
    """Result as plain floats.

    Raises:
        _Refused: it is not (finite number, dict of finite numbers by name).
    """
    if not isinstance(result, tuple) or len(result) != 2:
        raise _Refused(f"returned {_kind(result)} at step {step}; expected a tuple (float, dict[str, float]).")
    total, terms = result
    if not isinstance(terms, dict) or not terms or not all(isinstance(name, str) for name in terms):
        raise _Refused(
            f"returned {_kind(terms)} as terms at step {step}; expected a dict from term name to float with at least "
            "one term."
        )
    if len(terms) > MAX_TERMS:
        raise _Refused(
            f"returned {len(terms)} terms at step {step}; expected at most {MAX_TERMS}. Sum some of them up."
        )
    if odd := next((name for name in terms if len(name) > MAX_NAME or not name.isprintable()), None):
        raise _Refused(
            f"named a term {odd[:40]!r} at step {step}; expected a name of at most {MAX_NAME} printable characters."
        )
    values = {name: _number(value, f"term {name!r}", step) for name, value in terms.items()}
    return _number(total, "the total", step), values


def _number(value: Any, what: str, step: int) -> float:
    if not isinstance(value, Real):
        raise _Refused(f"{what} is {_kind(value)} at step {step}; expected a float. Use float(…) or a reduction.")
    number = float(value)
    if math.isfinite(number) and abs(number) > LARGEST:
        raise _Refused(f"{what} is {number:.3g} at step {step}, too large to average; scale it down.")
    if not math.isfinite(number):
        raise _Refused(f"{what} is {number} at step {step}; a reward must be finite. Guard divisions, roots and logs.")
    return number


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    if value == {}:
        return "an empty dict"
    return "None" if value is None else f"a {type(value).__name__}"


def _key_hint(error: BaseException, info: Mapping[str, Any]) -> str:
    """Available names in `info`, for a missing key."""
    if not isinstance(error, KeyError) or not error.args or not isinstance(error.args[0], str) or error.args[0] in info:
        return ""
    if error.args[0] in COMMAND_FEATURES:
        return " It needs commands, which are a field of the configuration."
    close = get_close_matches(error.args[0], info, n=1)
    return f" Did you mean info[{close[0]!r}]?" if close else f" `info` has {', '.join(sorted(info))}."

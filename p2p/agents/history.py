"""Session history for a reviser, as plain data."""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher, unified_diff
from statistics import fmean
from typing import Any

from p2p.agents.builtin.reviser import best_of
from p2p.contracts.errors import InvalidInput
from p2p.contracts.protocols import Attempt
from p2p.contracts.reward import Lineage
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord

REGRESSION = 0.02
"""Fall of the score that counts as one."""
ALIKE = 0.85
"""Share of equal text above which two rewards are much the same."""
ERRATIC = 0.3
MAX_DIFF = 6000


class SessionHistory:
    """The judged iterations of a session.

    Args:
        record: Its directory.
        attempts: Its judged iterations, oldest first.
    """

    def __init__(self, record: SessionRecord, attempts: Sequence[Attempt]) -> None:
        self._record = record
        self._attempts = {attempt.number: attempt for attempt in attempts}

    @property
    def lineage(self) -> Lineage:
        """The tree of attempts, with the lessons."""
        return self._record.read_lineage()

    @property
    def newest(self) -> int:
        """Number of the last judged iteration."""
        return max(self._attempts)

    def attempt(self, iteration: int) -> Attempt:
        """One iteration.

        Raises:
            InvalidInput: it is not judged, or there is none of this number.
        """
        if iteration not in self._attempts:
            raise InvalidInput(
                f"There is no judged iteration {iteration}. Judged: {', '.join(map(str, self._attempts))}."
            )
        return self._attempts[iteration]

    def scores(self) -> dict[str, Any]:
        """Score and success of every iteration, the trend, and the best one."""
        rows = [
            {
                "iteration": number,
                "score": attempt.judgment.intent_score,
                "success_rate": attempt.judgment.success_rate,
                "verdict": attempt.judgment.verdict,
                "failure_tags": attempt.judgment.failure_tags,
                "based_on": attempt.based_on,
            }
            for number, attempt in self._attempts.items()
        ]
        values = [attempt.judgment.intent_score or 0.0 for attempt in self._attempts.values()]
        return {"iterations": rows, "best": best_of(self._attempts.values()).number, "trend": trend(values)}

    def since_best(self) -> int:
        """Iterations after the best one."""
        return self.newest - best_of(self._attempts.values()).number

    def strategy(self) -> dict[str, Any]:
        """Repeated problems: score drops, lasting tags, oscillating values, rewards tried before."""
        numbers = list(self._attempts)
        score = {number: self._attempts[number].judgment.intent_score or 0.0 for number in numbers}
        tags = [tag for attempt in self._attempts.values() for tag in attempt.judgment.failure_tags]
        often = max(2, 0.3 * len(numbers))
        return {
            "regressions": [
                {"iteration": new, "from": score[old], "to": score[new], "changed": self._changes(new)}
                for new in numbers
                if (old := self._attempts[new].based_on) in score and score[new] < score[old] - REGRESSION
            ],
            "persistent_failure_tags": sorted({tag for tag in tags if tags.count(tag) >= often}),
            "oscillating_hyperparameters": self._oscillating(),
            "much_the_same_rewards": [
                (first, second)
                for at, first in enumerate(numbers)
                for second in numbers[at + 1 :]
                if _likeness(self._attempts[first].source, self._attempts[second].source) > ALIKE
            ],
            "iterations_since_best": self.since_best(),
        }

    def compare(self, first: int, second: int) -> dict[str, Any]:
        """Differences of two rewards, configurations and results."""
        one, two = self.attempt(first), self.attempt(second)
        names = f"iteration {first}", f"iteration {second}"
        diff = "\n".join(unified_diff(one.source.splitlines(), two.source.splitlines(), *names, lineterm="", n=1))
        changed = {
            name: [one.config_changes.get(name), two.config_changes.get(name)]
            for name in dict.fromkeys([*one.config_changes, *two.config_changes])
            if one.config_changes.get(name) != two.config_changes.get(name)
        }
        return {
            "diff": diff[:MAX_DIFF],
            "config_changes": changed,
            "scores": [one.judgment.intent_score, two.judgment.intent_score],
            "success_rates": [one.judgment.success_rate, two.judgment.success_rate],
            "failure_tags": [one.judgment.failure_tags, two.judgment.failure_tags],
        }

    def runs(self, iteration: int) -> list[IterationRecord]:
        """The runs of an iteration, failed ones included.

        Raises:
            InvalidInput: there is no such iteration.
        """
        self.attempt(iteration)
        return self._record.iteration(iteration).runs()

    def run(self, iteration: int, run_id: str | None) -> IterationRecord:
        """One run; None takes the judged one.

        Raises:
            InvalidInput: there is no such iteration or run.
        """
        wanted = run_id or self.attempt(iteration).judgment.run_id
        runs = {run.iteration_id: run for run in self.runs(iteration)}
        if wanted not in runs:
            raise InvalidInput(f"Iteration {iteration} has no run {wanted!r}. It has {', '.join(runs)}.")
        return runs[wanted]

    def tree(self) -> dict[str, Any]:
        """Tree of attempts; hyperparameters only if they differ from the first configuration."""
        entries = self.lineage.iterations
        uses = [use for entry in entries.values() for use in entry.configs.values()]
        usual = uses[0].hyperparameters if uses else {}
        told = {key: entry.model_dump(mode="json") for key, entry in entries.items()}
        for entry in told.values():
            for use in entry["configs"].values():
                use["hyperparameters"] = _differing(use["hyperparameters"], usual)
        return {"iterations": told, "usual_hyperparameters": usual}

    def configs(self, iteration: int) -> dict[str, Any]:
        """Results of an iteration's configurations, and their differences from the first.

        Raises:
            InvalidInput: it is not judged, or there is none of this number.
        """
        self.attempt(iteration)
        record = self._record.iteration(iteration)
        entry = self.lineage.iterations.get(f"{self._record.session_id}/{record.iteration_id}")
        uses = entry.configs if entry is not None else {}
        base = next(iter(uses.values())).hyperparameters if uses else {}
        told = {
            config_id: {"directive": use.directive, "differs_in": _differing(use.hyperparameters, base)}
            for config_id, use in uses.items()
        }
        return {"aggregation": record.read_aggregation(), "configurations": told}

    def _changes(self, number: int) -> list[str]:
        revision = self._record.iteration(number - 1).read_revision()
        return [f"{change.kind} {change.name}" for change in revision.changes] if revision is not None else []

    def _oscillating(self) -> list[str]:
        """Hyperparameters that changed to another value and back."""
        found: set[str] = set()
        courses: dict[str, list[object]] = {}
        for attempt in self._attempts.values():
            for name, value in attempt.config.model_dump().items():
                course = courses.setdefault(name, [])
                if not course or course[-1] != value:
                    course.append(value)
        for name, course in courses.items():
            if any(course[at] == course[at + 2] for at in range(len(course) - 2)):
                found.add(name)
        return sorted(found)


def trend(values: Sequence[float]) -> str:
    """Improving, declining, plateau or erratic, by the means of the two halves; "too few" below three."""
    if len(values) < 3:
        return "too few"
    half = len(values) // 2
    rise = fmean(values[-half:]) - fmean(values[:half])
    swings = sum(
        (b - a) * (c - b) < 0 and abs(c - b) > ERRATIC for a, b, c in zip(values, values[1:], values[2:], strict=False)
    )
    if swings >= max(1, (len(values) - 2) // 2):
        return "erratic"
    return "improving" if rise > REGRESSION else "declining" if rise < -REGRESSION else "plateau"


def tag_history(attempts: Sequence[Attempt]) -> Mapping[str, dict[str, Any]]:
    """Failure tag -> its count, first and last iteration, and whether it is current."""
    table: dict[str, dict[str, Any]] = {}
    for attempt in attempts:
        for tag in attempt.judgment.failure_tags:
            row = table.setdefault(tag, {"count": 0, "first": attempt.number})
            row |= {"count": row["count"] + 1, "last": attempt.number}
    for row in table.values():
        row["active"] = row["last"] == attempts[-1].number
    return table


def _differing(values: Mapping[str, object], usual: Mapping[str, object]) -> dict[str, object]:
    """Values other than the defaults."""
    return {name: value for name, value in values.items() if value != usual.get(name)}


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.splitlines(), other.splitlines(), autojunk=False).ratio()

"""Tables of the calibration of exams."""

from collections.abc import Iterable

from p2p.analysis.intervals import wilson_interval
from p2p.lab.contracts.exams import Count, SuiteCalibration

HEADER = (
    "| suite | motions | exams | near misses that pass | exploits that pass | other sentences' motions that pass "
    "| positives that fail | without positives |",
    "|---|---|---|---|---|---|---|---|",
)


def markdown(calibrations: Iterable[SuiteCalibration]) -> str:
    """Two rows for each suite: motions that exams were mended on, and motions never looked at."""
    lines = [*HEADER]
    for one in calibrations:
        for words, counts in (
            ("mended on", [case.mended_on for case in one.cases.values()]),
            ("never looked at", [case.never_looked_at for case in one.cases.values()]),
        ):
            cells = (
                one.suite,
                words,
                str(len(counts)),
                _share(_summed(count.near_misses for count in counts)),
                _share(_summed(count.exploits for count in counts)),
                _share(_summed(count.others for count in counts)),
                _share(_failed(_summed(count.positives for count in counts))),
                str(sum(not count.positives.of for count in counts)),
            )
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _summed(counts: Iterable[Count]) -> Count:
    listed = list(counts)
    return Count(passed=sum(count.passed for count in listed), of=sum(count.of for count in listed))


def _failed(count: Count) -> Count:
    return Count(passed=count.of - count.passed, of=count.of)


def _share(count: Count) -> str:
    if not count.of:
        return "–"
    low, high = wilson_interval(count.passed, count.of)
    return f"{count.passed} of {count.of:,} [{100 * low:.2g} %, {100 * high:.2g} %]"

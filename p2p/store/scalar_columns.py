"""Metrics of runs as columns of numbers: small enough for trainings of millions of rows.

Up to `WHOLE` rows every value is kept. Of a longer file only the smallest and the largest value of every `PART` rows
are, with their steps: 32 bytes a column, where a parsed row takes thousands.
"""

import math
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from pydantic_core import from_json

from p2p.store.growing_file import GrowingFile

PART = 64
"""Rows of which two values are kept."""
WHOLE = 20_000
"""Rows up to which all values are kept."""
KEPT_BYTES = 96 << 20
"""Of all files together; those that nobody asked for longest are forgotten first."""
STEP = "global_step"
MISSING = math.nan
"""In place of a value that a row does not have."""
NOT_FINITE = math.inf
"""In place of NaN and infinities."""

Numbers = Sequence[float]


class Extremes(NamedTuple):
    """Smallest and largest value of parts of a column; infinite where a part has no finite one."""

    low: Numbers
    low_step: Numbers
    """NaN where the part has no value at all."""
    high: Numbers
    high_step: Numbers


class Column(NamedTuple):
    """One column from some step on: whole, or the extremes of its older rows and its newest rows."""

    extremes: Extremes
    steps: Numbers
    """Of the rows that are kept whole."""
    values: Numbers
    """`MISSING` where a row has none, `NOT_FINITE` for what is no finite number."""
    first: tuple[float, float] | None
    """Step and value of the first row that has one; None where `since` left it out, or there is none."""


class ScalarTable(NamedTuple):
    """What a file holds now."""

    rows: int
    """Of training."""
    step: int
    """Of the last row; 0 without any."""
    columns: Mapping[str, Column]
    evaluations: tuple[Mapping[str, Any], ...]
    """Rows of evaluations, without the returns of single rollouts."""
    names: tuple[str, ...]
    """Of all columns, in alphabetical order."""


def read_columns(path: Path, names: Iterable[str] | None = None, since: int | None = None) -> ScalarTable:
    """Columns of a file of metrics; only what is new since the last look is parsed.

    Args:
        path: The file; no rows if it is absent.
        names: Columns to return; None for all. Unknown ones are left out.
        since: Only rows of larger steps; None for all. Of parts that are kept as extremes, all that end later.
    """
    return _TABLES.of(path).table(names, since)


class _Tables:
    """The files that were read last."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: OrderedDict[Path, _Table] = OrderedDict()

    def of(self, path: Path) -> "_Table":
        with self._lock:
            table = self._known.pop(path, None) or _Table(path)
            self._known[path] = table
            total = sum(one.memory for one in self._known.values())
            while total > KEPT_BYTES and len(self._known) > 1:
                _, oldest = self._known.popitem(last=False)
                total -= oldest.memory
            return table


class _Table:
    """One file, read on from where it was last read to."""

    def __init__(self, path: Path) -> None:
        self._file = GrowingFile(path)
        self._lock = Lock()
        self._begin()

    @property
    def memory(self) -> int:
        """Of its numbers [bytes]."""
        return 8 * (len(self._columns) + 1) * len(self._steps) + 32 * len(self._columns) * len(self._part_steps)

    def table(self, names: Iterable[str] | None, since: int | None) -> ScalarTable:
        with self._lock:
            self._look()
            known = tuple(sorted(self._columns))
            wanted = known if names is None else [name for name in names if name in self._columns]
            return ScalarTable(
                rows=self._rows,
                step=int(self._steps[-1]) if self._steps else int(self._last_step),
                columns={name: self._column(name, since) for name in wanted},
                evaluations=tuple(row for row in self._evaluations if since is None or row.get(STEP, 0) > since),
                names=known,
            )

    def _column(self, name: str, since: int | None) -> Column:
        column = self._columns[name]
        part = 0 if since is None else max(0, bisect_right(self._part_steps, since) - 1)
        row = 0 if since is None else bisect_right(self._steps, since)
        whole = not self._dropped
        extremes = Extremes(*(() for _ in range(4))) if whole else column.extremes(part)
        first = column.first if since is None or (column.first and column.first[0] > since) else None
        return Column(extremes, self._steps[row:], column.values[row:], first)

    def _begin(self) -> None:
        self._rows = 0
        self._last_step = 0.0
        self._dropped = False
        """Whether older rows are kept as extremes alone."""
        self._steps = array("d")
        self._part_steps = array("d")
        """Of the first row of each part."""
        self._columns: dict[str, _Values] = {}
        self._getter = itemgetter(STEP, STEP)
        self._width = -1
        self._evaluations: list[dict[str, Any]] = []

    def _look(self) -> None:
        if self._file.replaced():
            self._begin()
        for _, block in self._file.blocks():
            lines = block.split(b"\n")
            for first in range(0, len(lines), PART):
                self._add(_parsed(lines[first : first + PART]))

    def _add(self, rows: Sequence[dict[str, Any]]) -> None:
        self._evaluations += [
            {key: value for key, value in row.items() if key != "all_returns"}
            for row in rows
            if row.get("type") == "eval"
        ]
        training = [row for row in rows if row.get("type") != "eval" and _is_number(row.get(STEP))]
        if not training:
            return
        if not self._add_alike(training):
            self._add_one_by_one(training)
        self._rows += len(training)
        self._last_step = self._steps[-1]
        while len(self._part_steps) * PART + PART < self._rows:  # the last row is always kept whole
            self._finish_part()
        if not self._dropped and self._rows > WHOLE:
            self._dropped = True
        if self._dropped:
            gone = len(self._steps) - (self._rows - len(self._part_steps) * PART)
            del self._steps[:gone]
            for column in self._columns.values():
                del column.values[:gone]

    def _add_alike(self, rows: Sequence[dict[str, Any]]) -> bool:
        """Add rows that have the same columns as those before, all at once; False, and nothing is added, for others."""
        if not self._columns or any(len(row) != self._width for row in rows):
            return False
        try:
            steps, *columns = (array("d", column) for column in zip(*map(self._getter, rows), strict=True))
        except (KeyError, TypeError, OverflowError):
            return False
        for column, values in zip(self._columns.values(), columns, strict=True):
            finite = values if math.isfinite(sum(values)) else array("d", map(_marked, values))
            column.values.extend(finite)
        self._steps.extend(steps)
        return True

    def _add_one_by_one(self, rows: Sequence[dict[str, Any]]) -> None:
        for row in rows:
            numbers = {key: _marked(value) for key, value in row.items() if _is_number(value) and key != STEP}
            for name in numbers.keys() - self._columns.keys():
                empty = _Values(array("d", [MISSING]) * len(self._steps), len(self._part_steps))
                self._columns[name] = empty
            for name, column in self._columns.items():
                column.values.append(numbers.get(name, MISSING))
            self._steps.append(row[STEP])
            for name, value in numbers.items():
                if self._columns[name].first is None:
                    self._columns[name].first = (self._steps[-1], value)
        self._width = len(rows[-1])
        self._getter = itemgetter(STEP, *self._columns)

    def _finish_part(self) -> None:
        begin = len(self._part_steps) * PART - (self._rows - len(self._steps))
        steps = self._steps[begin : begin + PART]
        self._part_steps.append(steps[0])
        for column in self._columns.values():
            column.finish_part(steps, begin)


class _Values:
    """One column: its newest values, and the extremes of its parts.

    Args:
        values: `MISSING` for each row that is kept so far.
        parts: How many parts there were before its first value.
    """

    def __init__(self, values: "array[float]", parts: int) -> None:
        self.values = values
        self.first: tuple[float, float] | None = None
        self._low = array("d", [math.inf]) * parts
        self._low_step = array("d", [math.nan]) * parts
        self._high = array("d", [-math.inf]) * parts
        self._high_step = array("d", [math.nan]) * parts

    def extremes(self, part: int) -> Extremes:
        return Extremes(self._low[part:], self._low_step[part:], self._high[part:], self._high_step[part:])

    def finish_part(self, steps: Numbers, begin: int) -> None:
        values = self.values[begin : begin + PART]
        low, high = math.inf, -math.inf
        low_step = high_step = math.nan
        if math.isfinite(sum(values)):
            low, high = min(values), max(values)
            low_step, high_step = steps[values.index(low)], steps[values.index(high)]
        elif finite := [(value, step) for value, step in zip(values, steps, strict=True) if math.isfinite(value)]:
            (low, low_step), (high, high_step) = min(finite), max(finite)
        elif infinite := [step for value, step in zip(values, steps, strict=True) if value == NOT_FINITE]:
            low_step = high_step = infinite[0]
        self._low.append(low)
        self._low_step.append(low_step)
        self._high.append(high)
        self._high_step.append(high_step)


_TABLES = _Tables()


def _parsed(lines: Sequence[bytes]) -> list[dict[str, Any]]:
    """Rows of some lines; those that are broken are left out."""
    wanted = [line for line in lines if line]
    try:
        rows = from_json(b"[%b]" % b",".join(wanted))
    except ValueError:
        rows = list(_parsed_one_by_one(wanted))
    return [row for row in rows if isinstance(row, dict)]


def _parsed_one_by_one(lines: Iterable[bytes]) -> Iterator[Any]:
    for line in lines:
        try:
            yield from_json(line)
        except ValueError:
            continue


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _marked(value: float) -> float:
    """A number, or `NOT_FINITE` in place of what is none."""
    try:
        return float(value) if math.isfinite(value) else NOT_FINITE
    except OverflowError:  # an integer of hundreds of digits
        return NOT_FINITE

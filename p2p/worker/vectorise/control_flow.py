"""Branches, loops, returns and assignments of a rewritten function, and merging of their values."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.worker.vectorise.batch import Batch, kind_of, raw, shared_kind, truth
from p2p.worker.vectorise.lanes import LANES, NewKey, Split

# ------------------------------------------------------------------------------------------------------------- merging
# One value out of two, where some rows went one way and the others another.


class Unbound:
    """Value of a variable before its first assignment."""

    def __bool__(self) -> bool:
        raise UnboundLocalError("a variable is used before it has a value")


UNBOUND = Unbound()


def merge(rows: NDArray[np.bool_], new: Any, old: Any) -> Any:
    """`new` in the rows `rows`, `old` elsewhere.

    Dicts and sequences are merged part by part.

    Raises:
        Split: the two are not of one kind, so that the rows must be computed apart.
    """
    if new is old or old is UNBOUND:
        return new
    if _numeric(new) and _numeric(old):
        one, other = (np.atleast_1d(raw(value)) for value in (new, old))
        if (
            one.ndim == other.ndim
            and _shape(new) == _shape(old)
            and (one.dtype.kind == "b") == (other.dtype.kind == "b")
        ):
            return Batch(np.where(rows, one, other), shared_kind(kind_of(new), kind_of(old)))
    elif type(new) is type(old):
        if isinstance(new, dict) and list(new) == list(old):
            return type(new)((key, merge(rows, value, old[key])) for key, value in new.items())
        if type(new) in (tuple, list) and len(new) == len(old):
            return type(new)(merge(rows, one, other) for one, other in zip(new, old, strict=True))
        if isinstance(new, str) and new == old:
            return new
    if rows.all() or not rows.any():
        return new if rows.any() else old
    raise Split(LANES.within(rows))


def snapshot(value: Any) -> Any:
    """Current value, independent of later writes into its containers."""
    if type(value) is dict:
        return {key: snapshot(item) for key, item in value.items()}
    if type(value) in (tuple, list):
        return type(value)(snapshot(item) for item in value)
    return value.copy() if type(value) is Batch and value.ndim else value


def _numeric(value: Any) -> bool:
    return isinstance(value, Batch | float | int | np.ndarray | np.generic)


def _shape(value: Any) -> tuple[int, ...]:
    return getattr(value, "shape", ())


# -------------------------------------------------------------------------------------------------------- control flow
# What branches, loops, returns and assignments of a rewritten function do.


Booleans = NDArray[np.bool_]
Attempt = tuple[Booleans | None, int]


class CallFrame:
    """One call of a function: returned rows and their values."""

    __slots__ = ("base", "entry", "gone", "jumps", "loops", "value")

    def __init__(self) -> None:
        self.entry = LANES.active
        """The rows the function was called for."""
        self.base = LANES.active
        """Those that have not returned; other rows' variables do not matter."""
        self.gone: Booleans | None = None
        self.value: Any = UNBOUND
        self.loops: list[Loop] = []
        self.jumps = 0
        """How often some rows left a block early."""

    def branch(self, test: Any, before: tuple[Any, ...] = ()) -> "Branch":
        """An `if` on `test`; `before` holds variables that may get their first value in it."""
        return Branch(self, test, before)

    def loop(self) -> "Loop":
        """A `for` or `while` that some rows may leave early."""
        return Loop(self)

    def assign(self, new: Any, old: Any) -> Any:
        """Value of a variable after an assignment."""
        active = LANES.active
        return new if active is self.base else merge(_given(active), new, old)

    def assign_outside(self, new: Any, old: Any) -> Any:
        """Value of an enclosing function's variable after an assignment."""
        active = LANES.active
        return new if active is None else merge(active, new, old)

    def returns(self, value: Any) -> bool:
        """Record the active rows' return value; return whether these were the last rows."""
        active = LANES.active
        if active is self.base and self.gone is None:
            self.value = value
        else:
            rows = _given(active)
            self.value = merge(rows, snapshot(value), self.value)
            self.gone = rows if self.gone is None else self.gone | rows
            self.jumps += 1
            left = ~self.gone if self.entry is None else self.entry & ~self.gone
            if left.any():
                LANES.active = np.zeros_like(rows)
                return False
        LANES.active = self.entry
        return True

    def goes_on(self) -> bool:
        """Whether any row executes the rest of the block."""
        return LANES.active is None or bool(LANES.active.any())

    def trying(self) -> "Attempt":
        """Start of a `try`: the active rows and the enclosing loops."""
        return LANES.active, len(self.loops)

    def caught(self, attempt: "Attempt") -> None:
        """Begin an `except` of that `try`.

        Raises:
            Split: only some of its rows have failed.
        """
        active, depth = attempt
        if LANES.active is not active:
            raise LANES.split()
        del self.loops[depth:]

    def remaining(self, rows: Booleans | None) -> Booleans | None:
        """Those of `rows` still in the function and in all its loops."""
        for gone in (self.gone, *(part for loop in self.loops for part in (loop.left, loop.skipped))):
            if gone is not None:
                rows = ~gone if rows is None else rows & ~gone
        return rows


class Loop:
    """A loop with rows that may leave it, or skip the rest of an iteration."""

    __slots__ = ("current", "frame", "left", "saved", "skipped")

    def __init__(self, frame: CallFrame) -> None:
        self.frame = frame
        self.saved = self.current = LANES.active
        self.left: Booleans | None = None
        self.skipped: Booleans | None = None
        frame.loops.append(self)

    def begins(self) -> bool:
        """Begin an iteration; False if no row is left."""
        self.skipped = None
        self.current = LANES.active = self.frame.remaining(self.saved) if self.frame.jumps else self.saved
        return self.current is None or bool(self.current.any())

    def skips(self) -> bool:
        """Let the active rows continue with the next iteration; return whether these were all."""
        if LANES.active is self.current:
            return True
        rows = _given(LANES.active)
        self.skipped = rows if self.skipped is None else self.skipped | rows
        self.frame.jumps += 1
        LANES.active = np.zeros_like(rows)
        return False

    def leaves(self) -> bool:
        """Let the active rows leave the loop; return whether no other is in this iteration."""
        rows = np.ones(LANES.count, dtype=np.bool_) if LANES.active is None else LANES.active
        self.left = rows if self.left is None else self.left | rows
        self.frame.jumps += 1
        if LANES.active is self.current:
            return True
        LANES.active = np.zeros_like(rows)
        return False

    def ends(self) -> None:
        """Continue after the loop."""
        self.frame.loops.pop()
        unchanged = self.frame.gone is None and not self.frame.loops
        LANES.active = self.saved if unchanged else self.frame.remaining(self.saved)


class Branch:
    """An `if`: the body for the rows where the test holds, the rest for the others."""

    __slots__ = ("before", "condition", "first_keys", "frame", "jumps", "mark", "plain", "rows", "saved")

    def __init__(self, frame: CallFrame, test: Any, before: tuple[Any, ...]) -> None:
        self.frame = frame
        self.saved = LANES.active
        self.jumps = frame.jumps
        self.before = before
        self.plain: bool | None = None
        """The test's truth where it is the same for all active rows."""
        if type(test) is Batch and (test.data.ndim == 1 or test.size == 1):
            self.condition = truth(test)
            if not LANES.some(self.condition):
                self.plain = False
            elif LANES.every(self.condition):
                self.plain = True
            else:
                self.rows = LANES.within(self.condition)
                self.mark = len(LANES.new_keys)
        else:
            self.plain = bool(test)

    def first(self) -> bool:
        """Begin the body; False if no row executes it."""
        if self.plain is not None:
            return self.plain
        LANES.active = self.rows
        return True

    def second(self) -> bool:
        """Begin the `else`; False if no row executes it."""
        if self.plain is not None:
            return not self.plain
        self.first_keys = self._taken()
        LANES.active = ~self.rows if self.saved is None else self.saved & ~self.rows
        return True

    def ends(self, after: tuple[Any, ...] = ()) -> None:
        """Continue after the `if` with the remaining rows; `after` holds the new values of `before`.

        Raises:
            Split: some rows have variables or keys that others have not.
        """
        frame = self.frame
        if self.plain is None:
            self._join_keys()
            if any(old is UNBOUND and new is not UNBOUND for old, new in zip(self.before, after, strict=True)):
                self._require_one_way()
        if frame.jumps == self.jumps:
            LANES.active = self.saved
            return
        LANES.active = left = frame.remaining(self.saved)
        if self.saved is frame.base and not frame.loops:
            frame.base = left
        if frame.loops and self.saved is frame.loops[-1].current:
            frame.loops[-1].current = left

    def _taken(self) -> list[tuple[NewKey, Any]]:
        """Take the keys added since the `if` began, with their values, out of the dicts."""
        keys = LANES.new_keys[self.mark :]
        LANES.new_keys = LANES.new_keys[: self.mark]
        return [(new, dict.pop(new.container, new.key)) for new in keys]

    def _join_keys(self) -> None:
        """Restore the keys that both branches added to the dicts."""
        first = self.first_keys
        second = self._taken()
        if not first and not second:
            return
        if [(id(new.container), new.key) for new, _ in first] != [(id(new.container), new.key) for new, _ in second]:
            self._require_one_way()
            if self._stays(self.rows):
                second = first  # the others have returned, and need no keys
            elif self._stays(~self.rows):
                first = second
            else:
                return
        for (new, value), (_, other) in zip(first, second, strict=True):
            new.container[new.key] = merge(self.rows, value, other)
            if self.saved is not None and not (new.frame is self.frame and self.saved is self.frame.base):
                LANES.new_keys.append(new._replace(rows=self.saved))

    def _require_one_way(self) -> None:
        """Check that the rows of one branch have left the function.

        Raises:
            Split: rows of both ways go on.
        """
        if self._stays(self.rows) and self._stays(~self.rows):
            raise Split(self.rows)

    def _stays(self, rows: Booleans) -> bool:
        """Whether any of `rows` continues after the `if`."""
        if self.saved is not None:
            rows = rows & self.saved
        gone = self.frame.gone
        return bool((rows if gone is None else rows & ~gone).any())


def _given(rows: Booleans | None) -> Booleans:
    return np.ones(LANES.count, dtype=np.bool_) if rows is None else rows

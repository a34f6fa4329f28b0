"""A reward as a function of many rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.errors import InvalidReward
from p2p.training.reward_function import RewardFunction
from p2p.worker.reward_source.loader import FAILURES, LegacyReward, LoadedReward, line_of, named
from p2p.worker.vectorise.batch import Batch
from p2p.worker.vectorise.lanes import LANES, CallRefused, NotVectorised, Split, TooManyWays, Untraceable
from p2p.worker.vectorise.namespace import namespace
from p2p.worker.vectorise.rewrite import rewrite
from p2p.worker.vectorise.rows import Floats, TransitionRows
from p2p.worker.vectorise.state import Freezer, StateSearch

Array = NDArray[Any]
Result = tuple[Floats, Floats, tuple[str, ...]]
MAX_PASSES = 32
"""Most groups of rows that may go through the code one after the other; of 1,024 rows, more would be no faster than a
loop."""


class VectorReward:
    """The rewards of many rows at once.

    Args:
        instance: The reward; nothing it holds may change.
        hand_written: Whether its `compute_batch` is used, rather than its rewritten `compute`.
    """

    def __init__(self, instance: RewardFunction, hand_written: bool) -> None:
        self._instance = instance
        self.hand_written = hand_written

    def __call__(self, obs: Floats, action: Floats, next_obs: Floats, info: Mapping[str, Array]) -> Result:
        """Rewards, shape (B,), their terms, shape (B, K), and the names of the terms, in order.

        Args:
            obs: Observations the actions were chosen on, shape (B, obs_dim).
            action: Actions, shape (B, action_dim).
            next_obs: Observations after the steps, shape (B, obs_dim).
            info: Name -> column, (B,) or (B, k); only the columns that the reward asks for are touched.

        Raises:
            NotVectorised: these rows need the reward to be called one by one. It says nothing about other rows.
        """
        rows = TransitionRows(obs, action, next_obs, info)
        with np.errstate(all="ignore"):
            try:
                return self._by_hand(rows) if self.hand_written else self._in_passes(rows)
            except Untraceable as refusal:
                raise CallRefused(str(refusal), line_of(refusal)) from refusal
            except NotVectorised:
                raise
            except FAILURES as error:
                raise CallRefused(f"raised {named(error)}", line_of(error)) from error
            finally:
                LANES.end()

    def _in_passes(self, rows: TransitionRows) -> Result:
        """One pass over all rows; one per group after a split."""
        waiting: list[NDArray[np.intp] | None] = [None]
        done: list[tuple[NDArray[np.intp], Result]] = []
        for _ in range(2 * MAX_PASSES):
            index = waiting.pop()
            group = rows if index is None else rows.taken(index)
            chosen = np.arange(len(rows)) if index is None else index
            try:
                done.append((chosen, self._pass(group)))
            except Split as split:
                waiting += _parted(chosen, split)
                where = line_of(split)
            if not waiting:
                return done[0][1] if len(done) == 1 else _joined(done, len(rows))
        raise TooManyWays(f"goes more than {MAX_PASSES} different ways through the code", where)

    def _pass(self, rows: TransitionRows) -> Result:
        LANES.begin(len(rows))
        total, terms = self._instance.compute(*rows.batches())  # type: ignore[arg-type]  # batches stand for arrays
        if LANES.new_keys:
            raise Split(LANES.new_keys[0].rows)
        table = np.empty((len(rows), len(terms)))
        for k, (name, value) in enumerate(terms.items()):
            table[:, k] = _column(value, f"the term {name!r}")
        return np.array(np.broadcast_to(_column(total, "the total"), len(rows))), table, tuple(terms)

    def _by_hand(self, rows: TransitionRows) -> Result:
        arguments = [array.view() for array in (rows.obs, rows.action, rows.next_obs)]
        for array in arguments:
            array.flags.writeable = False
        total, terms = self._instance.compute_batch(arguments[0], arguments[1], arguments[2], rows.info)
        columns = {"the total": total, **{f"the term {name!r}": value for name, value in terms.items()}}
        for what, value in columns.items():
            if np.shape(value) != (len(rows),):
                shape = f"shape {np.shape(value)}, not ({len(rows)},)"
                raise NotVectorised(f"compute_batch returned {what} in {shape}")
        table = np.stack([np.asarray(value, dtype=np.float64) for value in columns.values()], axis=1)
        return table[:, 0], table[:, 1:], tuple(terms)


def vectorise(reward: LoadedReward, use_compute_batch: bool = True) -> VectorReward:
    """Reward as a function of many rows, not yet proven equal.

    Args:
        reward: The reward.
        use_compute_batch: Whether a `compute_batch` it brings along is preferred to its rewritten `compute`.

    Raises:
        NotVectorised: it keeps state, or does what cannot be done for many rows at once.
    """
    original = reward.fresh()
    # Names and lines of the functions that a training calls.
    if isinstance(original, LegacyReward):
        functions = [original.function]
    else:
        functions = [type(original).compute, type(original).compute_batch]
    codes = [function.__code__ for function in functions if hasattr(function, "__code__")]
    entries = {(code.co_name, code.co_firstlineno) for code in codes}
    StateSearch(reward.tree(), entries).refuse()
    if use_compute_batch and type(original).compute_batch is not RewardFunction.compute_batch:
        _freeze(original, type(original).compute_batch.__globals__)
        return VectorReward(original, hand_written=True)
    names = namespace()
    try:
        instance = reward.made_from(rewrite(reward.tree()), names)
        _freeze(instance, names)
    except Untraceable as refusal:
        raise NotVectorised(str(refusal), line_of(refusal)) from refusal
    except (InvalidReward, RecursionError) as error:
        raise NotVectorised(f"cannot be rewritten: {error}") from error
    return VectorReward(instance, hand_written=False)


def _freeze(instance: RewardFunction, names: dict[str, Any]) -> None:
    """Freeze the objects of the reward and its module.

    Raises:
        NotVectorised: something in it may change in ways that cannot be seen.
    """
    freezer = Freezer()
    freezer.frozen(instance.function if isinstance(instance, LegacyReward) else instance, "self")
    freezer.freeze_globals(names)


def _column(value: Any, what: str) -> Floats:
    """Result as one number per row, or one for all rows.

    Raises:
        Untraceable: it is no number.
    """
    if type(value) is Batch and value.ndim == 0:
        return value.data.astype(np.float64, copy=False)
    if isinstance(value, int | float | np.generic):
        return np.array([float(value)])
    kind = f"an array of shape {value.shape}" if type(value) is Batch else f"a {type(value).__name__}"
    raise Untraceable(f"returned {what} as {kind}")


def _parted(index: NDArray[np.intp], split: Split) -> list[NDArray[np.intp] | None]:
    """The two groups of a split.

    Raises:
        NotVectorised: one of them is empty.
    """
    if split.rows.all() or not split.rows.any():
        raise NotVectorised("cannot be followed", line_of(split))
    return [index[~split.rows], index[split.rows]]


def _joined(parts: list[tuple[NDArray[np.intp], Result]], count: int) -> Result:
    """Results of the groups, rows in order, terms as in the first row.

    Raises:
        NotVectorised: the groups have different terms.
    """
    names = next(result[2] for index, result in parts if 0 in index)
    totals = np.empty(count)
    table = np.empty((count, len(names)))
    for index, (total, terms, own) in parts:
        if own != names and (sometimes := sorted(set(own) ^ set(names))):
            raise NotVectorised(f"has the term {sometimes[0]!r} only sometimes")
        totals[index] = total
        table[index] = terms if own == names else terms[:, [own.index(name) for name in names]]
    return totals, table, names

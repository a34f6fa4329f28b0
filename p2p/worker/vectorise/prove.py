"""Proof of equality: the vectorised reward and the original, compared on real and changed rows."""

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.worker.reward_source.loader import FAILURES, LoadedReward, line_of, named
from p2p.worker.vectorise.lanes import CallRefused, NotVectorised, TooManyWays
from p2p.worker.vectorise.rows import Floats, TransitionRows
from p2p.worker.vectorise.vector_reward import VectorReward

# -------------------------------------------------------------------------------------------------------- perturbation
# Transitions made from real ones, so that more of a reward's branches are seen than a short recording shows.


Array = NDArray[Any]
Change = Callable[[Array, np.random.Generator], Array]
GROUP = 64
"""TransitionRows of each kind."""


def perturbed(rows: TransitionRows, finite: bool) -> Iterator[TransitionRows]:
    """Groups of rows: shuffled, scaled, at zero, at the ends of their ranges, and, unless `finite`, not finite."""
    rng = np.random.default_rng(0)
    chosen = rows.taken(np.sort(rng.choice(len(rows), min(GROUP, len(rows)), replace=False)))
    for change in (_shuffled, _scaled, _zero, _extreme, _rounded):
        arrays = [change(array, rng) for array in (chosen.obs, chosen.action, chosen.next_obs)]
        info = {name: _column(np.asarray(column), change, rng) for name, column in chosen.info.items()}
        yield TransitionRows(arrays[0], arrays[1], arrays[2], info)
    for odd in () if finite else (np.nan, np.inf):
        yield _with_one_odd_number(chosen, odd, rng)


def _column(column: Array, change: Change, rng: np.random.Generator) -> Array:
    if column.dtype.kind == "b":
        return rng.random(column.shape) < 0.5
    if column.dtype.kind not in "iuf":
        return column
    return change(column, rng).astype(column.dtype)


def _shuffled(array: Array, rng: np.random.Generator) -> Array:
    return rng.permutation(array)


def _scaled(array: Array, rng: np.random.Generator) -> Array:
    factors: Array = rng.choice([-3.0, -1.0, 0.1, 3.0, 30.0], len(array))
    return np.asarray(array * factors.reshape(-1, *(1,) * (array.ndim - 1)))


def _zero(array: Array, rng: np.random.Generator) -> Array:
    return np.where(rng.random(array.shape) < 0.8, 0.0, array)


def _extreme(array: Array, rng: np.random.Generator) -> Array:
    low = array.min(axis=0)
    high = array.max(axis=0)
    beyond = (1.0 + high - low) * 10.0 ** rng.uniform(-2.0, 2.0, array.shape)
    return np.asarray(np.where(rng.random(array.shape) < 0.5, low - beyond, high + beyond))


def _rounded(array: Array, rng: np.random.Generator) -> Array:
    """Rounded numbers, which meet thresholds exactly."""
    return np.asarray(np.round(array * rng.choice([1.0, 2.0, 5.0])) / rng.choice([1.0, 2.0, 10.0]))


def _with_one_odd_number(rows: TransitionRows, odd: float, rng: np.random.Generator) -> TransitionRows:
    """The rows, each with one number replaced in its observation, and in one of the columns."""
    every = np.arange(len(rows))
    arrays = [array.astype(np.float64) for array in (rows.obs, rows.action, rows.next_obs)]
    for array in arrays:
        hit = every[rng.random(len(rows)) < 0.3]
        array[hit, rng.integers(0, array.shape[1], len(hit))] = odd
    info: Mapping[str, Array] = {name: np.array(column) for name, column in rows.info.items()}
    numbers = [name for name, column in info.items() if column.dtype.kind == "f" and column.ndim == 1]
    for i, name in enumerate(numbers):
        info[name][i :: max(len(numbers), 1)] = odd
    return TransitionRows(arrays[0], arrays[1], arrays[2], info)


# --------------------------------------------------------------------------------------------------------------- prove
# The proof that a vectorised reward is the reward: both are computed, and compared.


RELATIVE = 1e-9
"""How far a value may be from that of the reward called row by row, relative to it."""
ABSOLUTE = 1e-12
"""The same, relative to the sum of all terms' sizes, for terms that cancel out."""
FAILING_ROWS = 8
"""TransitionRows on which the reward raises that are tried one by one, per group of rows."""


def prove(  # what is proven, and a transition's parts
    vector: VectorReward,
    reward: LoadedReward,
    obs: Floats,
    action: Floats,
    next_obs: Floats,
    info: Mapping[str, NDArray[Any]],
    episode_start: NDArray[np.bool_],
) -> None:
    """Compare a vectorised reward with the original on real transitions and on derived ones.

    The reward itself is run in time order, a fresh instance for each episode, so that one with a memory differs.

    Args:
        vector: What is to be proven.
        reward: The reward.
        obs: Observations, shape (B, obs_dim): episode after episode, each in time order.
        action: Actions, shape (B, action_dim).
        next_obs: Observations after the steps, shape (B, obs_dim).
        info: Name -> column of the rows.
        episode_start: True on the first row of each episode, shape (B,).

    Raises:
        NotVectorised: a total or a term differs, with the row, or rows cannot be computed together.
    """
    rows = TransitionRows(obs, action, next_obs, info)
    wanted = _one_by_one(reward, rows, episode_start)
    if wanted.failed:
        row, error = next(iter(wanted.failed.items()))
        raise NotVectorised(f"raised {named(error)} at row {row}", line_of(error))
    _compare(vector, rows, wanted)
    loops = any(isinstance(node, ast.While) for node in ast.walk(reward.tree()))
    for kind in perturbed(rows, finite=loops):  # a loop that brings a number into a range may never end on infinity
        _compare_made_up(vector, reward, kind)


class _Wanted:
    """Results of the reward, called row by row."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.names: tuple[str, ...] = ()
        self.values: list[list[float]] = []
        """Total and terms of each of `rows`."""
        self.failed: dict[int, BaseException] = {}
        """Row -> what it raised there."""


def _one_by_one(reward: LoadedReward, rows: TransitionRows, fresh: NDArray[np.bool_]) -> _Wanted:
    """The reward of each row; a new instance where `fresh` is True."""
    wanted = _Wanted()
    instance = reward.fresh()
    for i in range(len(rows)):
        if fresh[i]:
            instance = reward.fresh()
        try:
            with np.errstate(all="ignore"):
                result = instance.compute(*rows.row(i))
                total = float(result[0])
                terms = {name: float(value) for name, value in result[1].items()}
        except FAILURES as error:
            wanted.failed[i] = error
            continue
        if not wanted.rows:
            wanted.names = tuple(terms)
        if set(terms) != set(wanted.names):
            sometimes = sorted(set(terms) ^ set(wanted.names))[0]
            raise NotVectorised(f"has the term {sometimes!r} only sometimes")
        wanted.rows.append(i)
        wanted.values.append([total, *(terms[name] for name in wanted.names)])
    return wanted


def _compare_made_up(vector: VectorReward, reward: LoadedReward, rows: TransitionRows) -> None:
    """Compare synthetic rows; some may not be computable together, which is no fault of the reward.

    Raises:
        NotVectorised: something differs, or is kept from one call to the next.
    """
    wanted = _one_by_one(reward, rows, np.ones(len(rows), dtype=np.bool_))
    finite = all(np.isfinite(array).all() for array in (rows.obs, rows.action, rows.next_obs))
    try:
        _compare(vector, rows, wanted)
    except TooManyWays:
        for i in range(len(rows)):
            row = rows.taken(np.array([i]))
            _compare(vector, row, _one_by_one(reward, row, np.ones(1, dtype=np.bool_)))
    except CallRefused as refused:
        if finite or refused.reason.startswith("keeps state"):
            raise


def _compare(vector: VectorReward, rows: TransitionRows, wanted: _Wanted) -> None:
    """Check one group of rows.

    Raises:
        NotVectorised: something differs.
    """
    if wanted.rows:
        good = rows.taken(np.array(wanted.rows))
        totals, terms, own = vector(good.obs, good.action, good.next_obs, good.info)
        if own != wanted.names:
            raise NotVectorised(f"has the terms {', '.join(own)} for many rows, and {', '.join(wanted.names)} for one")
        _require_equal(np.column_stack([totals, terms]), np.array(wanted.values), wanted)
    for row in list(wanted.failed)[:FAILING_ROWS]:
        _require_failure(vector, rows.taken(np.array([row])), row, wanted.failed[row])


def _require_equal(found: Floats, wanted: Floats, rows: _Wanted) -> None:
    with np.errstate(all="ignore"):
        size = np.maximum(1.0, np.nan_to_num(np.abs(wanted), posinf=0.0).sum(axis=1, keepdims=True))
        near = np.abs(found - wanted) <= RELATIVE * np.abs(wanted) + ABSOLUTE * size
    equal = near | (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    if equal.all():
        return
    i, k = (int(place[0]) for place in np.nonzero(~equal))
    what = f"the term {rows.names[k - 1]!r}" if k else "the total"
    raise NotVectorised(
        f"{what} differs at row {rows.rows[i]}: {wanted[i, k]:.9g} for one row, {found[i, k]:.9g} for many"
    )


def _require_failure(vector: VectorReward, rows: TransitionRows, row: int, error: BaseException) -> None:
    """Check that the vectorised reward gives no number where the reward raises."""
    try:
        totals, terms, _ = vector(rows.obs, rows.action, rows.next_obs, rows.info)
    except NotVectorised:
        return
    if np.isfinite(totals).all() and np.isfinite(terms).all():
        raise NotVectorised(
            f"gives {totals[0]:.9g} at row {row}, where the reward raises {named(error)}", line_of(error)
        )

"""How far n episodes are: remembered features, steps of a sequence that are done, counted events, a clock."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from p2p.rewards.formulas import Features
from p2p.rewards.states import Floats

if TYPE_CHECKING:  # see `p2p.rewards.features`
    from p2p.contracts.observe import Observe


class EpisodeProgress:
    """What `Observe` appends to the observations of n environments, step by step.

    A step of a sequence ends as in the built-in author's rewards: when its feature has changed by its amount since the
    step before ended; at most one ends per control step.

    Args:
        observe: What is appended.
        n: How many environments.
    """

    def __init__(self, observe: "Observe", n: int) -> None:
        self._reads = observe.reads
        self._features = [self._reads.index(name) for name in observe.features]
        steps = observe.milestones
        self._column = np.array([self._reads.index(step.feature) for step in steps], dtype=np.intp)
        self._amount = np.array([step.amount for step in steps])
        self._either = np.array([step.either for step in steps], dtype=np.bool_)
        self._clock_s = observe.clock_s
        self._time = self._reads.index("time") if steps or self._clock_s else 0
        self._counter = observe.counter
        self._counted = self._reads.index(observe.counter.feature) if observe.counter else 0
        self._now = np.zeros((n, len(self._reads)))
        """What is read, after the last step."""
        self._origin = np.zeros((n, len(self._reads)))
        """The same, when the present step of the sequence began."""
        self._done = np.zeros(n, dtype=np.int64)
        self._waits = bool(steps) and steps[0].momentary
        self._missed = np.full(n, not self._waits)
        """Whether the first step's milestone was missed before, where it has to be."""
        self._count = np.zeros(n)
        self._within = np.ones(n, dtype=np.bool_)
        """Whether the counted event goes on; at first it does: a robot that is dropped at its start has not jumped."""

    def begin(self, ids: Sequence[int], features: Features | None = None) -> None:
        """Begin new episodes in the environments `ids`: all is 0 but these features, each of shape (len(ids),)."""
        index = np.asarray(ids, dtype=np.intp)
        for array in self.state().values():
            array[index] = 0
        self._within[index] = True
        self._missed[index] = not self._waits
        for name, values in (features or {}).items():
            if name in self._reads:
                self._now[index, self._reads.index(name)] = values

    def advance(self, features: Features) -> None:
        """Take the features after one control step, each of shape (n,)."""
        self._now[:] = np.stack([features[name] for name in self._reads], axis=1)
        if len(self._column):
            going, change = self._change()
            step = self._done[going]
            self._missed[going] |= change < 1.0
            reached = going[self._missed[going] & ((change >= 1.0) | (self._either[step] & (change <= -1.0)))]
            self._done[reached] += 1
            self._origin[reached] = self._now[reached]
        if self._counter is not None:
            value = self._now[:, self._counted]
            new = ~self._within & (value >= self._counter.high)
            self._count += new
            self._within = (self._within | new) & ~(value < self._counter.low)

    @property
    def values(self) -> Floats:
        """What is appended, shape (n, number of inputs), in the order of `Observe.inputs`."""
        columns = [self._now[:, self._features]]
        if len(self._column):
            going, change = self._change()
            progress = np.zeros(len(self._now))
            progress[going] = np.clip(np.where(self._either[self._done[going]], np.abs(change), change), -1.0, 1.0)
            done = self._done[:, None] > np.arange(len(self._column))
            since = self._now[:, self._time] - self._origin[:, self._time]
            columns += [done.astype(np.float64), since[:, None], progress[:, None]]
        if self._counter is not None:
            columns.append(self._count[:, None])
        if self._clock_s is not None:
            angle = 2.0 * np.pi / self._clock_s * self._now[:, self._time]
            columns.append(np.stack([np.sin(angle), np.cos(angle)], axis=1))
        return np.concatenate(columns, axis=1)

    def state(self) -> dict[str, NDArray[np.float64] | NDArray[np.int64] | NDArray[np.bool_]]:
        """State between two steps, as named arrays."""
        return {
            "now": self._now,
            "origin": self._origin,
            "done": self._done,
            "count": self._count,
            "within": self._within,
            "missed": self._missed,
        }

    def _change(self) -> tuple[NDArray[np.intp], Floats]:
        """Environments whose sequence goes on, and which share of its present step each has made."""
        going = np.flatnonzero(self._done < len(self._column))
        step = self._done[going]
        column = self._column[step]
        return going, (self._now[going, column] - self._origin[going, column]) / self._amount[step]

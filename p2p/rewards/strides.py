"""Strides of n robots: when each foot comes down, how long it stays, how far it slides, and who follows whom.

A stride of a foot goes from one touch-down to its next. A touch-down counts after the foot was off the floor for
`SWING_S` or longer and raised by `RAISED` meanwhile, so that a foot that trembles, bounces as it lands or is dragged
takes no strides.

The measures are those of gait diagrams: the duty factor is the share of a stride in which the foot is on the ground,
over 0.5 in a walk and under 0.5 in a run (R. McN. Alexander, "The gaits of bipedal and quadrupedal animals", Int. J.
Robotics Research 3(2), 1984, doi:10.1177/027836498400300205); a phase is the time from one foot's touch-down to
another's as a share of the stride (M. Hildebrand, "Symmetrical gaits of horses", Science 150, 1965,
doi:10.1126/science.150.3697.701).
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from p2p.rewards.features import RAISED
from p2p.rewards.states import Floats

SWING_S = 0.06
"""Shortest swing of a foot [s]; trained feet bounce off the floor for 0.02 to 0.04 s as they land."""
LATE = 1.5
"""Strides after which a foot that has not come down again takes no strides any more."""
Kept = dict[str, NDArray[np.float64]]


class Strides:
    """Strides of the feet of n robots, step by step.

    What is measured of a stride is that of the last whole one; of the present one, once that lasts longer or as long as
    none was whole. What is remembered, name -> array of shape (n, n_feet), and `offset` of shape (n, pairs):

    - `raised`, `aloft`: 1 once the foot was raised since it was last down; control steps since then
    - `touchdowns`: how many it has made
    - `since`: control steps since the last one, or the start
    - `period`: of the last whole stride [control steps]; 0 before
    - `stance`, `slid`: control steps on the floor in the present stride, and the slip of these summed [m/s]
    - `duty`, `slip`: share of the stride on the floor, and mean slip meanwhile [m/s]
    - `offset`: of each pair, in strides, from 0 (together) to 0.5 (in turn); -1 while one of them takes none

    Args:
        n_feet: Feet of each robot.
        pairs: Pairs of feet whose offset is asked for, as indices.
        dt: Control period [s].
    """

    def __init__(self, n_feet: int, pairs: Sequence[tuple[int, int]], dt: float) -> None:
        self._n_feet = n_feet
        self._dt = dt
        self._pairs = [[pair[0] for pair in pairs], [pair[1] for pair in pairs]]

    def at_start(self, n: int) -> Kept:
        """What is remembered when n episodes begin."""
        names = ("raised", "aloft", "touchdowns", "since", "period", "stance", "slid", "duty", "slip")
        kept = {name: np.zeros((n, self._n_feet)) for name in names}
        return kept | {"since": np.full((n, self._n_feet), -1.0), "offset": np.full((n, len(self._pairs[0])), -1.0)}

    def after(self, kept: Mapping[str, Floats], contact: Floats, clearance: Floats, slip: Floats) -> Kept:
        """What is remembered one control step later.

        Args:
            kept: Before it.
            contact: 1 where a foot touches the floor, shape (n, n_feet).
            clearance: Of the feet above where they rest, shape (n, n_feet) [m].
            slip: Horizontal speed of the feet on the floor, shape (n, n_feet) [m/s].
        """
        down = contact > 0.5
        landed = down & (kept["raised"] > 0.5) & (kept["aloft"] * self._dt >= SWING_S - 1e-9)
        whole = landed & (kept["touchdowns"] > 0.0)
        length = kept["since"] + 1.0
        period = np.where(whole, length, kept["period"])
        since = np.where(landed, 0.0, length)
        stance = np.where(landed, 0.0, kept["stance"]) + down
        slid = np.where(landed, 0.0, kept["slid"]) + np.where(down, slip, 0.0)
        present = ~whole & (since + 1.0 > period)
        now = {"duty": stance / (since + 1.0), "slip": slid / np.maximum(stance, 1.0)}
        last = {
            "duty": kept["stance"] / np.maximum(length, 1.0),
            "slip": kept["slid"] / np.maximum(kept["stance"], 1.0),
        }
        return {
            "raised": np.where(down, 0.0, np.maximum(kept["raised"], clearance >= RAISED)),
            "aloft": np.where(down, 0.0, kept["aloft"] + 1.0),
            "touchdowns": kept["touchdowns"] + landed,
            "since": since,
            "period": period,
            "stance": stance,
            "slid": slid,
            "offset": self._offsets(kept["offset"], landed, since, period),
            **{
                name: np.where(whole, last[name], np.where(present, now[name], kept[name])) for name in ("duty", "slip")
            },
        }

    def frequency(self, kept: Mapping[str, Floats]) -> Floats:
        """Strides per second, shape (n, n_feet); falls while a stride lasts longer than the last one."""
        period = np.maximum(kept["period"], kept["since"] + 1.0)
        return np.where(kept["period"] > 0.0, 1.0 / (period * self._dt), 0.0)

    def _offsets(self, offset: Floats, landed: NDArray[np.bool_], since: Floats, period: Floats) -> Floats:
        """Where a foot of a pair has come down: which part of the other's stride is over, or left if less is."""
        steps = (period > 0.0) & (since <= LATE * period)
        first, second = self._pairs
        for mine, theirs in ((first, second), (second, first)):
            share = since[:, theirs] / np.maximum(period[:, theirs], 1.0)
            offset = np.where(landed[:, mine], np.abs(share - np.round(share)), offset)
        return np.where(steps[:, first] & steps[:, second], offset, -1.0)

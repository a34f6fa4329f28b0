"""Recorded rollouts of an iteration: which there are, and the rows of one."""

from enum import StrEnum

from p2p.contracts.base import Contract


class RolloutLabel(StrEnum):
    """Which of the rollouts of an evaluation are recorded whole, by their return."""

    P10 = "p10"
    MEDIAN = "median"
    P90 = "p90"


class Recording(Contract):
    """One recorded rollout."""

    run_id: str
    checkpoint: int
    """Step of the policy's checkpoint."""
    label: RolloutLabel
    report: bool
    """Whether it is a report rollout, which is judged; otherwise it was made while the run trained."""
    video: str | None
    """Name of its video; None where none was made, or not yet."""
    trace: bool
    """Whether its rows can be read."""
    episode_return: float | None
    """Sum of the trained reward; None where it is not known."""
    seed: int | None
    """Of the environment's reset."""
    length: int | None
    """[steps]."""


class Recordings(Contract):
    """The recorded rollouts of an iteration."""

    session_id: str
    iteration: int
    run_id: str | None
    """The run that was judged; None before."""
    checkpoint: int | None
    """Its checkpoint that was judged; None before."""
    recordings: tuple[Recording, ...]
    """Report rollouts first, then those of each run, the newest checkpoint first."""


class Trace(Contract):
    """The T rows of a recorded rollout, features with five digits; row k is the state after control step k + 1."""

    session_id: str
    iteration: int
    run_id: str
    checkpoint: int
    label: RolloutLabel
    report: bool
    dt: float
    """Control period [s]."""
    steps_per_picture: int
    """The videos show every so many rows: picture i is row i × steps_per_picture."""
    time: tuple[float, ...]
    """[s], shape (T,)."""
    reward: tuple[float | None, ...]
    """Shape (T,); None where it was not finite."""
    terms: dict[str, tuple[float | None, ...]]
    """Term of the reward -> shape (T,)."""
    features: dict[str, tuple[float | None, ...]]
    """Feature -> shape (T,)."""
    bodies: tuple[str, ...]
    """Names in the order of `positions`; the first is the world."""
    bones: tuple[tuple[int, int], ...]
    """Pairs of a body and its parent, as places in `bodies`."""
    positions: tuple[tuple[float | None, ...], ...]
    """Of body b: x, y and z [m] in entries 3 b, 3 b + 1 and 3 b + 2, each of shape (T,)."""

"""Waiting: for what, where in the line, since when, and for how long still."""

from enum import StrEnum

from p2p.contracts.base import Contract


class WaitsFor(StrEnum):
    """What is waited for."""

    TURN = "turn"
    """A slot among the background jobs of the runs directory (`P2P_MAX_JOBS`), first come, first served."""
    CORES = "cores"
    """Cores of this machine, which all runs directories share, first come, first served."""


class Holder(Contract):
    """A job that has what is waited for."""

    runs_dir: str
    """Its runs directory, which may be another one."""
    session_id: str | None
    """None where it belongs to no session."""
    job: str
    """Id of the background job, or the directory of the run."""


class Waiting(Contract):
    """Why something does not run yet."""

    waits_for: WaitsFor
    holders: tuple[Holder, ...]
    """Empty where nobody can be named."""
    place: int | None
    """In the line, from 1, which is next."""
    since: str | None
    """UTC, ISO 8601."""
    estimate_s: float | None
    """Expected time until it runs [s]; None where the holders do not tell how long they need."""


def in_words(waiting: Waiting) -> str:
    """One line: "waits for cores held by session_a in /home/me/runs, 2 in line, since 03:52 UTC, about 5 min more"."""
    what = "its turn" if waiting.waits_for is WaitsFor.TURN else "cores"
    names = dict.fromkeys(f"{one.session_id or one.job} in {one.runs_dir}" for one in waiting.holders)
    held = f" held by {' and '.join(names)}" if names else ""
    place = f", {waiting.place} in line" if waiting.place is not None else ""
    since = f", since {waiting.since[11:16]} UTC" if waiting.since is not None else ""
    left = waiting.estimate_s
    about = "" if left is None else f", about {left:.0f} s more" if left < 90 else f", about {left / 60:.0f} min more"
    return f"waits for {what}{held}{place}{since}{about}"

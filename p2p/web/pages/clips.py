"""Rollouts that a page puts on its clock, as its address names them.

`[side.]label[@checkpoint~run]`: "p10" is a report rollout of the page's iteration, "median@188416~baseline_seed_10" one
of a checkpoint. Where two are compared, "2.median" is of iteration 2, and "b.median" of the second session.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self
from urllib.parse import quote

from p2p.contracts.recording import Recording, Recordings
from p2p.web.pages.rendering import Address

MOST = 4
"""Side by side."""
_KEY = re.compile(r"(?:(\d{1,4}|[ab])\.)?(p10|median|p90)(?:@(\d{1,12})(?:~([\w.-]{1,200}))?)?")


class Clip(NamedTuple):
    """One rollout of a page."""

    key: str
    session_id: str
    iteration: int
    label: str
    checkpoint: int | None
    run_id: str | None
    video: bool
    trace: bool
    words: str

    @classmethod
    def of(cls, one: Recording, found: Recordings, side: str) -> Self:
        """A recorded rollout.

        Args:
            one: The rollout.
            found: Those of its iteration.
            side: Which of the two that are compared; empty where there is one.
        """
        key = one.label if one.report else f"{one.label}@{one.checkpoint}~{one.run_id}"
        where = "report" if one.report else f"{round(one.checkpoint / 1000)}k steps, {one.run_id}"
        whose = {"": "", "a": "first session: ", "b": "second session: "}.get(side, f"iteration {side}: ")
        return cls(
            key=f"{side}.{key}" if side else key,
            session_id=found.session_id,
            iteration=found.iteration,
            label=one.label,
            checkpoint=None if one.report else one.checkpoint,
            run_id=None if one.report else one.run_id,
            video=one.video is not None,
            trace=one.trace,
            words=f"{whose}{one.label}, {where}",
        )

    @property
    def addresses(self) -> tuple[Address, Address]:
        """Where its video and its rows are."""
        query = "" if self.checkpoint is None else f"?checkpoint={self.checkpoint}&run={quote(self.run_id or '')}"
        root = f"/api/sessions/{self.session_id}/iterations/{self.iteration}"
        return Address(f"{root}/recordings/{self.label}/video{query}"), Address(f"{root}/trace/{self.label}{query}")


def clips_of(found: Recordings, side: str = "") -> tuple[Clip, ...]:
    """The rollouts of an iteration whose rows can be read."""
    return tuple(Clip.of(one, found, side) for one in found.recordings if one.trace)


def chosen(clips: Sequence[Clip], wanted: Iterable[str], otherwise: Iterable[str]) -> tuple[Clip, ...]:
    """Those that an address names; where it names none that there is, others."""
    by_key = {clip.key: clip for clip in clips}
    keys = [key for key in dict.fromkeys(wanted) if _KEY.fullmatch(key) and key in by_key]
    keys = keys or [key for key in otherwise if key in by_key] or list(by_key)[:1]
    return tuple(by_key[key] for key in keys[:MOST])

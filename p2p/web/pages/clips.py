"""Rollouts that a page puts on its clock, as its address names them.

`[iteration.]label[@checkpoint~run]`: "p10" is a report rollout of the page's iteration, "2.median" that of another one,
"median@188416~baseline_seed_10" one of a checkpoint.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self
from urllib.parse import quote

from p2p.contracts.recording import Recording, Recordings
from p2p.web.pages.rendering import Address

MOST = 4
"""Side by side."""
_KEY = re.compile(r"(?:(\d{1,4})\.)?(p10|median|p90)(?:@(\d{1,12})(?:~([\w.-]{1,200}))?)?")


class Clip(NamedTuple):
    """One rollout of a page."""

    key: str
    iteration: int
    label: str
    checkpoint: int | None
    run_id: str | None
    video: bool
    trace: bool
    words: str

    @classmethod
    def of(cls, found: Recording, iteration: int, own: bool) -> Self:
        """A recorded rollout.

        Args:
            found: The rollout.
            iteration: Whose.
            own: Whether that is the page's iteration.
        """
        key = found.label if found.report else f"{found.label}@{found.checkpoint}~{found.run_id}"
        where = "report" if found.report else f"{round(found.checkpoint / 1000)}k steps, {found.run_id}"
        return cls(
            key=key if own else f"{iteration}.{key}",
            iteration=iteration,
            label=found.label,
            checkpoint=None if found.report else found.checkpoint,
            run_id=None if found.report else found.run_id,
            video=found.video is not None,
            trace=found.trace,
            words=f"{found.label}, {where}" if own else f"iteration {iteration}: {found.label}, {where}",
        )

    def addresses(self, session_id: str) -> tuple[Address, Address]:
        """Where its video and its rows are."""
        query = "" if self.checkpoint is None else f"?checkpoint={self.checkpoint}&run={quote(self.run_id or '')}"
        root = f"/api/sessions/{session_id}/iterations/{self.iteration}"
        return Address(f"{root}/recordings/{self.label}/video{query}"), Address(f"{root}/trace/{self.label}{query}")


def clips_of(found: Recordings, own: bool = True) -> tuple[Clip, ...]:
    """The rollouts of an iteration whose rows can be read."""
    return tuple(Clip.of(one, found.iteration, own) for one in found.recordings if one.trace)


def chosen(clips: Sequence[Clip], wanted: Iterable[str], otherwise: Iterable[str]) -> tuple[Clip, ...]:
    """Those that an address names; where it names none that there is, others."""
    by_key = {clip.key: clip for clip in clips}
    keys = [key for key in dict.fromkeys(wanted) if _KEY.fullmatch(key) and key in by_key]
    keys = keys or [key for key in otherwise if key in by_key] or list(by_key)[:1]
    return tuple(by_key[key] for key in keys[:MOST])

"""Differences of two rewards' sources, by words."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from p2p.contracts.source_diff import DiffLine, DiffPart, LineKind, SourceDiff
from p2p.service.workspace import Workspace

CONTEXT = 3
"""Lines that both have, shown around a change."""
ALIKE = 0.5
"""Share of two lines' words that makes the second a change of the first, rather than another line."""
WORDS = re.compile(r"\w+|\s+|[^\w\s]")


def reward_diff(ws: Workspace, session_id: str, first: int, second: int, other: str | None = None) -> SourceDiff:
    """How the reward of an iteration differs from that of another; one that is not written yet is empty.

    Args:
        ws: The workspace.
        session_id: Of the first iteration.
        first: Its number.
        second: Number of the other one.
        other: Its session; None for the same one.

    Raises:
        UnknownName: there is no such session or iteration.
    """
    pair = ((session_id, first), (other or session_id, second))
    drafts = [ws.iteration_begun(name, number).read_draft() for name, number in pair]
    old, new = ("" if draft is None else draft.source for draft in drafts)
    return diff_by_words(old, new)


def diff_by_words(old: str, new: str) -> SourceDiff:
    """How a text became another one: its changed lines with some around them, and the changed words of each."""
    before, after = old.splitlines(), new.splitlines()
    lines: list[DiffLine] = []
    at = 0
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(CONTEXT):
        if group[0][1] > at:
            lines.append(DiffLine(kind=LineKind.SKIPPED, old_number=None, new_number=None, parts=()))
        for kind, start, end, other_start, other_end in group:
            if kind == "equal":
                lines += [
                    _whole(LineKind.SAME, text, start + place, other_start + place)
                    for place, text in enumerate(before[start:end])
                ]
            else:
                lines += _changed(before[start:end], after[other_start:other_end], start, other_start)
        at = group[-1][2]
    if lines and at < len(before):
        lines.append(DiffLine(kind=LineKind.SKIPPED, old_number=None, new_number=None, parts=()))
    return SourceDiff(
        added=sum(line.kind is LineKind.NEW for line in lines),
        removed=sum(line.kind is LineKind.OLD for line in lines),
        lines=tuple(lines),
    )


def _changed(before: Sequence[str], after: Sequence[str], start: int, other_start: int) -> Iterator[DiffLine]:
    """Lines that were replaced: those of the first source, then those of the second."""
    pairs = [_words(one, other) for one, other in zip(before, after, strict=False)]
    for place, text in enumerate(before):
        parts = pairs[place][0] if place < len(pairs) else None
        yield _line(LineKind.OLD, text, parts, start + place, None)
    for place, text in enumerate(after):
        parts = pairs[place][1] if place < len(pairs) else None
        yield _line(LineKind.NEW, text, parts, None, other_start + place)


def _words(one: str, other: str) -> tuple[list[DiffPart] | None, list[DiffPart] | None]:
    """Pieces of two lines, those changed marked; None for lines that have little in common."""
    words, others = WORDS.findall(one), WORDS.findall(other)
    matcher = SequenceMatcher(None, words, others, autojunk=False)
    if matcher.ratio() < ALIKE:
        return None, None
    old, new = [], []
    for kind, start, end, other_start, other_end in matcher.get_opcodes():
        changed = kind != "equal"
        old += [DiffPart(text="".join(words[start:end]), changed=changed)] * (end > start)
        new += [DiffPart(text="".join(others[other_start:other_end]), changed=changed)] * (other_end > other_start)
    return old, new


def _whole(kind: LineKind, text: str, old: int | None, new: int | None) -> DiffLine:
    return _line(kind, text, [DiffPart(text=text, changed=False)] if text else [], old, new)


def _line(kind: LineKind, text: str, parts: list[DiffPart] | None, old: int | None, new: int | None) -> DiffLine:
    if parts is None:
        parts = [DiffPart(text=text, changed=True)] if text else []
    return DiffLine(
        kind=kind,
        old_number=None if old is None else old + 1,
        new_number=None if new is None else new + 1,
        parts=tuple(parts),
    )

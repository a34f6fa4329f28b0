"""The report of a run of the grammar as tables, for a terminal and for the docs."""

import html
from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from p2p.cli.tables import table
from p2p.contracts.numbers import duration, interval_in_words, share_in_words
from p2p.lab.contracts.behaviours import (
    BehaviourResult,
    BehavioursReport,
    Grammar,
    GroupResult,
    SessionResult,
    Share,
)

LONGEST_CAUSE = 160
"""Of a line that says why [characters]; JSON has all of it."""
RESULT_HEAD = ("robot", "sentence", "passed", "iterations", "steps", "time", "processor", "why not")
GROUP_HEAD = ("", "sentences", "always", "never", "sessions passed")
NUMBERS = ("passed", "iterations", "steps", "time", "processor", "sentences", "always", "never", "sessions passed")


def terminal(found: BehavioursReport) -> list[RenderableType]:
    """The report as it is shown to people."""
    results = table(*RESULT_HEAD, right=NUMBERS[1:5])
    for one in found.results:
        results.add_row(*map(Text, _cells(one)))
    causes = table("why sessions did not pass", "sessions", right=("sessions",))
    for cause, count in found.causes.items():
        causes.add_row(cause, str(count))
    return [
        results,
        _groups_table("robot", found.robots),
        _groups_table("skill", (*found.skills, found.total)),
        *([causes] if found.causes else []),
        _in_short(found),
    ]


def markdown(found: BehavioursReport) -> str:
    """The report for a document: totals first, then sentence by sentence."""
    versions = ", ".join(f"{name} {version}" for name, version in found.versions.items())
    lines = [f"{_in_short(found)} Suite {found.digest[:12]}; {versions}.", ""]
    for title, groups in (("robot", found.robots), ("skill", (*found.skills, found.total))):
        lines += [_row(title, *GROUP_HEAD[1:]), _rule(len(GROUP_HEAD))]
        lines += [_row(*_group_cells(group)) for group in groups]
        lines.append("")
    if found.causes:
        lines += [_row("why sessions did not pass", "sessions"), _rule(2)]
        lines += [_row(cause, str(count)) for cause, count in found.causes.items()]
        lines.append("")
    lines += [_row(*RESULT_HEAD), _rule(len(RESULT_HEAD))]
    lines += [_row(*_cells(one)) for one in found.results]
    return "\n".join(lines)


def listing(known: Grammar) -> list[RenderableType]:
    """Sentences that would be run, and how many are left out."""
    made = table("robot", "skill", "rule", "sentence", "case")
    for one in known.behaviours:
        made.add_row(one.env_id, one.skill, one.rule, one.sentence, one.name)
    by_rule = Counter(one.rule for one in known.behaviours)
    rules = ", ".join(f"{count} {rule}" for rule, count in by_rule.most_common())
    return [
        made,
        f"{len(known.behaviours)} sentences: {rules}.",
        f"Left out: {len(known.same)} that are judged as another one of the same robot, {len(known.refused)} that the "
        "grammar refuses for a robot (--json lists them).",
    ]


def cause_in_words(session: SessionResult) -> str:
    """Why one session did not pass; empty where it did or has not ended."""
    if session.cause is None or not session.outcome.ended:
        return ""
    if session.missed is None:
        said = f"{session.cause}: {session.detail}" if session.detail else str(session.cause)
    else:
        missed = session.missed
        said = (
            f"missed “{missed.title}”: {missed.measured}, needed {missed.needed}, "
            f"met in {share_in_words(missed.met_share)} of the rollouts"
        )
    return f"{said}; return: {session.learning}" if session.learning is not None else said


def share_cell(share: Share) -> str:
    """ "2 of 3 [20%, 94%]"."""
    if not share.of:
        return "–"
    return f"{share.passed} of {share.of} [{interval_in_words(share.low, share.high, ', ')}]"


def _in_short(found: BehavioursReport) -> str:
    steps = "the template's" if found.total_timesteps is None else f"{found.total_timesteps:,}"
    seeds = ", ".join(map(str, found.seeds)) or "–"
    return (
        f"{found.run}: {found.total.sentences} of {found.known} sentences run, seeds {seeds}; each session at most "
        f"{found.max_iterations} {'iteration' if found.max_iterations == 1 else 'iterations'} of {found.trainings} "
        f"{'training' if found.trainings == 1 else 'trainings'}, {steps} steps each. "
        f"Sessions passed: {share_cell(found.total.share)}."
    )


def _cells(one: BehaviourResult) -> tuple[str, ...]:
    ended = [session for session in one.sessions if session.outcome.ended]
    return (
        one.env_id,
        one.sentence,
        share_cell(one.share),
        _each(str(session.iterations) for session in ended),
        _each(f"{session.steps:,}" for session in ended),
        _each(duration(session.seconds) for session in ended),
        _each(map(_processor, ended)),
        _why(ended),
    )


def _each(values: Iterable[str]) -> str:
    """What each session had, in the order of the seeds; said once where all had the same."""
    told = list(values)
    return told[0] if len(set(told)) == 1 else " / ".join(told) or "–"


def _processor(session: SessionResult) -> str:
    if session.processor_s is None:
        return "–"
    return f"{'' if session.watched_whole else '≥ '}{duration(session.processor_s)}"


def _why(ended: Sequence[SessionResult]) -> str:
    """Causes of the sessions that did not pass; of those with the same cause, the numbers of the first."""
    alike: dict[tuple[object, ...], list[SessionResult]] = {}
    for session in ended:
        if not session.passed:
            title = session.missed.title if session.missed is not None else session.detail
            alike.setdefault((session.cause, title), []).append(session)
    parts = []
    for sessions in sorted(alike.values(), key=len, reverse=True):
        words = cause_in_words(sessions[0])
        words = words if len(words) <= LONGEST_CAUSE else f"{words[: LONGEST_CAUSE - 1]}…"
        parts.append(words if len(sessions) == 1 else f"{len(sessions)} × {words}")
    return " | ".join(parts)


def _groups_table(title: str, groups: Sequence[GroupResult]) -> Table:
    made = table(title, *GROUP_HEAD[1:], right=NUMBERS)
    for group in groups:
        made.add_row(*_group_cells(group))
    return made


def _group_cells(group: GroupResult) -> tuple[str, ...]:
    name = group.name.replace("_", " ")
    return name, str(group.sentences), str(group.always), str(group.never), share_cell(group.share)


def _row(*cells: str) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    """A text on one line of a Markdown table: what would end the cell, or begin a tag, is written as itself."""
    return " ".join(html.escape(text, quote=False).split()).replace("|", "\\|")


def _rule(columns: int) -> str:
    return "|" + "---|" * columns

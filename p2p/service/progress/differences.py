"""Differences between two rewards and their configurations."""

from collections.abc import Mapping
from difflib import unified_diff

from p2p.agents.builtin.edits import read_table
from p2p.contracts.reward import Change, RewardDraft, RewardReport, TermStatistics
from p2p.contracts.training import canonical_names

NOTICEABLE = 0.02
"""Relative change of a term's mean, on the same transitions, that counts as one."""
MAX_REASON = 300
MAX_DIFF = 6000
"""Characters of a diff."""


def changes_between(
    old: RewardDraft, new: RewardDraft, before: RewardReport | None, after: RewardReport | None, reason: str = ""
) -> tuple[Change, ...]:
    """Changes from `old` to `new`, largest first: one of the reward, one of the configuration, then the rest.

    Args:
        old: The reward that was changed.
        new: The one it became.
        before: What checking `old` showed; None leaves out what only that tells.
        after: What checking `new` showed.
        reason: Why, in the words of whoever changed it.
    """
    reason = " ".join(reason.split())[:MAX_REASON]
    reward = _reward_changes(old.source, new.source, before, after, reason)
    was = canonical_names(old.config_changes)
    becomes = canonical_names(new.config_changes)
    config = [
        Change(kind="config", name=name, old=was.get(name), new=becomes.get(name), reason=reason)
        for name in dict.fromkeys([*was, *becomes])
        if was.get(name) != becomes.get(name)
    ]
    return (*reward[:1], *config[:1], *reward[1:], *config[1:])


def source_diff(old: str, new: str, names: tuple[str, str]) -> str:
    """Unified diff of two sources, truncated if long."""
    lines = unified_diff(old.splitlines(), new.splitlines(), *names, lineterm="", n=1)
    text = "\n".join(lines)
    return text if len(text) <= MAX_DIFF else f"{text[:MAX_DIFF]}\n… cut; the whole sources are in both iterations."


def common_share(old: str, new: str) -> float:
    """Share of lines common to two sources, in [0, 1]."""
    first, second = ({line.strip() for line in source.splitlines()} - {""} for source in (old, new))
    return len(first & second) / max(1, len(first | second))


def _reward_changes(
    old: str, new: str, before: RewardReport | None, after: RewardReport | None, reason: str
) -> list[Change]:
    if old == new:
        return []
    first = _statistics(before)
    second = _statistics(after)
    found: dict[str, tuple[object, object]] = {}
    described_before = _described(before)
    described_after = _described(after)
    if described_before and described_after:
        gone = described_before.keys() - described_after.keys()
        come = described_after.keys() - described_before.keys()
        found |= {name: (described_before[name], None) for name in gone}
        found |= {name: (None, described_after[name]) for name in come}
    # Changed numbers in the tables of weights and margins, if the sources have them.
    for table, label in (("weights", "{}"), ("margins", "{} margin")):
        numbers_before = read_table(old, table)
        numbers_after = read_table(new, table)
        for name in numbers_before.keys() & numbers_after.keys():
            if numbers_before[name] != numbers_after[name]:
                found[label.format(name)] = (numbers_before[name], numbers_after[name])
    for name in first.keys() & second.keys() - found.keys():
        a = first[name].mean
        b = second[name].mean
        if abs(a - b) > NOTICEABLE * max(abs(a), abs(b)):
            found[name] = (f"mean {a:.4g}", f"mean {b:.4g}")
    if not found:
        found["source"] = (f"{old.count(chr(10))} lines", f"{new.count(chr(10))} lines")
    moved = {name: abs(_share(first, name) - _share(second, name)) for name in found}
    ordered = sorted(found, key=lambda name: (-moved[name], name))
    return [Change(kind="reward", name=name, old=found[name][0], new=found[name][1], reason=reason) for name in ordered]


def _described(report: RewardReport | None) -> dict[str, str]:
    spec = report.spec if report is not None else None
    return {term.name: term.description for term in spec.terms} if spec is not None else {}


def _statistics(report: RewardReport | None) -> Mapping[str, TermStatistics]:
    return {term.name: term for term in report.terms} if report is not None else {}


def _share(terms: Mapping[str, TermStatistics], name: str) -> float:
    term = terms.get(name.removesuffix(" margin"))
    return term.share if term is not None else 0.0

"""Next reward from measurements: at most two untried changes to the best attempt."""

from collections.abc import Iterable

from p2p.agents.builtin.edits import read_table
from p2p.agents.builtin.rules import Missed, ProposedChange, config_proposals, last_resort, missed, reward_proposals
from p2p.contracts.env import EnvSpec
from p2p.contracts.intent import Intent, score_in_words, share_in_words
from p2p.contracts.protocols import Attempt
from p2p.contracts.reward import Change, Revision

Mark = tuple[str, str, str]


def revise(intent: Intent, env: EnvSpec, attempts: tuple[Attempt, ...]) -> Revision:
    """Next reward and configuration, from the best attempt so far.

    One change serves the most urgent criterion that was missed, the other what the course of the training asks for.
    A source that cannot be edited, such as one without a `weights` table, keeps its text; then only the configuration
    changes.

    Args:
        intent: What was asked.
        env: Where.
        attempts: All finished iterations, at least one.
    """
    del env
    best = best_of(attempts)
    failed = [attempt for attempt in attempts if attempt.based_on == best.number]
    tried = {mark for attempt in failed for mark in _marks(best, attempt)}
    changes, source, config = _choose(intent, best, tried, len(failed))
    misses = missed(intent, best)
    return Revision(
        based_on=best.number,
        diagnosis=_diagnosis(best, misses),
        lesson=_lesson(attempts[-1], best, misses),
        changes=tuple(changes),
        source=source,
        config_changes={**best.config_changes, **config},
    )


def best_of(attempts: Iterable[Attempt]) -> Attempt:
    """Attempt with the highest success rate, then score; the earlier one if equal."""
    return max(attempts, key=lambda attempt: (*_quality(attempt), -attempt.number))


def _quality(attempt: Attempt) -> tuple[float, float]:
    return attempt.judgment.success_rate or 0.0, attempt.judgment.intent_score or 0.0


def _choose(intent: Intent, best: Attempt, tried: set[Mark], tries: int) -> tuple[list[Change], str, dict[str, object]]:
    reward = _first_new(reward_proposals(intent, best, best.source), tried)
    config = _first_new(config_proposals(intent, best), tried)
    chosen = [proposal for proposal in (reward, config) if proposal is not None]
    if not chosen:
        chosen = [last_resort(best, tries)]
    source = next((proposal.source for proposal in chosen if proposal.source is not None), best.source)
    fields = {name: value for proposal in chosen for name, value in proposal.config.items()}
    return [proposal.change for proposal in chosen], source, fields


def _first_new(proposals: Iterable[ProposedChange], tried: set[Mark]) -> ProposedChange | None:
    return next((proposal for proposal in proposals if proposal.mark not in tried), None)


def _marks(base: Attempt, attempt: Attempt) -> set[Mark]:
    """Changes from `base` to `attempt`, in the form of `ProposedChange.mark`."""
    found: set[Mark] = set()
    for table, label in (("weights", "{}"), ("margins", "{} margin")):
        before, after = read_table(base.source, table), read_table(attempt.source, table)
        for name, new in after.items():
            if before.get(name) != new:
                found |= {("reward", label.format(name), repr(value)) for value in (new, -new)}
    for name, value in attempt.config_changes.items():
        if base.config_changes.get(name) != value:
            found.add(("config", name, repr(value)))
    return found


def _diagnosis(best: Attempt, misses: tuple[Missed, ...]) -> str:
    rate, score = _quality(best)
    reached = (
        f"Attempt {best.number} is the best so far: {share_in_words(rate)} success, score {score_in_words(score)}."
    )
    refused = best.judgment.without_missed
    said = [f"{refused[0].upper()}{refused[1:].rstrip('.')}."] if refused else []
    return " ".join([reached, *(f"{miss.text}." for miss in misses), *said])


def _lesson(last: Attempt, best: Attempt, misses: tuple[Missed, ...]) -> str:
    if last.number != best.number and last.based_on is not None:
        names = sorted({name for _, name, _ in _marks(best, last)}) if last.based_on == best.number else []
        what = f"Changing {', '.join(names)}" if names else f"Attempt {last.number}"
        reached, before = (score_in_words(_quality(attempt)[1]) for attempt in (last, best))
        return f"{what} did not help: score {reached} against {before}."
    refused = best.judgment.without_missed
    worst = refused or (f"what is missing most: {misses[0].text}" if misses else "every criterion was met")
    return f"Attempt {best.number} scored {score_in_words(_quality(best)[1])}; {worst.rstrip('.')}."

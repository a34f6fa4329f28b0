"""Rules from measurements to changes, in order."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from p2p.agents.builtin.edits import add_term, read_table, set_number, terms_reading
from p2p.agents.builtin.missing_terms import features_read, remedy
from p2p.contracts.intent import Criterion, Intent, share_in_words
from p2p.contracts.judgment import CriterionScore
from p2p.contracts.protocols import Attempt
from p2p.contracts.reward import Change

DOMINANT = 0.7
"""Share of the reward above which raising a term's weight changes nothing."""
COSTLY = 0.3
"""Share above which a fine stands in the way of what is asked for."""
CLOSE = 0.5
"""Partial credit above which a criterion is nearly met."""
ALMOST = 0.9
"""Partial credit from which the margin of each term that serves a criterion is narrowed before its weight is raised."""
LONGER = (1.6, 2.0)
EXPLORING = (0.005, 0.02)
"""Entropy coefficients to try."""


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """One change and its effects."""

    change: Change
    source: str | None = None
    """The source after it; None when it changes the configuration."""
    config: dict[str, object] = field(default_factory=dict)

    @property
    def mark(self) -> tuple[str, str, str]:
        """Identity of the change, without its reason."""
        return self.change.kind, self.change.name, repr(self.change.new)


@dataclass(frozen=True, slots=True)
class Missed:
    """A missed criterion and its measurement."""

    criterion: Criterion
    score: CriterionScore

    @property
    def text(self) -> str:
        """The measurement in words."""
        value = "not measured" if self.score.value is None else f"{self.score.value:.3g} {self.score.unit}"
        return f"{self.score.title!r} was met by {share_in_words(self.score.met_share)} of the rollouts (mean {value})"


def missed(intent: Intent, attempt: Attempt) -> tuple[Missed, ...]:
    """Missed criteria, the most urgent first: required, heavy, far off."""
    by_key = {criterion.key: criterion for criterion in intent.criteria}
    found = [
        Missed(by_key[score.key], score) for score in attempt.judgment.criteria if not score.met and score.key in by_key
    ]
    return tuple(sorted(found, key=lambda m: (not m.score.required, -m.score.weight * (1.0 - m.score.score))))


def reward_proposals(intent: Intent, attempt: Attempt, source: str) -> Iterator[ProposedChange]:
    """Changes of the reward that serve missed criteria, the most promising first."""
    for miss in missed(intent, attempt):
        if miss.criterion.predicate is None:
            continue
        serving = terms_reading(source, features_read(miss.criterion.predicate))
        yield from _cheaper_fines(miss, attempt, source, serving)
        if miss.score.score >= ALMOST:
            for name in serving:
                yield from _narrower(miss, source, (name,))
                yield from _dearer(miss, attempt, source, (name,))
        else:
            yield from _dearer(miss, attempt, source, serving)
            yield from _narrower(miss, source, serving)
        term = remedy(miss.criterion)
        changed = add_term(source, term) if term else None
        if term and changed:
            reason = f"no other term pays for it directly: {miss.text}"
            change = Change(kind="reward", name=term.name, old=None, new=term.weight * term.sign, reason=reason)
            yield ProposedChange(change, source=changed)


def config_proposals(intent: Intent, attempt: Attempt) -> Iterator[ProposedChange]:
    """Changes of the training, by its course, in fields the user left open; the most promising first."""
    return (p for p in _config_proposals(intent, attempt) if p.change.name not in attempt.pinned)


def _config_proposals(intent: Intent, attempt: Attempt) -> Iterator[ProposedChange]:
    dynamics = attempt.dynamics
    worst = missed(intent, attempt)
    slope = dynamics.get("return_slope", 0.0)
    flat = dynamics.get("plateau", 0.0) == 1.0
    close = bool(worst) and worst[0].score.score >= CLOSE
    if attempt.early_stop is not None:
        why = f"it passed on its selection rollouts at step {attempt.early_stop.step:,}, and not on the report rollouts"
        yield _config(attempt, "stop_at_score", None, why)
    if dynamics.get("kl_spike_share", 0.0) > 0.05:
        why = f"the policy jumped in {dynamics['kl_spike_share']:.0%} of the updates"
        yield _config(attempt, "target_kl", 0.02, why)
    for advice in attempt.advice:
        for name, value in advice.config.items():
            yield _config(attempt, name, value, advice.finding.rstrip("."))
    if slope > 0.0 and not flat:
        yield from _longer(attempt, f"the return still rose by {slope:.0%} of its range over the last third")
    if dynamics.get("return_drop", 0.0) > 0.3:
        yield _config(attempt, "clip_range", 0.1, f"the return fell by {dynamics['return_drop']:.0%} after its best")
    if flat and not close:
        for value in EXPLORING:
            yield _config(attempt, "ent_coef", value, "the return stood still before the criteria were met")
    reason = f"{worst[0].text}, close to what is asked" if close else "what is asked for was not reached in the time"
    yield from _longer(attempt, reason)


def last_resort(attempt: Attempt, tries: int) -> ProposedChange:
    """Train longer than in any attempt, once every rule is used up."""
    if "total_timesteps" in attempt.pinned:
        value = round(EXPLORING[-1] * (2 + tries), 4)
        return _config(attempt, "ent_coef", value, "nothing else is left, and the length of the training is fixed")
    factor = 2.5 + 0.5 * tries
    return _config(attempt, "total_timesteps", int(factor * attempt.config.total_timesteps), "nothing else is left")


def _cheaper_fines(miss: Missed, attempt: Attempt, source: str, serving: tuple[str, ...]) -> Iterator[ProposedChange]:
    """Halve a penalty that takes much of the reward and serves no missed criterion."""
    for term in attempt.terms:
        if term.mean < 0 and term.share > COSTLY and term.name not in serving:
            why = f"{term.name!r} takes {term.share:.0%} of the reward, and {miss.text}"
            yield from _scaled(source, "weights", term.name, 0.5, why)


def _dearer(miss: Missed, attempt: Attempt, source: str, serving: tuple[str, ...]) -> Iterator[ProposedChange]:
    """Raise the weights of the terms that serve a missed criterion and do not make up the reward already."""
    shares = {term.name: term.share for term in attempt.terms}
    for name in serving:
        if shares.get(name, 0.0) < DOMINANT:
            for factor in (2.0, 4.0):
                yield from _scaled(source, "weights", name, factor, f"it serves what is missing: {miss.text}")


def _narrower(miss: Missed, source: str, serving: tuple[str, ...]) -> Iterator[ProposedChange]:
    """Narrow the partial credit of a nearly met criterion."""
    if miss.score.score >= CLOSE:
        for name in serving:
            yield from _scaled(source, "margins", name, 0.5, f"being near it is paid too well: {miss.text}")


def _scaled(source: str, table: str, name: str, factor: float, reason: str) -> Iterator[ProposedChange]:
    old = read_table(source, table).get(name)
    if not old:
        return
    new = round(old * factor, 4)
    changed = set_number(source, table, name, new)
    if changed is not None:
        label = name if table == "weights" else f"{name} margin"
        yield ProposedChange(Change(kind="reward", name=label, old=old, new=new, reason=reason), source=changed)


def _longer(attempt: Attempt, reason: str) -> Iterator[ProposedChange]:
    for factor in LONGER:
        yield _config(attempt, "total_timesteps", int(factor * attempt.config.total_timesteps), reason)


def _config(attempt: Attempt, name: str, new: object, reason: str) -> ProposedChange:
    change = Change(kind="config", name=name, old=getattr(attempt.config, name), new=new, reason=reason)
    return ProposedChange(change, config={name: new})

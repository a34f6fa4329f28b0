"""Session report without a model, from its numbers alone."""

from collections.abc import Iterator, Sequence

from p2p.agents.builtin.reviser import best_of
from p2p.agents.history import SessionHistory, tag_history
from p2p.contracts.intent import Intent, score_in_words, share_in_words
from p2p.contracts.protocols import Attempt
from p2p.contracts.remedies import Remedy
from p2p.contracts.session import SessionAnalysis
from p2p.store.sessions import SessionRecord

NAME = "builtin"


def analyze(record: SessionRecord, intent: Intent, attempts: tuple[Attempt, ...]) -> SessionAnalysis:
    """Write the report on a session.

    Args:
        record: Its directory.
        intent: What was asked.
        attempts: Its judged iterations, oldest first; at least one.
    """
    history = SessionHistory(record, attempts)
    best = best_of(attempts)
    rows = []
    for attempt in attempts:
        judgment = attempt.judgment
        cells = (
            str(attempt.number),
            str(attempt.based_on or "–"),
            score_in_words(judgment.intent_score),
            share_in_words(judgment.success_rate),
            ", ".join(judgment.failure_tags) or "nothing",
        )
        rows.append(f"| {' | '.join(cells)} |")
    table = "\n".join(["| iteration | made from | score | success | what failed |", "|---|---|---|---|---|", *rows])
    lessons = "\n".join(f"- {one.text} (iteration {one.learned_at})" for one in history.lineage.lessons)
    text = f"# {intent.prompt}\n\n{_outcome(best)}\n\n{table}\n"
    return SessionAnalysis(
        session_id=record.session_id,
        iterations=len(attempts),
        analysis=f"{text}\n## Lessons\n\n{lessons}\n" if lessons else text,
        key_findings=tuple(_findings(history, attempts, best)),
        recommendations=tuple(_recommendations(history, best)),
        written_by=NAME,
    )


def _outcome(best: Attempt) -> str:
    judgment = best.judgment
    reached = (
        f"score {score_in_words(judgment.intent_score or 0)}, "
        f"{share_in_words(judgment.success_rate or 0)} of {judgment.n_rollouts} rollouts"
    )
    return f"Best: iteration {best.number}, {judgment.verdict} ({reached})."


def _findings(history: SessionHistory, attempts: Sequence[Attempt], best: Attempt) -> Iterator[str]:
    yield _outcome(best)
    strategy = history.strategy()
    for fall in strategy["regressions"]:
        changed = ", ".join(fall["changed"]) or "nothing that was recorded"
        before, after = score_in_words(fall["from"]), score_in_words(fall["to"])
        yield f"Iteration {fall['iteration']} fell from {before} to {after} by changing {changed}."
    for tag in strategy["persistent_failure_tags"]:
        seen = tag_history(attempts)[tag]
        yield f"{tag}: seen {seen['count']} times, last in iteration {seen['last']}."
    for criterion in best.judgment.criteria:
        if criterion.required and not criterion.met:
            value = (
                "not measured"
                if criterion.value is None
                else f"{criterion.value:.3g} {criterion.unit.strip('1')}".strip()
            )
            met = share_in_words(criterion.met_share)
            yield f"{criterion.title}: {value}, met in {met} of the best iteration's rollouts."


def _recommendations(history: SessionHistory, best: Attempt) -> Iterator[str]:
    if best.judgment.passed:
        yield (
            f"It passed. To export the policy: {Remedy.EXPORT.of()}. To see how far you agree with the judges: "
            f"{Remedy.LABEL.of()}."
        )
        return
    if history.since_best() > 0:
        yield f"Build on iteration {best.number}, the best so far, not on the newest."
    slope = best.dynamics.get("return_slope", 0.0)
    if slope > 0 and best.dynamics.get("plateau", 0.0) == 0.0:
        yield f"Its return still rose at the end of its training ({slope:+.0%} over the last third): train longer."
    missed = [criterion for criterion in best.judgment.criteria if criterion.required and not criterion.met]
    if missed:
        worst = min(missed, key=lambda criterion: criterion.met_share)
        yield f"What is missing most is {worst.title!r}: reward it more, or more densely."
    if best.judgment.vetoed_by:
        yield f"It met every criterion and was refused by {best.judgment.vetoed_by}: see its diagnosis."
    if best.judgment.vetoed_by_eyes:
        said = best.judgment.observation
        exploit = said.suspected_exploit.strip() if said is not None else ""
        yield (
            f"It met its measured criteria without doing what was meant{': ' + exploit if exploit else ''}. Tighten "
            f"them so that they exclude this ({Remedy.TIGHTEN.of()}), and remove the reward terms that pay for it."
        )

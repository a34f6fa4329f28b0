"""Rewards and revisions as tools show them."""

from p2p.contracts.brief import DraftReport, RevisionBrief
from p2p.contracts.intent import share_in_words
from p2p.contracts.judgment import Verdict
from p2p.contracts.reward import RewardProbe, RewardRanking, RewardReport, RewardSpec, TermStatistics
from p2p.contracts.start_policy import StartDecision
from p2p.contracts.training import EffectiveConfig
from p2p.service.rounding import rounded_term, short
from p2p_mcp.views.answer import Answer


class CheckAnswer(Answer):
    """What trying a reward showed."""

    accepted: bool
    """False: nothing is trained with it."""
    errors: tuple[str, ...]
    """With the line and the smallest fix."""
    warnings: tuple[str, ...]
    spec: RewardSpec | None
    """Its terms and its formula; null when it does not load."""
    ranges: tuple[TermStatistics, ...]
    """Values of each term on the transitions it was tried on."""
    ranking: RewardRanking | None
    """What it pays for known motions, against the criteria; null without criteria, or where no motion is known."""
    transitions: int
    microseconds_per_step: float | None
    """What a step costs in training; null where it is evaluated step after step."""
    microseconds_per_call: float
    """What one call costs."""
    method: str
    """"vectorised", "hand-written" or "loop", which is slowest."""
    method_reason: str
    """Why not all steps at once."""
    probe: RewardProbe | None = None
    """What a short training learnt with it; null where none was asked for."""
    next_step: str


class RewardAnswer(CheckAnswer):
    """A reward that was handed in."""

    session_id: str
    iteration: int
    source: str = ""
    """Of a reward that the built-in author wrote; yours is not repeated."""
    config: EffectiveConfig = EffectiveConfig()
    """Every field it will be trained with, by who set it."""
    start: StartDecision | None = None
    """Whether to go on from the policy of the reward it was changed from; null for a first reward."""
    uri: str


class RevisionAnswer(Answer):
    """What the writer of the next reward has to know, or what came of the reward that was handed in."""

    brief: RevisionBrief | None
    reward: RewardAnswer | None
    next_step: str


def checked(report: RewardReport, session_id: str | None = None) -> CheckAnswer:
    """A reward that was tried."""
    place = f'session_id="{session_id}", ' if session_id else "session_id=..., "
    step = f"write_reward({place}source=...) keeps it." if report.accepted else "Correct it and try it again."
    return CheckAnswer(**_facts(report), next_step=step)


def written(session_id: str, draft: DraftReport, *, ours: bool) -> RewardAnswer:
    """A reward that is kept.

    Args:
        session_id: Where.
        draft: The reward, and what trying it showed.
        ours: Whether p2p wrote it: then its caller has not seen it.
    """
    call = f'write_reward(session_id="{session_id}", source="...")'
    warned = any(issue.severity == "warning" for issue in draft.report.issues)
    start = f'train_iteration(session_id="{session_id}")'
    if draft.start is not None:
        on = draft.start.from_iteration
        policy = "" if on is None else f', from_policy="{on}"'
        start = f'train_iteration(session_id="{session_id}"{policy}) ({draft.start.reason})'
    step = f"{start}; or mind the warnings first: {call} replaces it." if warned else start
    if ours:
        minding = ", minding the warnings" if warned else ""
        step = f"{start}; or edit `source`, the built-in author's reward, first{minding}: {call} replaces it."
    return RewardAnswer(
        **_facts(draft.report),
        session_id=session_id,
        iteration=draft.iteration,
        source=draft.source if ours else "",
        config=draft.config,
        start=draft.start,
        uri=f"p2p://sessions/{session_id}/iterations/{draft.iteration}/reward.py",
        next_step=step if draft.report.accepted else f"Correct what `errors` name, then {call}.",
    )


def asked(brief: RevisionBrief) -> RevisionAnswer:
    """What there is to know before the next reward is written."""
    call = f'revise_reward(session_id="{brief.session_id}", source="...", reasoning="...")'
    if brief.verdict is Verdict.PASSED:
        call = f'It has passed: export_policy(session_id="{brief.session_id}").'
    elif brief.iterations_left < 1:
        call = f'All iterations are used up: extend_session(session_id="{brief.session_id}") goes on.'
    elif brief.suggestion is not None:
        call += ", or built_in_author=true takes the suggestion."
    goes_on = brief.goes_on
    if (
        goes_on is not None
        and goes_on.from_iteration is not None
        and brief.iterations_left
        and brief.verdict is not Verdict.PASSED
    ):
        call += (
            f" If your reward differs in at most {share_in_words(goes_on.little)} of its lines, train it with "
            f'train_iteration(from_policy="{goes_on.from_iteration}").'
        )
    rules = f"reward_rules of describe_environment(env_id={brief.env_id!r})"
    return RevisionAnswer(brief=brief.model_copy(update={"constraints": rules}), reward=None, next_step=call)


def _facts(report: RewardReport) -> dict[str, object]:
    """Fields that every answer about a reward has, with rounded numbers."""
    ranking = report.ranking
    if ranking is not None:
        motions = tuple(
            one.model_copy(update={"score": short(one.score), "pay": short(one.pay)}) for one in ranking.motions
        )
        ranking = ranking.model_copy(update={"motions": motions, "correlation": short(ranking.correlation)})
    probe = report.probe
    if probe is not None:
        criteria = tuple(
            one.model_copy(
                update={
                    "values": tuple(short(value) for value in one.values),
                    "met_shares": tuple(short(share) for share in one.met_shares),
                    "approached": short(one.approached),
                }
            )
            for one in probe.criteria
        )
        intervals = tuple((short(low), short(high)) for low, high in probe.intervals)
        returns = tuple(short(value) for value in probe.returns)
        probe = probe.model_copy(update={"criteria": criteria, "returns": returns, "intervals": intervals})
    return {
        "accepted": report.accepted,
        "errors": report.errors,
        "warnings": tuple(issue.message for issue in report.issues if issue.severity != "error"),
        "spec": report.spec,
        "ranges": tuple(rounded_term(term) for term in report.terms),
        "ranking": ranking,
        "transitions": report.transitions,
        "microseconds_per_step": short(report.microseconds_per_step),
        "microseconds_per_call": short(report.microseconds_per_call),
        "method": report.method,
        "method_reason": report.method_reason,
        "probe": probe,
    }

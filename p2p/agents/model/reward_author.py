"""Write rewards: the first one, its review, and its repair after a check."""

from pydantic import Field

from p2p.agents.model.asking import Role, RoleQuestion
from p2p.agents.model.configuring import config_problems
from p2p.contracts.base import Contract
from p2p.contracts.env import EnvSpec
from p2p.contracts.intent import Intent
from p2p.contracts.reward import CandidatePlace, RewardDraft, RewardReport
from p2p.prompts import render

MAX_SOURCE = 40_000
MAX_REVIEWS = 3
"""Rounds of review; the last correction is taken as it is."""


class WrittenReward(Contract):
    """A reward, and how to train it."""

    reasoning: str = Field(default="", max_length=4000)
    """What a maximiser of it would do, and why that is what was asked."""
    source: str = Field(min_length=20, max_length=MAX_SOURCE)
    """The whole Python file."""
    config_changes: dict[str, object] = Field(default_factory=dict)
    """Fields of the training configuration that differ from the preset; mostly none."""


class Reviewed(Contract):
    """What a reviewer found."""

    reasoning: str = Field(default="", max_length=4000)
    approved: bool
    source: str = Field(default="", max_length=MAX_SOURCE)
    """The whole corrected file; empty when it is approved."""


def write_reward(
    role: Role, intent: Intent, env: EnvSpec, constraints: str, wishes: tuple[str, ...] = ()
) -> RewardDraft:
    """Write the first reward of a session.

    Raises:
        ModelProblem: the model gave no answer that could be used.
    """
    system = render("reward_author", env=env, intent=intent, constraints=constraints, wishes="\n".join(wishes))
    written = role.ask(RoleQuestion(system, f"Write the reward for: {intent.prompt}"), WrittenReward, problems_of)
    return RewardDraft(source=written.source, config_changes=written.config_changes, reasoning=written.reasoning)


def write_candidate(
    role: Role, intent: Intent, env: EnvSpec, constraints: str, place: CandidatePlace, wishes: tuple[str, ...] = ()
) -> RewardDraft:
    """Write one of several rewards for the same purpose, given its number and form.

    Raises:
        ModelProblem: the model gave no answer that could be used.
    """
    system = render("reward_author", env=env, intent=intent, constraints=constraints, wishes="\n".join(wishes))
    question = render("reward_candidate", intent=intent, place=place)
    written = role.ask(RoleQuestion(system, question), WrittenReward, problems_of)
    return RewardDraft(source=written.source, config_changes=written.config_changes, reasoning=written.reasoning)


def review_reward(role: Role, intent: Intent, env: EnvSpec, constraints: str, draft: RewardDraft) -> RewardDraft:
    """Have a reviewer improve the reward, given the same criteria as its author.

    Raises:
        ModelProblem: the model gave no answer that could be used.
    """
    for _ in range(MAX_REVIEWS):
        system = render("code_review", env=env, intent=intent, constraints=constraints, source=draft.source)
        reviewed = role.ask(RoleQuestion(system, "Review the reward."), Reviewed, _unfinished)
        if reviewed.approved or not reviewed.source.strip() or reviewed.source == draft.source:
            break
        draft = draft.model_copy(update={"source": reviewed.source})
    return draft


def repair_reward(
    role: Role, intent: Intent, env: EnvSpec, constraints: str, draft: RewardDraft, report: RewardReport
) -> RewardDraft:
    """Repair the problems that a reward's check found.

    Raises:
        ModelProblem: the model gave no answer that could be used.
    """
    system = render("reward_author", env=env, intent=intent, constraints=constraints, wishes="")
    found = [f"line {issue.line}: {issue.message}" if issue.line else issue.message for issue in report.issues]
    question = render("reward_repair", source=draft.source, problems="\n".join(found))
    written = role.ask(RoleQuestion(system, question), WrittenReward, problems_of)
    return draft.model_copy(update={"source": written.source})


def problems_of(written: WrittenReward) -> list[str]:
    """Problems for the model to fix before any trial or review."""
    return [*config_problems(written.config_changes), *_uncompiled(written.source)]


def _uncompiled(source: str) -> list[str]:
    """Syntax error of a file; spares a review."""
    try:
        compile(source, "reward_fn.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        line = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
        return [f"source: {line}not valid Python: {error.msg if isinstance(error, SyntaxError) else error}."]
    return []


def _unfinished(reviewed: Reviewed) -> list[str]:
    if not reviewed.approved and not reviewed.source.strip():
        return ["Not approved, and no corrected source: give the whole file, or approve."]
    return [] if reviewed.approved else _uncompiled(reviewed.source)

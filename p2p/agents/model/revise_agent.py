"""Next reward: a plan from the session's history, then an edit of one iteration's source."""

from dataclasses import dataclass

from pydantic import Field

from p2p.agents.history import SessionHistory
from p2p.agents.model.asking import Role, RoleQuestion
from p2p.agents.model.configuring import config_problems, planned_config
from p2p.agents.model.revise_tools import revise_tools
from p2p.agents.model.reward_author import MAX_SOURCE
from p2p.agents.model.variants import Variation, propose_variants
from p2p.contracts.base import Contract
from p2p.contracts.env import EnvSpec
from p2p.contracts.intent import Intent, share_in_words
from p2p.contracts.protocols import Attempt, AuthorLimits
from p2p.contracts.reward import Change, Revision
from p2p.contracts.start_policy import MOST_LINES
from p2p.prompts import render
from p2p.store.sessions import SessionRecord
from p2p.training.tuning import BOUNDS

PLATEAU = 3
"""Iterations since the best one after which another structure may be tried."""


class PlannedChange(Contract):
    """One change, and the measurement that asks for it."""

    kind: str = Field(pattern="^(reward|config)$")
    name: str = Field(min_length=1, max_length=100)
    """Term of the reward, or field of the training configuration."""
    what: str = Field(min_length=1, max_length=500)
    reason: str = Field(default="", max_length=500)


class RevisionPlan(Contract):
    """What is to be changed, and why."""

    diagnosis: str = Field(min_length=1, max_length=4000)
    """What the robot does instead, in numbers, and what causes it."""
    lesson: str = Field(default="", max_length=400)
    """What the last iteration taught, in a sentence that holds beyond it."""
    based_on: int
    """Number of the iteration whose reward is changed."""
    changes: tuple[PlannedChange, ...] = Field(min_length=1, max_length=8)
    config_changes: dict[str, object] = Field(default_factory=dict)
    """Fields of the training configuration with their new values; null sets one back to the preset."""


class EditedReward(Contract):
    """The changed reward."""

    source: str = Field(min_length=20, max_length=MAX_SOURCE)
    """The whole Python file."""


@dataclass(frozen=True, slots=True)
class Situation:
    """Inputs of a revision."""

    record: SessionRecord
    intent: Intent
    env: EnvSpec
    limits: AuthorLimits
    attempts: tuple[Attempt, ...]
    wishes: tuple[str, ...]

    @property
    def steps_left(self) -> int | None:
        """Environment steps left for each training of the next iteration; None without a cap."""
        left = self.limits.steps_left
        return None if left is None else left // self.limits.n_runs


def revise(role: Role, situation: Situation) -> Revision:
    """Next reward and configuration.

    Raises:
        ModelProblem: the model gave no answer that could be used.
    """
    history = SessionHistory(situation.record, situation.attempts)
    plan = _plan(role, situation, history)
    base = history.attempt(plan.based_on)
    source = base.source
    if any(change.kind == "reward" for change in plan.changes):
        wanted = "\n".join(f"- {change.name}: {change.what} ({change.reason})" for change in plan.changes)
        question = render("reward_edit", plan=wanted, source=source)
        source = role.ask(RoleQuestion(_system(situation, history), question), EditedReward).source
    config = {**base.config_changes, **plan.config_changes}
    # Configurations trained beside the plan's.
    limits = situation.limits
    planned = planned_config(base.config, plan.config_changes, situation.record.read_session().preset)
    variation = Variation(planned, limits.n_variants, base.pinned, limits.taken)
    told = plan.model_dump(mode="json", include={"diagnosis", "changes", "config_changes"})
    variants = propose_variants(role, variation, told)
    return Revision(
        based_on=plan.based_on,
        diagnosis=plan.diagnosis,
        lesson=plan.lesson,
        changes=_changes(plan, base)[:2],
        source=source,
        config_changes={name: value for name, value in config.items() if value is not None},
        variants=variants,
    )


def _plan(role: Role, situation: Situation, history: SessionHistory) -> RevisionPlan:
    wishes = "\n".join(f"- {wish}" for wish in situation.wishes)
    said = f"\nA person wishes: \n{wishes}" if wishes else ""
    question = (
        f"The sentence: {situation.intent.prompt}\nIteration {history.newest} was judged last. Look up what you need, "
        f"then give your plan.{said}"
    )
    return role.ask_with_tools(
        RoleQuestion(_system(situation, history), question),
        RevisionPlan,
        revise_tools(situation.record, history),
        lambda plan: _problems(plan, situation, history),
    )


def _system(situation: Situation, history: SessionHistory) -> str:
    stuck = history.since_best()
    return render(
        "revise_agent",
        env=situation.env,
        intent=situation.intent,
        constraints=situation.limits.constraints,
        plateau=stuck if stuck >= PLATEAU else 0,
        reward_only=situation.limits.reward_only,
        little=share_in_words(MOST_LINES),
        steps_left="no limit" if situation.steps_left is None else f"{situation.steps_left:,}",
        bounds=", ".join(f"{name} {low:g} … {high:g}" for name, (low, high) in BOUNDS.items()),
    )


def _problems(plan: RevisionPlan, situation: Situation, history: SessionHistory) -> list[str]:
    """Problems for the model to fix."""
    known = {attempt.number for attempt in situation.attempts}
    found = []
    if plan.based_on not in known:
        found.append(
            f"based_on {plan.based_on} is not a judged iteration. Judged: {', '.join(map(str, sorted(known)))}."
        )
    if len(plan.changes) > 2 and history.since_best() < PLATEAU:
        found.append(f"{len(plan.changes)} changes at once: choose the two that matter most.")
    if situation.limits.reward_only and plan.config_changes:
        found.append("The hyperparameters are fixed in this session: leave config_changes empty.")
    return [*found, *config_problems(plan.config_changes, situation.steps_left)]


def _changes(plan: RevisionPlan, base: Attempt) -> tuple[Change, ...]:
    """Changes: of reward terms as planned, of hyperparameters as made."""
    reasons = {change.name: change.reason for change in plan.changes}
    reward = [
        Change(kind="reward", name=change.name, old=None, new=change.what, reason=change.reason)
        for change in plan.changes
        if change.kind == "reward"
    ]
    config = [
        Change(kind="config", name=name, old=getattr(base.config, name), new=value, reason=reasons.get(name, ""))
        for name, value in plan.config_changes.items()
        if value != getattr(base.config, name)
    ]
    return (*reward[:1], *config[:1], *reward[1:], *config[1:])

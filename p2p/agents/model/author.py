"""The three writing roles, played by a language model."""

from dataclasses import dataclass

from p2p.agents.model import intent_elicitor, revise_agent, reward_author
from p2p.agents.model.asking import Role
from p2p.contracts.env import EnvSpec
from p2p.contracts.intent import Intent
from p2p.contracts.protocols import Attempt, AuthorLimits
from p2p.contracts.reward import CandidatePlace, Revision, RewardDraft, RewardReport
from p2p.contracts.session import EventName, SessionStatus
from p2p.inference.client import SessionModels
from p2p.store.sessions import SessionRecord

ROLES = ("intent_elicitor", "reward_author", "code_review", "revise_agent")


@dataclass(frozen=True, slots=True)
class Roles:
    """Models by role."""

    elicitor: Role
    author: Role
    reviewer: Role
    reviser: Role
    repairer: Role


class ModelAuthor:
    """Writes criteria, rewards and revisions for one session.

    Args:
        models: Of the session.
        record: The session.
        limits: What to keep to.
    """

    def __init__(self, models: SessionModels, record: SessionRecord, limits: AuthorLimits) -> None:
        number = max((iteration.number for iteration in record.iteration_records()), default=1)
        # How often the session ended for lack of a repair; after a resume the request must be new.
        ends = (event for event in record.events.read() if event.event is EventName.SESSION_ERROR)
        given_up = sum(event.data.get("status") == SessionStatus.INVALID_CODE for event in ends)
        repairer = Role(models.for_role("reward_author", number), sample=given_up)
        elicitor, author, reviewer, reviser = (Role(models.for_role(name, number)) for name in ROLES)
        self._roles = Roles(elicitor, author, reviewer, reviser, repairer)
        self._models = models
        self._record = record
        self._limits = limits
        self._constraints = limits.constraints

    def elicit(self, prompt: str, env: EnvSpec) -> Intent:
        """Criteria for `prompt`.

        Raises:
            Ambiguous: the model has to know something first.
            InvalidInput: this body cannot do it.
            ModelProblem: the model gave no answer that could be used.
        """
        return intent_elicitor.elicit(self._roles.elicitor, prompt, env)

    def write(self, intent: Intent, env: EnvSpec) -> RewardDraft:
        """Write and review the first reward.

        Raises:
            ModelProblem: the model gave no answer that could be used.
        """
        wishes = tuple(wish.text for wish in self._record.read_wishes())
        draft = reward_author.write_reward(self._roles.author, intent, env, self._constraints, wishes)
        return self._reviewed(intent, env, draft)

    def write_candidate(self, intent: Intent, env: EnvSpec, place: CandidatePlace) -> RewardDraft:
        """Write and review one of several rewards for the same purpose.

        Raises:
            ModelProblem: the model gave no answer that could be used.
        """
        author, reviewer = (
            Role(self._models.for_role(name, place.iteration), sample=place.number - 1)
            for name in ("reward_author", "code_review")
        )
        wishes = tuple(wish.text for wish in self._record.read_wishes())
        draft = reward_author.write_candidate(author, intent, env, self._constraints, place, wishes)
        return reward_author.review_reward(reviewer, intent, env, self._constraints, draft)

    def repair(self, intent: Intent, env: EnvSpec, draft: RewardDraft, report: RewardReport) -> RewardDraft:
        """Repair a reward that its check refused.

        Raises:
            ModelProblem: the model gave no answer that could be used.
        """
        return reward_author.repair_reward(self._roles.repairer, intent, env, self._constraints, draft, report)

    def revise(
        self, intent: Intent, env: EnvSpec, attempts: tuple[Attempt, ...], wishes: tuple[str, ...] = ()
    ) -> Revision:
        """Next reward and configuration, reviewed.

        Raises:
            ModelProblem: the model gave no answer that could be used.
        """
        situation = revise_agent.Situation(
            record=self._record,
            intent=intent,
            env=env,
            limits=self._limits,
            attempts=attempts,
            wishes=wishes,
        )
        revision = revise_agent.revise(self._roles.reviser, situation)
        reviewed = self._reviewed(intent, env, RewardDraft(source=revision.source))
        return revision.model_copy(update={"source": reviewed.source})

    def _reviewed(self, intent: Intent, env: EnvSpec, draft: RewardDraft) -> RewardDraft:
        return reward_author.review_reward(self._roles.reviewer, intent, env, self._constraints, draft)

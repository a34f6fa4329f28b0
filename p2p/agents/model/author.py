"""The three writing roles, played by a language model."""

from dataclasses import dataclass

from p2p.agents.model import intent_elicitor, revise_agent, reward_author
from p2p.agents.model.asking import Role
from p2p.contracts.env import EnvSpec
from p2p.contracts.intent import Intent
from p2p.contracts.protocols import Attempt, AuthorLimits
from p2p.contracts.revision import Revision
from p2p.contracts.reward import RewardDraft, RewardReport
from p2p.inference.client import SessionModels
from p2p.store.sessions import SessionRecord

ROLES = ("intent_elicitor", "reward_author", "code_review", "revise_agent")


@dataclass(frozen=True, slots=True)
class Roles:
    """Who plays which."""

    elicitor: Role
    author: Role
    reviewer: Role
    reviser: Role


class ModelAuthor:
    """Writes criteria, rewards and revisions for one session.

    Args:
        models: Of the session.
        record: The session.
        limits: What to keep to.
    """

    def __init__(self, models: SessionModels, record: SessionRecord, limits: AuthorLimits) -> None:
        number = max((iteration.number for iteration in record.iteration_records()), default=1)
        self._roles = Roles(*(Role(models.for_role(name, number)) for name in ROLES))
        self._record, self._limits = record, limits
        self._constraints = limits.constraints

    def elicit(self, prompt: str, env: EnvSpec) -> Intent:
        """The criteria `prompt` will be judged by.

        Raises:
            Ambiguous: the model has to know something first.
            InvalidInput: this body cannot do it.
            ModelProblem: the model gave no answer that could be used.
        """
        return intent_elicitor.elicit(self._roles.elicitor, prompt, env)

    def write(self, intent: Intent, env: EnvSpec) -> RewardDraft:
        """The first reward, reviewed.

        Raises:
            ModelProblem: the model gave no answer that could be used.
        """
        wishes = tuple(wish.text for wish in self._record.read_wishes())
        draft = reward_author.write_reward(self._roles.author, intent, env, self._constraints, wishes)
        return self._reviewed(intent, env, draft)

    def repair(self, intent: Intent, env: EnvSpec, draft: RewardDraft, report: RewardReport) -> RewardDraft:
        """A reward that its check refused, mended.

        Raises:
            ModelProblem: the model gave no answer that could be used.
        """
        return reward_author.repair_reward(self._roles.author, intent, env, self._constraints, draft, report)

    def revise(
        self, intent: Intent, env: EnvSpec, attempts: tuple[Attempt, ...], wishes: tuple[str, ...] = ()
    ) -> Revision:
        """The next reward and configuration, reviewed.

        Raises:
            ModelProblem: the model gave no answer that could be used.
        """
        situation = revise_agent.Situation(
            record=self._record,
            intent=intent,
            env=env,
            constraints=self._constraints,
            attempts=attempts,
            wishes=wishes,
            steps_left=self._limits.steps_left,
            reward_only=self._limits.reward_only,
        )
        revision = revise_agent.revise(self._roles.reviser, situation)
        reviewed = self._reviewed(intent, env, RewardDraft(source=revision.source))
        return revision.model_copy(update={"source": reviewed.source})

    def _reviewed(self, intent: Intent, env: EnvSpec, draft: RewardDraft) -> RewardDraft:
        return reward_author.review_reward(self._roles.reviewer, intent, env, self._constraints, draft)

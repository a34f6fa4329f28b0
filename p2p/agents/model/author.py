"""The three writing roles, played by a language model."""

from dataclasses import dataclass

from p2p.agents.model import intent_elicitor, revise_agent, reward_author
from p2p.agents.model.asking import Role
from p2p.contracts.env import EnvSpec
from p2p.contracts.intent import Intent
from p2p.contracts.protocols import Attempt
from p2p.contracts.revision import Revision
from p2p.contracts.reward import RewardDraft, RewardReport
from p2p.store.sessions import SessionRecord


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
        roles: Who answers.
        record: The session.
        constraints: What a reward may do, and how far its training may be changed.
        steps_left: Environment steps the session may still take; None without a cap.
        reward_only: Whether the hyperparameters are fixed.
    """

    def __init__(
        self,
        roles: Roles,
        record: SessionRecord,
        constraints: str,
        steps_left: int | None = None,
        reward_only: bool = False,
    ) -> None:
        self._roles, self._record, self._constraints = roles, record, constraints
        self._steps_left, self._reward_only = steps_left, reward_only

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
            steps_left=self._steps_left,
            reward_only=self._reward_only,
        )
        revision = revise_agent.revise(self._roles.reviser, situation)
        reviewed = self._reviewed(intent, env, RewardDraft(source=revision.source))
        return revision.model_copy(update={"source": reviewed.source})

    def _reviewed(self, intent: Intent, env: EnvSpec, draft: RewardDraft) -> RewardDraft:
        return reward_author.review_reward(self._roles.reviewer, intent, env, self._constraints, draft)

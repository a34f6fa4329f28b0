"""Comparison of two policies by eyes: in both orders; a tie if these disagree."""

from p2p.agents.model.asking import Role, RoleQuestion
from p2p.contracts.intent import Criterion
from p2p.contracts.judgment import hash_of
from p2p.contracts.preference import Compared, ComparedPolicy, Preference, preference
from p2p.inference.client import SessionModel
from p2p.judges.evidence_pictures import EvidencePicture
from p2p.prompts import render


def question(prompt: str, criteria: tuple[Criterion, ...]) -> str:
    """Instructions for comparing two motions, for models and for people.

    Args:
        prompt: What was asked for.
        criteria: It is judged by.
    """
    return render("pairwise_judge", prompt=prompt, criteria=criteria)


class PairwiseJudge:
    """A model that compares.

    Args:
        model: As the role "vision_judge" of its session: counted and capped.
        question: How they are to be compared.
    """

    def __init__(self, model: SessionModel, question: str) -> None:
        self._role = Role(model)
        self._name = model.name
        self._system = question

    def compare(
        self,
        session_id: str,
        pair: tuple[ComparedPolicy, ComparedPolicy],
        pictures: tuple[EvidencePicture, EvidencePicture],
    ) -> Preference:
        """Compare two policies.

        Args:
            session_id: Whose they are.
            pair: The two.
            pictures: Both together: with the first above, and with the second above.

        Raises:
            ModelProblem: there is no answer that can be used.
            BudgetExceeded: it would cost more than the session may.
        """
        return preference(
            session_id,
            pair,
            (pictures[0].sent, pictures[1].sent),
            (self._ask(pictures[0]), self._ask(pictures[1])),
            observer="api",
            provider=self._name.provider,
            model=self._name.model,
            prompt_hash=hash_of(self._system),
        )

    def _ask(self, picture: EvidencePicture) -> Compared:
        return self._role.ask(RoleQuestion(self._system, "Which does it better?", (picture.part(),)), Compared)

"""Judge author: a model that writes the code which measures one criterion."""

from collections.abc import Callable

from pydantic import Field

from p2p.agents.model.asking import Role, RoleQuestion
from p2p.contracts.base import Contract
from p2p.contracts.env import EnvSpec
from p2p.contracts.intent import Criterion, Intent
from p2p.contracts.judgment import Decomposition, JudgeFunction
from p2p.inference.client import SessionModel
from p2p.prompts import render

MAX_SOURCE = 40_000
MAX_REVIEWS = 3
"""Rounds of the review for loopholes; the last correction is taken as it is."""
MAX_REPAIRS = 3

Validate = Callable[[str], list[str]]
"""Tries a source on motions; returns what is wrong with it, in words the model can act on."""


def rules(env: EnvSpec) -> str:
    """Input, output and allowed names of a judge function, as text for its author."""
    return f"{render('features', env=env)}\n{render('judge_code')}"


class WrittenJudge(Contract):
    """The code."""

    source: str = Field(min_length=20, max_length=MAX_SOURCE)
    """The whole Python file."""


class Attacked(Contract):
    """What somebody found who attacked it."""

    loopholes: str = Field(default="", max_length=4000)
    """How it can be fooled, and where it is unjust."""
    approved: bool
    source: str = Field(default="", max_length=MAX_SOURCE)
    """The whole corrected file; empty where it is approved."""


class JudgeAuthor:
    """Decompose a criterion, review that, write the code, attack it, and repair what its trial finds.

    Args:
        model: As the role "judge_author" of its session: counted and capped.
        env: Where the motion is.
        intent: What was asked for.
        validate: Tries a source.
    """

    def __init__(self, model: SessionModel, env: EnvSpec, intent: Intent, validate: Validate) -> None:
        self._role = Role(model)
        self._env = env
        self._intent = intent
        self._validate = validate

    def write(self, criterion: Criterion) -> JudgeFunction:
        """Write the function for one criterion; no source if it is left to eyes or no code was usable.

        Raises:
            ModelProblem: the model gives no answer that can be used.
            BudgetExceeded: it would cost more than the session may.
        """
        plan = self._role.ask(self._asked(criterion, "decompose"), Decomposition, _without_leaves)
        if not plan.measurable:
            return JudgeFunction(key=criterion.key, decomposition=plan)
        reviewing = self._asked(criterion, "review", decomposition=plan.model_dump_json(indent=1))
        plan = self._role.ask(reviewing, Decomposition, _without_leaves)
        if not plan.measurable:
            return JudgeFunction(key=criterion.key, decomposition=plan)
        words = plan.model_dump_json(indent=1)
        written = self._role.ask(self._asked(criterion, "implement", decomposition=words), WrittenJudge)
        source = written.source
        for _ in range(MAX_REVIEWS):
            asked = self._asked(criterion, "loopholes", decomposition=words, source=source)
            found = self._role.ask(asked, Attacked, _unfinished)
            if found.approved or found.source == source:
                break
            source = found.source
        return self._mended(criterion, plan, source, self._validate(source))

    def repair(self, criterion: Criterion, function: JudgeFunction, problem: str) -> JudgeFunction:
        """Repair a function that failed on rollouts; no source if that did not succeed.

        Raises:
            ModelProblem: the model gives no answer that can be used.
            BudgetExceeded: it would cost more than the session may.
        """
        return self._mended(criterion, function.decomposition, function.source, [problem])

    def _mended(self, criterion: Criterion, plan: Decomposition, source: str, problems: list[str]) -> JudgeFunction:
        for _ in range(MAX_REPAIRS):
            if not problems:
                break
            asked = self._asked(criterion, "repair", source=source, problems="\n".join(problems))
            source = self._role.ask(asked, WrittenJudge).source
            problems = self._validate(source)
        usable = "" if problems else source
        return JudgeFunction(key=criterion.key, decomposition=plan, source=usable, problems=tuple(problems))

    def _asked(self, criterion: Criterion, stage: str, **values: str) -> RoleQuestion:
        facts = {"decomposition": "", "source": "", "problems": "", **values}
        system = render("judge_author", env=self._env, intent=self._intent, criterion=criterion, stage=stage, **facts)
        return RoleQuestion(system, f"Criterion {criterion.key}: {stage}.")


def _without_leaves(plan: Decomposition) -> list[str]:
    return ["It is measurable, and nothing is measured: give leaves."] if plan.measurable and not plan.leaves else []


def _unfinished(found: Attacked) -> list[str]:
    if not found.approved and not found.source.strip():
        return ["Not approved, and no corrected source: give the whole file, or approve."]
    return []

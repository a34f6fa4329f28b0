"""Criteria from a sentence, by a model that knows the body's features."""

from pydantic import Field

from p2p.agents.model.asking import Role, RoleQuestion
from p2p.contracts.base import Contract
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import Ambiguous, InvalidInput
from p2p.contracts.intent import MOST_CRITERIA, Criterion, Intent
from p2p.prompts import render
from p2p.rewards.part_features import problem_of


class Elicited(Contract):
    """The criteria; or why there are none."""

    criteria: tuple[Criterion, ...] = Field(default=(), max_length=MOST_CRITERIA)
    episode_s: float = Field(default=5.0, ge=1.0, le=30.0)
    """Length of the judged episodes [s]."""
    question: str = Field(default="", max_length=300)
    """What has to be known first; empty where nothing has."""
    impossible: str = Field(default="", max_length=500)
    """Why this body cannot do it; empty where it can."""


def elicit(role: Role, prompt: str, env: EnvSpec) -> Intent:
    """Criteria for a sentence.

    Raises:
        Ambiguous: the model has to know something first.
        InvalidInput: this body cannot do it.
        ModelProblem: the model gave no answer that could be used.
    """
    system = render("intent_elicitor", env=env)
    asked = RoleQuestion(system, f"The sentence: {prompt.strip()}")
    elicited = role.ask(asked, Elicited, lambda answer: _problems(answer, prompt, env))
    if elicited.impossible:
        raise InvalidInput(f"{env.env_id} cannot do that: {elicited.impossible}")
    if elicited.question and not elicited.criteria:
        raise Ambiguous(elicited.question)
    return _intent(elicited, prompt, env)


def _intent(elicited: Elicited, prompt: str, env: EnvSpec) -> Intent:
    return Intent(prompt=prompt.strip(), env_id=env.env_id, criteria=elicited.criteria, episode_s=elicited.episode_s)


def _problems(elicited: Elicited, prompt: str, env: EnvSpec) -> list[str]:
    """Problems for the model to fix, including those of the whole intent."""
    if elicited.impossible or (elicited.question and not elicited.criteria):
        return []
    if not elicited.criteria:
        return ["criteria is empty: give 1 to 8, or say in `impossible` why there are none."]
    predicates = [criterion.predicate for criterion in elicited.criteria if criterion.predicate is not None]
    if problems := [problem for predicate in predicates if (problem := problem_of(predicate, env))]:
        return [f"A criterion reads {problem}" for problem in problems]
    try:
        _intent(elicited, prompt, env)
    except ValueError as error:
        return [str(error)]
    if not any(criterion.required for criterion in elicited.criteria):
        return ["No criterion is required: mark those that decide whether it succeeded."]
    return []

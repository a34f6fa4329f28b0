"""The behaviours that the built-in author knows."""

import inspect
from functools import lru_cache

from p2p.agents.builtin.phrases import parse
from p2p.contracts.reward_template import RewardTemplate, TemplateTerm
from p2p.envs import catalog
from p2p.rewards.templates import TEMPLATES
from p2p.rewards.templates.body_table import body_of
from p2p.rewards.templates.plan import Stage, Template


def reward_templates(env_id: str | None = None) -> tuple[RewardTemplate, ...]:
    """Behaviours that the built-in author knows, for one environment or for all that come with p2p.

    Args:
        env_id: Only what is possible there; None for all.

    Raises:
        UnknownName: p2p does not come with this environment.
    """
    if env_id is None:
        return _templates(catalog.known())
    return _templates((catalog.load(catalog.newest(env_id)).env_id,))


@lru_cache(maxsize=64)
def _templates(env_ids: tuple[str, ...]) -> tuple[RewardTemplate, ...]:
    bodies = {env_id: body_of(catalog.load(env_id)) for env_id in env_ids}
    found = []
    for kind in (template() for template in TEMPLATES.values()):
        if possible := [env_id for env_id, body in bodies.items() if kind.refusal(body) is None]:
            found.append(_template(kind, possible))
    return tuple(found)


def _template(kind: Template, env_ids: list[str]) -> RewardTemplate:
    body = body_of(catalog.load(env_ids[0]))
    phrases = kind.examples(body)
    plan = kind.plan(parse(phrases[0], body)[0].params, body, Stage())
    terms = tuple(
        TemplateTerm(name=term.name, weight=term.sign * term.weight, latex=term.latex, description=term.description)
        for term in plan.terms
    )
    return RewardTemplate(
        name=kind.name,
        about=(inspect.getdoc(type(kind)) or "").partition("\n")[0].removesuffix("."),
        environments=tuple(env_ids),
        phrases=phrases,
        summary=plan.summary,
        terms=terms,
        latex=" ".join(map(_summand, terms)).removeprefix("+ "),
    )


def _summand(term: TemplateTerm) -> str:
    name = term.name.replace("_", r"\_")
    return rf"{'-' if term.weight < 0 else '+'} w_{{\mathrm{{{name}}}}}\,{term.latex}"

"""The three writing roles without a model."""

from p2p.agents.builtin.compose import compose
from p2p.agents.builtin.phrases import parse
from p2p.agents.builtin.refusals import not_understood
from p2p.agents.builtin.reviser import revise
from p2p.agents.builtin.sequence import criteria_of, plans_of, seconds_of
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import UnknownPhrase
from p2p.contracts.intent import Intent
from p2p.contracts.protocols import Attempt
from p2p.contracts.revision import Revision
from p2p.contracts.reward import RewardDraft
from p2p.rewards.templates.bodies import Body
from p2p.rewards.templates.body_table import body_of
from p2p.rewards.templates.plan import Plan
from p2p.rewards.templates.skill import Skill

MAX_STEPS = 600_000
"""Training steps of a sequence, whatever its steps add up to."""
TRAINED_S = 5.0
"""Longest training episode of a single skill [s]; policies trained on it go on for the judged time."""


class BuiltinAuthor:
    """Writes criteria, rewards and revisions from a grammar, templates and rules; the same input, the same output."""

    def elicit(self, prompt: str, env: EnvSpec) -> Intent:
        """The criteria `prompt` will be judged by.

        Raises:
            UnknownPhrase: a part of the sentence is not understood, or cannot be done in `env`.
        """
        skills, plans, _ = _understand(prompt, env)
        return Intent(
            prompt=prompt,
            env_id=env.env_id,
            criteria=criteria_of(skills, plans),
            episode_s=seconds_of(plans),
        )

    def write(self, intent: Intent, env: EnvSpec) -> RewardDraft:
        """A reward class for the sentence, and the training that goes with it.

        Raises:
            UnknownPhrase: the intent's sentence is not one of this author's.
        """
        skills, plans, body = _understand(intent.prompt, env)
        return RewardDraft(
            source=compose(intent.prompt, plans, body),
            config_changes=_recipe(plans),
            reasoning="; then ".join(
                f"{s.name.replace('_', ' ')}: {p.summary}" for s, p in zip(skills, plans, strict=True)
            ),
        )

    def revise(
        self, intent: Intent, env: EnvSpec, attempts: tuple[Attempt, ...], wishes: tuple[str, ...] = ()
    ) -> Revision:
        """At most two changes to the best attempt, each with the measurement that asks for it; wishes are not read."""
        del wishes  # what it understands is a sentence's grammar, fixed with the criteria
        return revise(intent, env, attempts)


def _understand(prompt: str, env: EnvSpec) -> tuple[tuple[Skill, ...], tuple[Plan, ...], Body]:
    body = body_of(env)
    skills = parse(prompt, body)
    try:
        return skills, plans_of(skills, body), body
    except UnknownPhrase as error:
        raise not_understood(str(error), body) from error


def _recipe(plans: tuple[Plan, ...]) -> dict[str, object]:
    """The steps' recipes together: their training steps add up, and the first to ask for start states gets them."""
    merged: dict[str, object] = {}
    for plan in reversed(plans):
        merged.update(plan.recipe)
    steps = [plan.recipe["total_timesteps"] for plan in plans]
    merged["total_timesteps"] = min(MAX_STEPS, sum(step for step in steps if isinstance(step, int)))
    merged["terminate_when_unhealthy"] = all(plan.recipe.get("terminate_when_unhealthy", False) for plan in plans)
    judged = seconds_of(plans)
    if len(plans) > 1:
        merged["episode_s"] = judged
    else:
        merged.setdefault("episode_s", min(judged, TRAINED_S))
    return merged

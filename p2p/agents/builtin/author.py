"""The three writing roles without a model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from p2p.agents.builtin.compose import compose
from p2p.agents.builtin.ground import on_ground, terrain_for
from p2p.agents.builtin.observing import observed, told_in_words
from p2p.agents.builtin.phrases import read
from p2p.agents.builtin.refusals import UnreadPart, not_understood
from p2p.agents.builtin.reviser import revise
from p2p.agents.builtin.sequence import criteria_of, plans_of, seconds_of
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import UnknownPhrase
from p2p.contracts.intent import Category, Criterion, Intent, PreviewTerm, Understanding
from p2p.contracts.protocols import Attempt
from p2p.contracts.reward import Revision, RewardDraft
from p2p.rewards.definitions import commanded
from p2p.rewards.templates.bodies import RobotFacts
from p2p.rewards.templates.body_table import body_of
from p2p.rewards.templates.gaits import FOUR_LEG_GAITS, gait_of
from p2p.rewards.templates.plan import Plan
from p2p.rewards.templates.qualities import KEYS as QUALITY_KEYS
from p2p.rewards.templates.qualities import with_all_qualities
from p2p.rewards.templates.quality import EITHER
from p2p.rewards.templates.skill import Direction, Skill
from p2p.rewards.templates.top_speeds import fastest
from p2p.rewards.templates.waving import assumed_of_waving

EYES_KEY = "also_asked"
"""Criterion of what is not understood of a sentence, where somebody looks."""
TRAINED_S = 5.0
"""Longest training episode of a single skill that needs no more [s]: what it learns goes on for the judged time."""


class BuiltinAuthor:
    """Writes criteria, rewards and revisions from a grammar, templates and rules; the same input, the same output."""

    def elicit(self, prompt: str, env: EnvSpec) -> Intent:
        """Criteria for `prompt`.

        Raises:
            UnknownPhrase: a part of the sentence is not understood, or cannot be done in `env`.
        """
        return _understand(prompt, env).intent(prompt)

    def understand(self, prompt: str, env: EnvSpec, *, partly: bool = False) -> Understanding:
        """Criteria for what is understood of `prompt`, the rest, and the assumptions.

        Args:
            prompt: The sentence.
            env: The robot.
            partly: Whether a part that is not understood is left to eyes, with a criterion for it.

        Raises:
            UnknownPhrase: a part is not understood and none is left to eyes; nothing is understood; the sentence
                contradicts itself, or cannot be done in `env`.
        """
        understood = _understand(prompt, env, partly=partly)
        terms = {term.name: term.description for plan in understood.plans for term in plan.terms}
        ground = terrain_for(understood.ground, env) if understood.ground is not None else None
        return Understanding(
            intent=understood.intent(prompt),
            left_over=tuple(part.problem for part in understood.rest),
            assumed=tuple(dict.fromkeys((*_assumed(understood.skills, understood.body), *on_ground(ground)))),
            terrain=ground,
            as_much_as_it_can=any(skill.params.fastest or skill.params.highest for skill in understood.skills),
            terms=tuple(PreviewTerm(name=name, description=text) for name, text in terms.items()),
        )

    def write(self, intent: Intent, env: EnvSpec) -> RewardDraft:
        """Write a reward class for the sentence, and its training configuration.

        Raises:
            UnknownPhrase: the intent's sentence is not one of this author's.
        """
        eyes = any(criterion.key == EYES_KEY for criterion in intent.criteria)
        if intent.commands is not None:
            env = commanded(env, intent.commands)
        understood = _understand(intent.prompt, env, partly=eyes)
        plans = understood.plans
        # Merge the steps' recipes: the first with start states sets them.
        recipe: dict[str, object] = {}
        for plan in reversed(plans):
            recipe.update(plan.recipe)
        if len(plans) > 1:
            budgets = [n for plan in plans if isinstance(n := plan.recipe["total_timesteps"], int)]
            recipe["total_timesteps"] = understood.body.budget_of_sequence(budgets)
        recipe["terminate_when_unhealthy"] = all(plan.recipe.get("terminate_when_unhealthy", False) for plan in plans)
        judged = seconds_of(plans)
        if len(plans) > 1:
            recipe["episode_s"] = judged
        else:
            recipe.setdefault("episode_s", min(judged, max(TRAINED_S, plans[0].seconds)))
        told = observed(plans, env)
        if told is not None:
            recipe["observe"] = told.model_dump(mode="json", exclude_defaults=True)
        return RewardDraft(
            source=compose(intent.prompt, plans, understood.body),
            config_changes=recipe,
            reasoning="; then ".join(
                f"{s.name.replace('_', ' ')}: {p.summary}" for s, p in zip(understood.skills, plans, strict=True)
            )
            + f". Trained in episodes of {recipe['episode_s']:g} s, judged in episodes of {intent.episode_s:g} s."
            + (f" {told_in_words(told)}" if told is not None else ""),
        )

    def revise(
        self, intent: Intent, env: EnvSpec, attempts: tuple[Attempt, ...], wishes: tuple[str, ...] = ()
    ) -> Revision:
        """Make at most two changes to the best attempt, each with the measurement behind it; wishes are ignored."""
        del wishes  # what it understands is a sentence's grammar, fixed with the criteria
        return revise(intent, env, attempts)


@dataclass(frozen=True, slots=True)
class _Understood:
    """A sentence and its interpretation."""

    skills: tuple[Skill, ...]
    plans: tuple[Plan, ...]
    rest: tuple[UnreadPart, ...]
    body: RobotFacts
    ground: str | None

    def intent(self, prompt: str) -> Intent:
        """Intent with its criteria."""
        criteria = criteria_of(self.skills, self.plans)
        last = next((c for c in reversed(criteria) if c.key.startswith(self.plans[-1].main.key)), None)
        if len(self.plans) > 1 and last is not None and last.after is not None:
            # In a sequence, qualities are those of the last step.
            after = {"after": last.after}
            criteria = tuple(c.model_copy(update=after) if c.key in QUALITY_KEYS else c for c in criteria)
        return Intent(
            prompt=prompt,
            env_id=self.body.env_id,
            criteria=(*criteria, *_eyes(self.rest)),
            episode_s=seconds_of(self.plans),
            commands=next((plan.commands for plan in self.plans if plan.commands is not None), None),
        )


def _understand(prompt: str, env: EnvSpec, *, partly: bool = False) -> _Understood:
    body = body_of(env)
    reading = read(prompt, body, partly=partly)
    try:
        plans = plans_of(reading.skills, body)
        done = with_all_qualities(plans, reading.skills, body)
        found = _Understood(reading.skills, done, reading.rest, body, reading.ground)
        criteria_of(found.skills, found.plans)
    except UnknownPhrase as error:
        raise not_understood(error, prompt, body) from error
    return found


def _eyes(rest: tuple[UnreadPart, ...]) -> tuple[Criterion, ...]:
    """Criterion for an unmeasured phrase."""
    if not rest:
        return ()
    said = ", ".join(repr(part.text) for part in rest)
    criterion = Criterion(
        key=EYES_KEY,
        title=f"Also: {said}"[:80],
        description=f"A person who said {said} would be content with that part of what the robot does.",
        category=Category.DYNAMICS,
        predicate=None,
    )
    return (criterion,)


def _assumed(skills: Sequence[Skill], body: RobotFacts) -> Iterator[str]:
    """Assumptions about unsaid details."""
    for skill in skills:
        side = _TAKEN.get(skill.name)
        if side is not None and skill.params.direction is None:
            yield f"No direction is given to {skill.name}: {side}."
        yield from assumed_of_waving(skill, body)
        if any(name.endswith(f":{EITHER}") for name in skill.params.qualities):
            yield "No side is given: it learns to the left, and either side counts."
        if skill.name == "reach" and body.thing is not None:
            yield f"What is reached is {body.thing.in_words}; its middle is aimed at."
        if skill.name == "follow" and body.commands is None and skill.params.speed_range is None:
            yield "No speed is given: commands go up to what a robot of this size walks at."
        if skill.name == "move" and not {skill.params.pace, skill.params.speed, skill.params.speed_range} - {None}:
            yield f"No speed is given: as fast as to {skill.params.gait or 'move'} is for this robot."
        gait = skill.params.gait or ""
        if gait in FOUR_LEG_GAITS and gait != "amble" and gait_of(body, gait) is None:
            yield (
                f"The order in which the feet come down is not judged on {body.noun}, which has no four legs: a {gait} "
                "is judged by its speed and by the use of every leg."
            )
        if skill.params.fastest and fastest(body, skill.params.direction or Direction.FORWARD, 0.0) == 0.0:
            yield (
                "This robot's top speed in that direction was not measured: 'as fast as possible' is judged as 'fast'."
            )


_TAKEN = {"move": "forward", "flip": "backward"}

"""The criteria of a new session: given, derived from its sentence, or corrected by the user in a form."""

from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from p2p.contracts.commands import Commands
from p2p.contracts.errors import UnknownPhrase
from p2p.contracts.intent import Category, Comparison, Criterion, Intent
from p2p.service.rewards.criteria import intent_of, understand
from p2p.service.workspace import Workspace

EYES = Criterion(
    key="does_what_was_asked",
    title="Does what was asked",
    description="A person who said this sentence would be content with what the robot does.",
    category=Category.DYNAMICS,
    predicate=None,
)
"""Judges a sentence that nothing measurable is known of."""
WORDS = {Comparison.AT_LEAST: "at least", Comparison.AT_MOST: "at most", Comparison.BETWEEN: "from"}


def derived(ws: Workspace, sentence: str, environment: str, commands: Commands | None = None) -> tuple[Intent, str]:
    """What a sentence is judged by, and what its caller should know of that.

    What the built-in author does not understand is judged by eyes, until its caller says what to measure; what it does
    understand is kept. What it understands and cannot judge, as a contradiction, is left to eyes as a whole, and told.
    """
    try:
        found = understand(ws, sentence, environment, commands)
    except UnknownPhrase as error:
        reason = str(error).splitlines()[0]
        note = (
            f"p2p measures nothing of this sentence ({reason}) It is judged by eyes alone, and training selects by "
            "return. Better: steer_session(criteria=[...]) with predicates over the features in reward_rules."
        )
        return intent_of(ws, sentence, environment, (EYES,), commands=commands), note
    if not found.left_over:
        return found.intent, ""
    note = (
        f"Understood in part. {' '.join(found.left_over)} The criterion also_asked leaves that to eyes. Better: "
        "steer_session(criteria=[...]) with predicates for that part alone, over the features in reward_rules, keyed "
        "also_asked to replace it; the other criteria stay."
    )
    return found.intent, note


def form(intent: Intent) -> type[BaseModel] | None:
    """The thresholds of the measured criteria, for the user to correct; None where there is nothing to correct.

    Forms of the protocol are flat: one number per criterion.
    """
    fields: dict[str, Any] = {}
    for criterion in intent.criteria:
        predicate = criterion.predicate
        if predicate is None:
            continue
        unit = "" if predicate.unit == "1" else f" [{predicate.unit}]"
        words = f"{WORDS[predicate.comparison]} this{unit}: {criterion.description}"
        number = Annotated[float, Field(title=criterion.title, description=words)]
        fields[criterion.key] = (number, predicate.threshold)
    return create_model("Thresholds", **fields) if fields else None


def question(intent: Intent) -> str:
    """What the user is asked."""
    lines = [f"- {criterion.title}{'' if criterion.required else ' (not required)'}" for criterion in intent.criteria]
    return "\n".join([f'"{intent.prompt}" will be judged by:', *lines, "Correct the thresholds, or leave them."])


def corrected(intent: Intent, thresholds: BaseModel) -> tuple[Criterion, ...]:
    """The criteria with the user's thresholds."""
    given = thresholds.model_dump()
    criteria = []
    for criterion in intent.criteria:
        predicate = criterion.predicate
        threshold = given.get(criterion.key)
        if predicate is not None and threshold is not None and threshold != predicate.threshold:
            upper = None if predicate.upper is None else max(predicate.upper, threshold)
            changed = predicate.model_copy(update={"threshold": threshold, "upper": upper})
            criteria.append(criterion.model_copy(update={"predicate": changed}))
        else:
            criteria.append(criterion)
    return tuple(criteria)

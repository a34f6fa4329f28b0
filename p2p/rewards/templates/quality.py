"""A quality of a skill, and criteria shared by qualities."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from p2p.contracts.errors import Refusal, UnknownPhrase
from p2p.contracts.intent import Bound, Category, Comparison, Criterion, Predicate, Statistic, Window
from p2p.rewards.templates.bodies import Band, RobotFacts
from p2p.rewards.templates.criteria import at_least, below, on_steps
from p2p.rewards.templates.plan import Plan, Stage, Term
from p2p.rewards.templates.skill import Skill

SETTLED = Window(after=(at_least("time", 0.5),))
"""From when a robot that is dropped at its start has come down."""
EITHER = "either"
"""Value of a quality that leaves the side open."""
MOST_OF_THE_TIME = 0.9
HARDLY_EVER = 0.02
"""Share of the steps that a thing not to be done may take up."""


@dataclass(frozen=True, slots=True)
class Use:
    """A quality in its context."""

    text: str
    """As a sentence may have it."""
    value: str
    skill: Skill
    plan: Plan
    body: RobotFacts
    stage: Stage

    def need(self, *features: str) -> None:
        """Refuse a robot without these features.

        Raises:
            UnknownPhrase: one is not measured.
        """
        missing = [name for name in features if name not in self.body.features]
        if missing:
            raise self.unmeasured(f"{self.body.noun} has no measurement of it ({', '.join(missing)})")

    def unmeasured(self, why: str) -> UnknownPhrase:
        """Error about a phrase without a measurement."""
        return UnknownPhrase(
            f"{self.text!r} cannot be measured on {self.body.env_id} yet: {why}.", Refusal.UNMEASURED, (self.text,)
        )

    def impossible(self, why: str) -> UnknownPhrase:
        """Error about a phrase that this robot cannot follow."""
        return UnknownPhrase(f"{self.text!r}: {why}.", Refusal.IMPOSSIBLE, (self.text,))

    def conflict(self, why: str) -> UnknownPhrase:
        """Error about a phrase that contradicts the rest."""
        return UnknownPhrase(f"{self.text!r} does not go with the rest: {why}.", Refusal.CONFLICT, (self.text,))


@dataclass(frozen=True, slots=True)
class Addition:
    """Changes of a plan by a quality."""

    criteria: tuple[Criterion, ...] = ()
    terms: tuple[Term, ...] = ()
    without: frozenset[str] = frozenset()
    """Keys of guards, and names of terms, that it replaces."""
    definitions: Mapping[str, str] = field(default_factory=dict)
    """Variables that its terms read besides the plan's -> their expressions."""
    main: Criterion | None = None
    """Replaces the main criterion."""
    fewest_steps: int = 0
    """Training steps that it takes."""
    recipe: Mapping[str, object] = field(default_factory=dict)
    """Other fields of the training configuration that it sets."""
    summary: str = ""
    """Added to the plan's summary."""


@dataclass(frozen=True, slots=True)
class Quality:
    """Meaning of one quality phrase."""

    text: str
    build: Callable[[Use], Addition]
    skills: frozenset[str] = frozenset()
    """Skills it goes with; empty goes with all."""
    gaits_not: frozenset[str] = field(default_factory=frozenset)
    """Gaits it contradicts."""
    alone: bool = False
    """Whether it reads the place or heading since the start, which steps before it would change."""

    def phrase(self, value: str) -> str:
        """Its words in a sentence: "to the left"; "to either side", or "with one arm", where the side is left open."""
        side = {EITHER: "either side", "one": "one"}.get(value, "the %")
        return self.text.replace("the %", side).replace("%", value)


def criterion_of(key: str, title: str, description: str, category: Category, predicate: Predicate) -> Criterion:
    """Criterion with a fitting title."""
    return Criterion(key=key, title=title[:80], description=description, category=category, predicate=predicate)


def never(key: str, title: str, where: tuple[Bound, ...], *, share: float = HARDLY_EVER) -> Criterion:
    """Require that something holds in next to no steps."""
    return criterion_of(
        key,
        title,
        f"{in_words(where)} in at most {share:.0%} of the steps after the first half second.",
        Category.DYNAMICS,
        on_steps(Statistic.FRACTION, where, below(share), margin=0.2, window=SETTLED),
    )


def mostly(key: str, title: str, where: tuple[Bound, ...], share: float = MOST_OF_THE_TIME) -> Criterion:
    """Require that something holds in most steps."""
    return criterion_of(
        key,
        title,
        f"{in_words(where)} in {share:.0%} of the steps or more after the first half second.",
        Category.POSTURE,
        on_steps(Statistic.FRACTION, where, Band(share), margin=0.4, window=SETTLED),
    )


def in_words(where: Sequence[Bound]) -> str:
    """Bounds in words."""
    found = []
    for bound in where:
        words = {
            Comparison.AT_LEAST: f"at least {bound.threshold:g}",
            Comparison.AT_MOST: f"at most {bound.threshold:g}",
            Comparison.BETWEEN: f"from {bound.threshold:g} to {bound.upper if bound.upper is not None else 0:g}",
        }[bound.comparison]
        found.append(f"{bound.feature}{', either way,' if bound.absolute else ''} is {words}")
    return " and ".join(found)

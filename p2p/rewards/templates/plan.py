"""Result of a template: terms of a reward, criteria, and the training recipe."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from p2p.contracts.commands import Commands
from p2p.contracts.errors import Refusal, UnknownPhrase
from p2p.contracts.intent import Bound, Criterion
from p2p.contracts.observe import Counter, Milestone
from p2p.rewards.templates.bodies import RobotFacts
from p2p.rewards.templates.skill import Manner, Params

LONGEST_S = 20.0
"""Longest episode that is judged [s]."""
SOON = Milestone(feature="time", amount=1.5)
"""End of a step that says nothing of its own."""


@dataclass(frozen=True, slots=True)
class Term:
    """One summand of a reward: `sign * weights[name] * expression`."""

    name: str
    weight: float
    """Positive."""
    expression: str
    """Python over `info[...]` and the plan's definitions; `{margin}` stands for the term's margin."""
    latex: str
    description: str
    sign: int = 1
    margin: float | None = None
    """Of the tolerance in the expression or its definitions, in the unit of what that reads; None without one."""


@dataclass(frozen=True, slots=True)
class Hold:
    """How long bounds have been met without a break, as a share of `seconds`."""

    where: tuple[Bound, ...]
    """All of them; as in the criterion that judges it."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Stage:
    """Position of a skill in a sequence."""

    first: bool = True
    last: bool = True
    done: Mapping[str, float] = field(default_factory=dict)
    """Feature -> how much the steps before asked it to change."""
    either: frozenset[str] = frozenset()
    """Those of them that may have changed the other way as well."""
    then: tuple[str, ...] = ()
    """Skills of the steps after it."""

    @property
    def alone(self) -> bool:
        """True for the only step of a sentence."""
        return self.first and self.last

    def goal(self, feature: str, amount: float) -> float:
        """Value of `feature` after a change of `amount` in this step, counted from the episode's start."""
        return round(self.done.get(feature, 0.0) + amount, 3)


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan of one skill, ready to be composed."""

    label: str
    """Of the class, such as "RunForward"."""
    summary: str
    """What is rewarded, as a sentence without its full stop."""
    terms: tuple[Term, ...]
    main: Criterion
    """Decides whether the step was done; later steps are measured after it."""
    guards: tuple[Criterion, ...] = ()
    """What catches the ways to meet `main` without doing what was asked."""
    definitions: Mapping[str, str] = field(default_factory=dict)
    """Variables the expressions read -> their expressions."""
    recipe: Mapping[str, object] = field(default_factory=dict)
    """Fields of the training configuration."""
    counter: Counter | None = None
    """What the terms may read as `counted`, the number since the episode's start."""
    full: Counter | None = None
    """What the terms may read as `full`: those of the counted that are all that is asked for."""
    hold: Hold | None = None
    """What the terms may read as `held`, in [0, 1]."""
    tells: tuple[str, ...] = ()
    """Features that the policy is told as far as the robot has them, also where only a simulator knows them."""
    clock_s: float | None = None
    """Period of a clock that the policy must be told, as the terms go by it [s]."""
    commands: Commands | None = None
    """What the robot is told to follow; None for nothing."""
    milestones: tuple[Milestone, ...] = (SOON,)
    """Ends of its phases, one after another; the last one ends the step."""
    seconds: float = 2.0
    """Time the step needs in a sequence [s]."""
    judged_s: float = 5.0
    """Length of the judged episode when the step is alone [s]."""


def milestones_of(plans: Sequence[Plan]) -> tuple[Milestone, ...]:
    """Ends of all phases of a sequence but those of its last step, which does not end."""
    return tuple(milestone for plan in plans[:-1] for milestone in plan.milestones)


class Template(ABC):
    """Everything about one skill."""

    name: str
    reads: frozenset[str] = frozenset({"duration_s"})
    """Fields of `Params` it understands."""
    manners: frozenset[Manner] = frozenset()
    """What it understands besides "smoothly" and "with little effort", which go with everything."""

    @abstractmethod
    def examples(self, body: RobotFacts) -> tuple[str, ...]:
        """Sentences it understands for this robot."""

    @abstractmethod
    def plan(self, params: Params, body: RobotFacts, stage: Stage) -> Plan:
        """Terms, criteria and recipe.

        Raises:
            UnknownPhrase: what is said about the skill does not go with it or with this robot.
        """

    def refusal(self, body: RobotFacts) -> str | None:
        """Reason why this robot cannot do it; None if it can."""
        if self.name in body.skills:
            return None
        return body.refusals.get(self.name) or self.missing(body)

    def check(self, params: Params) -> None:
        """Refuse details that would be ignored.

        Raises:
            UnknownPhrase: naming what does not go with the skill.
        """
        skill = self.name.replace("_", " ")
        values = [(entry.name, getattr(params, entry.name)) for entry in fields(params)]
        values.sort(key=lambda entry: entry[1] is not True)  # "as fast as possible" sets a pace too, which nobody said
        for name, value in values:
            if value not in (None, False) and name not in (*self.reads, "manners", "qualities"):
                said = _SAID[name] if value is True else f"{_SAID[name]} ({value})"
                raise UnknownPhrase(f"{said} does not go with {skill!r}.", Refusal.CONFLICT, (str(value),))
        for manner in sorted(params.manners - self.manners - _ANYWAY):
            raise UnknownPhrase(f"{manner.value!r} does not go with {skill!r}.", Refusal.CONFLICT, (manner.value,))

    def missing(self, body: RobotFacts) -> str:
        """Capability that the robot lacks for the skill."""
        return f"{body.noun} lacks what it takes"


_ANYWAY = frozenset({Manner.SMOOTH, Manner.SAVING})
_SAID = {
    "direction": "A direction",
    "gait": "A gait",
    "pace": "A pace",
    "speed": "A speed",
    "turns": "A number of turns",
    "times": "A number of times",
    "repeatedly": "Repeating",
    "highest": "A height",
    "level": "A height",
    "height": "A height",
    "height_range": "A height",
    "speed_range": "A speed",
    "fastest": "As fast, or as far, as possible",
    "duration_s": "A duration",
}

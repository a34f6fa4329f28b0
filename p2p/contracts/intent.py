"""Intent: a sentence, its criteria, their wording, and how they may be made stricter."""

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from p2p.contracts.base import Contract
from p2p.contracts.commands import Commands
from p2p.contracts.numbers import interval_in_words as interval_in_words
from p2p.contracts.numbers import number as number
from p2p.contracts.numbers import score_in_words as score_in_words
from p2p.contracts.numbers import share_in_words as share_in_words
from p2p.contracts.terrain import Terrain

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic_core import CoreSchema

MOST_CRITERIA = 20
"""A sentence of three steps with the guards of all needs up to 20."""
Key = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]


class Comparison(StrEnum):
    """How a measured value is held against a threshold."""

    AT_LEAST = "at_least"
    AT_MOST = "at_most"
    BETWEEN = "between"


class Statistic(StrEnum):
    """One number from one rollout.

    Those of values read `feature` over the window, or only at the steps that `at` and `where` name; those of
    steps (`CONDITIONAL`) read the steps at which every bound of `where` holds.
    """

    MEAN = "mean"
    MIN = "min"
    MAX = "max"
    START = "start"
    """First value of the window."""
    FINAL = "final"
    """Last value of the window."""
    CHANGE = "change"
    """Last value minus first value of the window."""
    RANGE = "range"
    """Largest value minus smallest value."""
    STD = "std"
    """Standard deviation, divided by the number of values."""
    PERCENTILE = "percentile"
    """The value that `percent` of the values do not exceed; linear between neighbours."""
    STEADINESS = "steadiness"
    """Smallest mean among the window's last five sixths, divided by the window's mean: 1 for a constant value, 0 where
    the mean of one sixth is 0, negative where it has the other sign. The first sixth is left out, for starting. 0
    where the window's mean is 0."""
    RATE = "rate"
    """Change per second from the first to the last value; 0 for a single value."""
    COUNT_EVENTS = "count_events"
    """How often `where` becomes true (rising edges; true at the first step counts)."""
    COUNT_STEPS = "count_steps"
    """Number of steps at which `where` holds."""
    EVENT_RATE = "event_rate"
    """Events per second of the window [1/s]."""
    FRACTION = "fraction"
    """Share of the window's steps at which `where` holds, in [0, 1]."""
    LONGEST_HOLD = "longest_hold"
    """Longest uninterrupted time for which `where` holds [s]."""

    @classmethod
    def _missing_(cls, value: object) -> "Statistic | None":
        return cls.COUNT_EVENTS if value == "count" else None  # its name in files of earlier versions


CONDITIONAL = frozenset(
    {
        Statistic.COUNT_EVENTS,
        Statistic.COUNT_STEPS,
        Statistic.EVENT_RATE,
        Statistic.FRACTION,
        Statistic.LONGEST_HOLD,
    }
)
"""Statistics of steps; all others are of values."""


class Sampling(StrEnum):
    """The steps at which a statistic of values reads its feature."""

    WHILE = "while"
    """Every step at which `where` holds."""
    ONSET = "onset"
    """The first step of each phase of `where`; a phase that began before the window has none."""
    END = "end"
    """The last step of each phase of `where`; a phase that goes on at the window's end has none."""


class Combination(StrEnum):
    """One number from a first and a second measured value."""

    DIFFERENCE = "difference"
    """First minus second."""
    RATIO = "ratio"
    """First divided by second [1]; not measured where the second is 0."""
    ASYMMETRY = "asymmetry"
    """|first - second| / max(|first|, |second|) [1]: 0 where both are equal, 1 where one is 0, 2 for opposite signs."""


class Bound(Contract):
    """A feature against a threshold, at one step."""

    feature: str
    comparison: Comparison
    threshold: float
    """In the feature's unit."""
    upper: float | None = None
    """Upper end for `between`; None for the other comparisons."""
    absolute: bool = False
    """Compare the magnitude."""

    @model_validator(mode="after")
    def _upper_only_for_between(self) -> Self:
        _check_upper(self.comparison, self.threshold, self.upper)
        return self


_BOUND = re.compile(
    r"\s*(?:abs\((?P<absolute>[^<>=]+)\)|(?P<feature>[^<>=]+?))\s*(?P<sign>>=|<=)\s*(?P<threshold>\S+)\s*"
)


def bounds_of(values: Any) -> tuple[Any, ...]:
    """Bounds as plain values, one or several, with those that are written as a comparison read: "abs(pitch) >= 1".

    Raises:
        ValueError: a text is no comparison.
    """
    listed = (values,) if isinstance(values, str | dict) else values
    return tuple(_bound_of(one) if isinstance(one, str) else one for one in listed)


def _bound_of(text: str) -> dict[str, Any]:
    found = _BOUND.fullmatch(text)
    if found is None:
        raise ValueError(f'{text!r} is no comparison; expected a feature, >= or <=, and a number: "height <= 0.4"')
    return {
        "feature": found["absolute"] or found["feature"],
        "comparison": "at_least" if found["sign"] == ">=" else "at_most",
        "threshold": found["threshold"],
        "absolute": found["absolute"] is not None,
    }


Bounds = Annotated[tuple[Bound, ...], BeforeValidator(bounds_of)]
"""All of them hold; each may be written as a comparison."""


class Window(Contract):
    """The part of a rollout a predicate reads. The default is all of it."""

    after: tuple[Bound, ...] = ()
    """Starts at the first step at which all of these hold; a rollout without such a step is not measured."""
    within_s: float | None = Field(default=None, gt=0)
    """Length after that start [s]; None reads to the end."""
    last_share: float = Field(default=1.0, gt=0, le=1)
    """Reads only this last share of what is left."""


class Measure(Contract):
    """A statistic over a part of a rollout."""

    statistic: Statistic
    feature: str | None = None
    """Name from the environment's feature list; None for statistics of steps."""
    where: tuple[Bound, ...] = ()
    """What must hold at a step; for statistics of steps, and with `at`."""
    at: Sampling | None = None
    """Reads `feature` only at these steps of `where`; None: at every step of the window."""
    least_s: float | None = Field(default=None, gt=0)
    """Phases of `where` that last less do not count [s]."""
    absolute: bool = False
    """Reads the feature's magnitude."""
    percent: float | None = Field(default=None, ge=0, le=100)
    """For `percentile`."""
    window: Window = Window()

    @model_validator(mode="after")
    def _reads_what_its_statistic_needs(self) -> Self:
        conditional = self.statistic in CONDITIONAL
        if conditional and (self.feature is not None or not self.where or self.at is not None):
            raise ValueError(f"{self.statistic} reads `where`, not `feature`")
        if not conditional and self.at is None and (self.feature is None or self.where):
            raise ValueError(f"{self.statistic} reads `feature`, not `where`; with `at`, `feature` at steps of `where`")
        if conditional and self.absolute:
            raise ValueError(f"{self.statistic} reads `where`: put `absolute` on its bounds")
        if self.at is not None and (self.feature is None or not self.where):
            raise ValueError("`at` needs a `feature` and the `where` at whose steps it is read")
        if (self.statistic is Statistic.PERCENTILE) != (self.percent is not None):
            raise ValueError("`percent` belongs to `percentile`, and only to it")
        if self.least_s is not None and not self.where:
            raise ValueError("`least_s` is the least duration of a phase of `where`, and there is no `where`")
        return self

    def names(self) -> tuple[str, ...]:
        """Features and expressions to read."""
        own = () if self.feature is None else (self.feature,)
        return (*own, *(bound.feature for bound in (*self.where, *self.window.after)))


class Comparand(Measure):
    """A second measured value; its fields mean what they mean in the predicate."""

    combination: Combination

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: "CoreSchema", handler: "GetJsonSchemaHandler") -> dict[str, Any]:
        """The schema without what `Predicate` says of the same fields."""
        schema = super().__get_pydantic_json_schema__(core_schema, handler)
        for field in handler.resolve_ref_schema(schema)["properties"].values():
            field.pop("description", None)
        return schema


class Predicate(Measure):
    """A measurable claim about one rollout: a statistic of a feature against a threshold."""

    versus: Comparand | None = None
    """Second value to compare with: left with right, end with start."""
    comparison: Comparison
    threshold: float
    """In `unit`."""
    upper: float | None = None
    """Upper end for `between`; None for the other comparisons."""
    unit: str
    """Unit of the measured value: "m/s", "turns", "s", "1" …"""
    margin: float = Field(gt=0)
    """Distance from the threshold at which the partial credit reaches 0, in `unit`."""

    @model_validator(mode="after")
    def _upper_only_for_between(self) -> Self:
        _check_upper(self.comparison, self.threshold, self.upper)
        return self

    def names(self) -> tuple[str, ...]:
        """Features and expressions to read."""
        return (*super().names(), *(self.versus.names() if self.versus is not None else ()))


class Category(StrEnum):
    """What a criterion is about."""

    GAIT = "gait"
    POSTURE = "posture"
    DYNAMICS = "dynamics"
    STABILITY = "stability"
    EFFICIENCY = "efficiency"


class Criterion(Contract):
    """One thing that must be true of the behaviour."""

    key: Key
    title: str = Field(max_length=80)
    description: str
    category: Category
    predicate: Predicate | None
    """None marks a criterion that only eyes can judge."""
    weight: float = Field(default=1.0, gt=0)
    """Share in the score, relative to the others'."""
    required: bool = True
    """A required criterion must be met for a rollout to succeed."""
    after: Key | None = None
    """Key of an earlier criterion: this one is measured from the step at which that one was first met."""


class Intent(Contract):
    """A sentence, made checkable."""

    prompt: str
    env_id: str
    criteria: tuple[Criterion, ...] = Field(min_length=1, max_length=MOST_CRITERIA)
    episode_s: float = Field(default=5.0, gt=0)
    """Length of the judged episodes [s]."""
    commands: Commands | None = Field(default=None, exclude_if=lambda commands: commands is None)
    """Drawn in the judged episodes, whatever a training draws; None takes the training's."""

    @model_validator(mode="after")
    def _sequence_refers_backwards(self) -> Self:
        seen: set[str] = set()
        for criterion in self.criteria:
            if criterion.after is not None and criterion.after not in seen:
                raise ValueError(
                    f"{criterion.key!r} comes after {criterion.after!r}, which is not an earlier criterion"
                )
            if criterion.key in seen:
                raise ValueError(f"two criteria are called {criterion.key!r}")
            seen.add(criterion.key)
        return self


def _check_upper(comparison: Comparison, threshold: float, upper: float | None) -> None:
    if (comparison is Comparison.BETWEEN) != (upper is not None):
        raise ValueError("`upper` belongs to `between`, and only to it")
    if upper is not None and upper < threshold:
        raise ValueError(f"`upper` {upper} is below `threshold` {threshold}")


def needed(comparison: Comparison, threshold: float, upper: float | None, unit: str) -> str:
    """Required value of a criterion: "≥ 2 m/s"."""
    if comparison is Comparison.BETWEEN:
        return f"{number(threshold)} … {number(upper, unit)}"
    sign = "≥" if comparison is Comparison.AT_LEAST else "≤"
    return f"{sign} {number(threshold, unit)}"


class PreviewTerm(Contract):
    """One summand of the reward."""

    name: str
    description: str


class Understanding(Contract):
    """A sentence as an author read it."""

    intent: Intent
    left_over: tuple[str, ...] = ()
    """What is not understood, or not measured, and left to eyes; a sentence for each."""
    assumed: tuple[str, ...] = ()
    """What the sentence does not say and is taken for granted; a sentence for each."""
    terms: tuple[PreviewTerm, ...] = ()
    terrain: Terrain | None = None
    """Ground that it asks for; None for the floor of the robot's model."""
    as_much_as_it_can: bool = Field(default=False, exclude_if=lambda much: not much)
    """Whether it asks for as much of something as possible: what passes could still be better."""


class Preview(Contract):
    """What would be judged, rewarded and trained, and what it would take."""

    prompt: str
    env_id: str
    author: str
    """Who would write criteria and rewards: "builtin", or `provider:model`."""
    intent: Intent | None
    """None where a language model would say what it is judged by."""
    left_over: tuple[str, ...] = ()
    """What is not understood, or not measured, and would be left to eyes; a sentence for each."""
    assumed: tuple[str, ...] = ()
    """What the sentence does not say and is taken for granted; a sentence for each."""
    not_judged: tuple[str, ...] = ()
    """What this robot measures and no criterion reads, in words."""
    terms: tuple[PreviewTerm, ...] = ()
    reward: str = ""
    """Source of the first reward; empty where a language model would write it."""
    config: dict[str, object] = {}
    """Every field of the training configuration."""
    n_runs: int = 0
    """Trainings of an iteration."""
    total_timesteps: int = 0
    """Steps of each training."""
    max_iterations: int = 1
    training_episode_s: float = 0.0
    """Longest episode while it trains [s]."""
    expected_s: float | None = None
    """Expected time of the trainings of one iteration [s]; None where no speed is known of this environment."""
    expected_from: str = ""
    """Where the speed behind it was measured."""
    cost: str = ""
    """What it costs besides this machine's time, in words."""


class Tightening(Contract):
    """One change of a session's criteria; they only ever get stricter."""

    after_iteration: int
    """The iteration that eyes refused; later ones are trained and judged by the new criteria."""
    by: str = Field(min_length=1, max_length=100)
    """Who made them stricter."""
    why: str = Field(min_length=1, max_length=500)
    """What met the criteria without being what was meant."""
    before: Intent
    after: Intent
    at: str
    """UTC, ISO 8601."""

"""What the phrases of one step say together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from p2p.agents.builtin.tokens import Quantity
from p2p.agents.builtin.vocabulary import Kind, Mark
from p2p.contracts.errors import UnknownPhrase
from p2p.rewards.templates.bodies import Body
from p2p.rewards.templates.skill import Direction, Level, Manner, Pace, Params, Skill

LONGEST_S = 20.0
"""Longest duration that is judged [s]."""
_HEIGHT_WORDS = frozenset({"at", "height", "at a height of", "a height of"})


@dataclass(frozen=True, slots=True)
class Said:
    """A phrase and what it says."""

    text: str
    mark: Mark | Quantity


@dataclass
class Draft:
    """A step while it is read."""

    skills: dict[str, str] = field(default_factory=dict)
    """Skill -> the phrase that named it."""
    gait: str | None = None
    direction: Direction | None = None
    pace: Pace | None = None
    level: Level | None = None
    speed: float | None = None
    turns: float | None = None
    times: int | None = None
    length: float | None = None
    duration: float | None = None
    repeatedly: bool = False
    highest: bool = False
    must_say_turns: bool = False
    is_height: bool = False
    """The length follows "at" or "height"."""
    manners: set[Manner] = field(default_factory=set)

    def put(self, name: str, value: object, text: str) -> None:
        """Set a field once.

        Raises:
            UnknownPhrase: it was set to something else before.
        """
        before = getattr(self, name)
        if before is not None and before != value:
            raise UnknownPhrase(f"{text!r} contradicts what is said before it ({name} {before}).")
        setattr(self, name, value)


def skill_of(said: Sequence[Said], body: Body) -> Skill:
    """The skill one step asks for.

    Args:
        said: The understood phrases of the step, in order.
        body: The robot; some words mean different things for different robots.

    Raises:
        UnknownPhrase: the phrases contradict one another, or say how but not what.
    """
    draft = Draft()
    before = ""
    for phrase in said:
        if isinstance(phrase.mark, Quantity):
            _read_quantity(draft, phrase.mark, before)
        else:
            _READERS[phrase.mark.kind](draft, phrase.mark, phrase.text)
        before = phrase.text
    name = _name(draft, body)
    return Skill(name, _params(draft, name))


def _read_gait(draft: Draft, mark: Mark, text: str) -> None:
    if draft.gait not in (None, "move") and mark.value != "move" and draft.gait != mark.value:
        raise UnknownPhrase(f"{text!r} contradicts what is said before it (gait {draft.gait}).")
    if draft.gait in (None, "move"):
        draft.gait = str(mark.value)
    draft.skills["move"] = text


def _read_skill(draft: Draft, mark: Mark, text: str) -> None:
    draft.skills[str(mark.value)] = text
    if mark.direction is not None:
        draft.put("direction", mark.direction, text)


def _read_turns(draft: Draft, mark: Mark, text: str) -> None:
    draft.put("turns", mark.value, text)
    if "flip" not in draft.skills:
        draft.skills["spin"] = text


def _read_turn(draft: Draft, _mark: Mark, text: str) -> None:
    draft.skills["spin"] = text
    draft.must_say_turns = True


def _read_repeatedly(draft: Draft, mark: Mark, text: str) -> None:
    draft.repeatedly = True
    if mark.value is not None:
        draft.skills[str(mark.value)] = text


def _read_highest(draft: Draft, _mark: Mark, _text: str) -> None:
    draft.highest = True


def _read_manner(draft: Draft, mark: Mark, _text: str) -> None:
    draft.manners.add(Manner(str(mark.value)))


def _putter(name: str) -> Callable[[Draft, Mark, str], None]:
    return lambda draft, mark, text: draft.put(name, mark.value, text)


_READERS: dict[Kind, Callable[[Draft, Mark, str], None]] = {
    Kind.GAIT: _read_gait,
    Kind.SKILL: _read_skill,
    Kind.DIRECTION: _putter("direction"),
    Kind.PACE: _putter("pace"),
    Kind.LEVEL: _putter("level"),
    Kind.TIMES: _putter("times"),
    Kind.TURNS: _read_turns,
    Kind.TURN: _read_turn,
    Kind.REPEATEDLY: _read_repeatedly,
    Kind.HIGHEST: _read_highest,
    Kind.MANNER: _read_manner,
    Kind.FILLER: lambda _draft, _mark, _text: None,
}


def _read_quantity(draft: Draft, quantity: Quantity, before: str) -> None:
    if quantity.value <= 0:
        raise UnknownPhrase(f"{quantity.text!r} is not more than nothing.")
    if quantity.kind in ("number", "times"):
        if quantity.value != round(quantity.value):
            raise UnknownPhrase(f"{quantity.text!r} has no unit and is not a whole number of times.")
        draft.put("times", int(quantity.value), quantity.text)
        return
    if quantity.kind == "time" and quantity.value > LONGEST_S:
        raise UnknownPhrase(f"{quantity.text!r} is longer than the {LONGEST_S:g} s that can be judged.")
    name = {"time": "duration"}.get(quantity.kind, quantity.kind)
    draft.put(name, round(quantity.value, 4), quantity.text)
    draft.is_height |= quantity.kind == "length" and before in _HEIGHT_WORDS


def _name(draft: Draft, body: Body) -> str:
    """The one skill of a step, with the others folded into it where they only say how."""
    skills = dict(draft.skills)
    if "upright" in skills:
        text = skills.pop("upright")
        draft.manners.add(Manner.UPRIGHT)
        skills.setdefault("balance" if "pole_angle" in body.features else "posture", text)
    if Manner.UPRIGHT in draft.manners or Manner.NO_FALL in draft.manners or draft.level or draft.highest:
        skills.setdefault("posture", "")
    if len(skills) > 1:
        skills.pop("posture", None)
    if not skills and (draft.direction is not None or draft.speed is not None):
        skills["move"] = ""
    if len(skills) > 1:
        both = " and ".join(repr(text) for text in skills.values())
        raise UnknownPhrase(f"{both} cannot be done at the same time; say which comes first with 'then'.")
    if not skills:
        raise UnknownPhrase("The sentence says how, but not what.")
    return _resolve(next(iter(skills)), draft, body)


def _resolve(name: str, draft: Draft, body: Body) -> str:
    """Words that depend on the robot and on one another."""
    if name == "reach" and "push" in body.skills:
        return "push"
    if name == "move" and draft.gait == "hop" and not _travels(draft) and "jump" in body.skills:
        draft.repeatedly = draft.times is None
        return "jump"
    if name == "jump" and draft.direction in (Direction.FORWARD, Direction.BACKWARD) and not draft.highest:
        draft.gait = "hop"
        return "move"
    if name == "still" and (draft.level is not None or draft.highest or draft.length is not None):
        return "posture"
    if name == "spin" and draft.must_say_turns and draft.turns is None and draft.times is None:
        raise UnknownPhrase("'turn' needs an angle, such as 'turn left 90 degrees' or 'turn around'.")
    if name == "posture":
        _check_posture(draft, body)
    return name


def _travels(draft: Draft) -> bool:
    said = (draft.direction, draft.pace, draft.speed)
    return any(value is not None for value in said) and Manner.IN_PLACE not in draft.manners


def _check_posture(draft: Draft, body: Body) -> None:
    words = draft.level or draft.highest or draft.length is not None
    if not words and not draft.manners & {Manner.UPRIGHT, Manner.NO_FALL}:
        raise UnknownPhrase("The sentence does not say what is to be held: 'low', 'high', 'at 0.5 m', 'upright'.")
    if draft.pace is not None or draft.repeatedly:
        raise UnknownPhrase("Holding a posture has no pace and is not repeated.")
    del body


def _params(draft: Draft, name: str) -> Params:
    if name not in ("move", "spin") and draft.pace is not None and not (name == "flip" and draft.pace is Pace.FAST):
        raise UnknownPhrase(f"A pace ({draft.pace}) does not go with {name.replace('_', ' ')}.")
    if draft.length is not None and name not in ("jump", "posture") and not draft.is_height:
        raise UnknownPhrase("A distance is not understood; say how fast, or for how many seconds.")
    level = draft.level
    highest = draft.highest
    if name == "jump":
        highest = (highest or level is Level.HIGH) and draft.length is None
        level = None
    elif highest:
        level, highest = Level.HIGH, False
    times = draft.times
    if name in ("flip", "spin") and times is None and draft.turns is None and draft.repeatedly:
        times = 2
    return Params(
        direction=draft.direction,
        gait=draft.gait,
        pace=draft.pace,
        speed=draft.speed,
        turns=draft.turns,
        times=times,
        repeatedly=draft.repeatedly,
        highest=highest,
        level=level,
        height=draft.length,
        duration_s=draft.duration,
        manners=frozenset(draft.manners),
    )

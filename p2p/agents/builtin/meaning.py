"""Meaning of one step's phrases together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from p2p.agents.builtin.tokens import Limit, NumberWithUnit
from p2p.agents.builtin.vocabulary import SILENT, Kind, Mark
from p2p.contracts.errors import Refusal, UnknownPhrase
from p2p.rewards.templates.bodies import RobotFacts
from p2p.rewards.templates.plan import LONGEST_S
from p2p.rewards.templates.quality import EITHER
from p2p.rewards.templates.skill import Direction, HeightLevel, Manner, Pace, Params, Skill

_HEADS_HELD = frozenset({"head:up", "head:down", "head:still"})
_WAVES = frozenset({"wave:left", "wave:right", "wave:one"})
_IMPLIED: Mapping[str, frozenset[str]] = {
    "posture": _HEADS_HELD | _WAVES,
    "still": frozenset({"on_toes", "one_leg", "leg:left", "leg:right"}),
}
"""Skill that is meant where nothing else is said -> qualities that mean it."""
_PLACE = frozenset({"place", "where", "put", "spot"})
"""Words of standing still that speak of where: beside a jump or a turn they say in place, and "stay still" does not."""
_HEIGHT_WORDS = frozenset({"at", "height", "at a height of", "a height of"})


@dataclass(frozen=True, slots=True)
class Said:
    """A phrase and its meaning."""

    text: str
    mark: Mark | NumberWithUnit


@dataclass
class Draft:
    """A partly read step."""

    skills: dict[str, str] = field(default_factory=dict)
    """Skill -> the phrase that named it."""
    gait: str | None = None
    directions: dict[Direction, str] = field(default_factory=dict)
    """Direction -> the phrase that named it."""
    pace: Pace | None = None
    fastest: bool = False
    very: bool = False
    level: HeightLevel | None = None
    speed: NumberWithUnit | None = None
    turns: NumberWithUnit | None = None
    times: NumberWithUnit | None = None
    length: NumberWithUnit | None = None
    duration: NumberWithUnit | None = None
    repeatedly: bool = False
    plural: bool = False
    """Of flips: "backflips" without a number is one or more."""
    highest: bool = False
    must_say_turns: bool = False
    is_height: bool = False
    """The length follows "at" or "height"."""
    circle: str = ""
    diagonal: str = ""
    """The phrase that said so; empty where none did."""
    manners: set[Manner] = field(default_factory=set)
    qualities: dict[str, str] = field(default_factory=dict)
    """Quality -> the phrase that named it."""
    context: dict[str, str] = field(default_factory=dict)
    """What only means something beside what it belongs to -> the phrase."""

    def put(self, name: str, value: object, text: str) -> None:
        """Set a field once.

        Raises:
            UnknownPhrase: it was set to something else before.
        """
        before = getattr(self, name)
        if before is not None and before != value:
            words = before.text if isinstance(before, NumberWithUnit) else before
            raise UnknownPhrase(
                f"{text!r} contradicts what is said before it ({name} {words}).", Refusal.CONFLICT, (text,)
            )
        setattr(self, name, value)

    @property
    def direction(self) -> Direction | None:
        """The only direction named; None if none was."""
        return next(iter(self.directions), None)


def skill_of(said: Sequence[Said], body: RobotFacts) -> Skill:
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
        if isinstance(phrase.mark, NumberWithUnit):
            _read_quantity(draft, phrase.mark, before)
        else:
            _READERS[phrase.mark.kind](draft, phrase.mark, phrase.text)
            for also in phrase.mark.also:
                if also in _SWITCHES:
                    setattr(draft, also, True)
                elif also == "smooth":
                    draft.manners.add(Manner.SMOOTH)
                else:
                    draft.qualities.setdefault(also, phrase.text)
        before = phrase.text
    _settle_course(draft, body)
    name = _name(draft, body)
    _check_context(draft, name)
    return Skill(name, _params(draft, name, body))


def _read_gait(draft: Draft, mark: Mark, text: str) -> None:
    if draft.gait not in (None, "move") and mark.value != "move" and draft.gait != mark.value:
        raise UnknownPhrase(
            f"{text!r} contradicts what is said before it (gait {draft.gait}).", Refusal.CONFLICT, (text,)
        )
    if draft.gait in (None, "move"):
        draft.gait = str(mark.value)
    draft.skills["move"] = text
    _read_direction(draft, mark, text)


def _read_skill(draft: Draft, mark: Mark, text: str) -> None:
    draft.skills[str(mark.value)] = text
    draft.plural |= mark.value == "flip" and text.endswith("s")
    _read_direction(draft, mark, text)


def _read_direction(draft: Draft, mark: Mark, text: str) -> None:
    direction = mark.value if mark.kind is Kind.DIRECTION else mark.direction
    if isinstance(direction, Direction):
        draft.directions.setdefault(direction, text)


_SWITCHES = ("fastest", "very")


def _read_turns(draft: Draft, mark: Mark, text: str) -> None:
    draft.put("turns", NumberWithUnit("turns", float(str(mark.value)), text), text)
    if "flip" not in draft.skills:
        draft.skills["spin"] = text


def _read_turn(draft: Draft, _mark: Mark, text: str) -> None:
    draft.skills["spin"] = text
    draft.must_say_turns = True


def _read_times(draft: Draft, mark: Mark, text: str) -> None:
    draft.put("times", NumberWithUnit("times", float(str(mark.value)), text), text)


def _read_repeatedly(draft: Draft, mark: Mark, text: str) -> None:
    draft.repeatedly = True
    if mark.value is not None:
        draft.skills[str(mark.value)] = text


def _read_manner(draft: Draft, mark: Mark, _text: str) -> None:
    draft.manners.add(Manner(str(mark.value)))


_CONTRARY = {
    **dict.fromkeys(("head:up", "head:down"), "head"),
    **dict.fromkeys(("wave:left", "wave:right"), "wave"),
    **dict.fromkeys(("steps:small", "steps:long"), "steps"),
    **dict.fromkeys(("leg:left", "leg:right", "leg:front", "leg:back", "one_leg"), "leg"),
}
"""Quality -> what it says, of which only one thing can be true."""


def _read_quality(draft: Draft, mark: Mark, text: str) -> None:
    name = str(mark.value)
    for other, before in draft.qualities.items():
        if other != name and name in _CONTRARY and _CONTRARY[name] == _CONTRARY.get(other):
            raise UnknownPhrase(f"{text!r} contradicts {before!r}.", Refusal.CONFLICT, (text,))
    draft.qualities.setdefault(str(mark.value), text)


def _read_context(draft: Draft, mark: Mark, text: str) -> None:
    draft.context.setdefault(str(mark.value), text)


def _putter(name: str) -> Callable[[Draft, Mark, str], None]:
    return lambda draft, mark, text: draft.put(name, mark.value, text)


def _switch(name: str) -> Callable[[Draft, Mark, str], None]:
    return lambda draft, _mark, _text: setattr(draft, name, True)


def _texter(name: str) -> Callable[[Draft, Mark, str], None]:
    return lambda draft, _mark, text: setattr(draft, name, text)


_READERS: dict[Kind, Callable[[Draft, Mark, str], None]] = {
    Kind.GAIT: _read_gait,
    Kind.SKILL: _read_skill,
    Kind.DIRECTION: _read_direction,
    Kind.PACE: _putter("pace"),
    Kind.FASTEST: _switch("fastest"),
    Kind.VERY: _switch("very"),
    Kind.LEVEL: _putter("level"),
    Kind.TIMES: _read_times,
    Kind.TURNS: _read_turns,
    Kind.TURN: _read_turn,
    Kind.REPEATEDLY: _read_repeatedly,
    Kind.HIGHEST: _switch("highest"),
    Kind.MANNER: _read_manner,
    Kind.QUALITY: _read_quality,
    Kind.CIRCLE: _texter("circle"),
    Kind.DIAGONAL: _texter("diagonal"),
    Kind.CONTEXT: _read_context,
    **dict.fromkeys((Kind.ROBOT, *SILENT), lambda _draft, _mark, _text: None),
}


def _read_quantity(draft: Draft, quantity: NumberWithUnit, before: str) -> None:
    if quantity.value <= 0:
        raise UnknownPhrase(f"{quantity.text!r} must be greater than 0.", Refusal.CONFLICT, (quantity.text,))
    if quantity.kind in ("number", "times"):
        if quantity.kind == "number" and not quantity.value.is_integer():
            raise _no_whole_number(quantity)
        draft.put("times", replace(quantity, kind="times"), quantity.text)
        return
    if quantity.kind == "time":
        if quantity.value > LONGEST_S:
            raise UnknownPhrase(
                f"{quantity.text!r} is longer than the {LONGEST_S:g} s that can be judged.",
                Refusal.TOO_MUCH,
                (quantity.text,),
            )
        if quantity.limit in (Limit.AT_MOST, Limit.BETWEEN):
            raise UnknownPhrase(
                f"{quantity.text!r}: an upper limit of a duration cannot be judged yet; say 'for {quantity.value:g} "
                "seconds' and what comes 'then'.",
                Refusal.UNMEASURED,
                (quantity.text,),
            )
    name = {"time": "duration"}.get(quantity.kind, quantity.kind)
    draft.put(name, quantity, quantity.text)
    draft.is_height |= quantity.kind == "length" and before in _HEIGHT_WORDS


def _settle_course(draft: Draft, body: RobotFacts) -> None:
    """One direction, a diagonal of two, or a circle to one side."""
    along: list[Direction] = [way for way in draft.directions if way in (Direction.FORWARD, Direction.BACKWARD)]
    across: list[Direction] = [way for way in draft.directions if way in (Direction.LEFT, Direction.RIGHT)]
    if len(along) > 1 or len(across) > 1:
        *_, last = draft.directions.items()
        raise UnknownPhrase(
            f"{last[1]!r} contradicts what is said before it (direction {draft.direction}); for one after the other, "
            "say 'then'.",
            Refusal.CONFLICT,
            (last[1],),
        )
    if draft.circle and draft.diagonal:
        raise UnknownPhrase(
            f"{draft.diagonal!r} and {draft.circle!r} are two different paths; say one of them.",
            Refusal.CONFLICT,
            (draft.diagonal, draft.circle),
        )
    if draft.circle:
        _settle_circle(draft, along, across, body)
    elif draft.diagonal or (along and across):
        _settle_diagonal(draft, along, across, body)


def _settle_circle(draft: Draft, along: list[Direction], across: list[Direction], body: RobotFacts) -> None:
    if not body.has("yaw_turns"):
        raise UnknownPhrase(
            f"{draft.circle!r}: {body.noun} moves in a vertical plane and cannot turn.",
            Refusal.IMPOSSIBLE,
            (draft.circle,),
        )
    if Direction.BACKWARD in along:
        raise UnknownPhrase(
            f"{draft.circle!r} backward is not measured yet; say it forward.", Refusal.UNMEASURED, (draft.circle,)
        )
    draft.skills.setdefault("move", draft.circle)
    draft.qualities[f"circle:{across[0] if across else EITHER}"] = draft.circle
    draft.directions = {Direction.FORWARD: draft.circle}


def _settle_diagonal(draft: Draft, along: list[Direction], across: list[Direction], body: RobotFacts) -> None:
    said = draft.diagonal or " and ".join(draft.directions.values())
    if not body.has("velocity_y"):
        raise UnknownPhrase(f"{said!r}: {body.noun} can only move forward or backward.", Refusal.IMPOSSIBLE, (said,))
    if set(draft.skills) - {"move"}:
        raise UnknownPhrase(f"{said!r} are two directions, which only a movement can have.", Refusal.CONFLICT, (said,))
    draft.qualities[f"diagonal:{across[0] if across else EITHER}"] = said
    draft.directions = {(along or [Direction.FORWARD])[0]: said}


def _name(draft: Draft, body: RobotFacts) -> str:
    """Name the one skill of a step; fold in others that are only its manner."""
    skills = dict(draft.skills)
    if "upright" in skills:
        text = skills.pop("upright")
        draft.manners.add(Manner.UPRIGHT)
        skills.setdefault("balance" if "pole_angle" in body.features else "posture", text)
    if Manner.UPRIGHT in draft.manners or Manner.NO_FALL in draft.manners or draft.level or draft.highest:
        skills.setdefault("posture", "")
    if len(skills) > 1 and (manner := _manner_of_staying(skills)):
        del skills["still"]
        draft.manners.add(manner)
    if len(skills) > 1:
        kept = skills.pop("posture", None)
        if kept and "move" in skills:
            draft.qualities.setdefault("steady", kept)
    if not skills and (draft.directions or draft.speed is not None):
        skills["move"] = ""
    if not skills:
        skills |= next(({skill: ""} for skill, said in _IMPLIED.items() if said & set(draft.qualities)), {})
    if len(skills) > 1:
        both = " and ".join(repr(text) for text in skills.values())
        raise UnknownPhrase(
            f"{both} at the same time cannot be judged yet. Ask for one of them; or, if one is to come after "
            "the other, say 'then' between them.",
            Refusal.CONFLICT,
            tuple(skills.values()),
        )
    if not skills:
        raise UnknownPhrase("The sentence says how to move, but not what to do.", Refusal.VAGUE)
    return _resolve(next(iter(skills)), draft, body)


def _manner_of_staying(skills: Mapping[str, str]) -> Manner | None:
    """What "stay there" or "remain standing" says of the other skill; None where it is a skill of its own."""
    words = set(skills.get("still", "").split())
    if "standing" in words:
        return Manner.NO_FALL
    return Manner.IN_PLACE if words & _PLACE and skills.keys() & {"spin", "jump", "flip", "rear"} else None


def _resolve(name: str, draft: Draft, body: RobotFacts) -> str:
    """Resolve words that depend on the robot and on one another."""
    if name == "reach" and "push" in body.skills:
        return "push"
    if name == "move" and draft.gait == "hop" and not _travels(draft) and "jump" in body.skills:
        draft.repeatedly = draft.repeatedly or draft.times is None
        return "jump"
    if name == "jump" and draft.direction in (Direction.FORWARD, Direction.BACKWARD):
        draft.qualities[f"jump_way:{draft.direction}"] = draft.directions[draft.direction]
        draft.directions = {}
    if name == "still" and (draft.level is not None or draft.highest or draft.length is not None):
        return "posture"
    if name == "spin" and draft.must_say_turns and draft.turns is None and draft.times is None:
        raise UnknownPhrase(
            "'turn' needs an angle, such as 'turn left 90 degrees' or 'turn around'.", Refusal.VAGUE, ("turn",)
        )
    if name == "posture":
        said = next((text for quality, text in draft.qualities.items() if quality in _WAVES), None)
        if said is not None and "posture" not in body.skills:
            raise UnknownPhrase(
                f"{said!r}: {body.noun} does not stand; only a robot that stands and has arms can wave.",
                Refusal.IMPOSSIBLE,
                (said,),
            )
        held = (_HEADS_HELD | _WAVES) & set(draft.qualities)
        words = draft.level or draft.highest or draft.length is not None or held
        if not words and not draft.manners & {Manner.UPRIGHT, Manner.NO_FALL}:
            raise UnknownPhrase(
                "The sentence does not say what to hold: 'low', 'high', 'at 0.5 m', 'upright'.", Refusal.VAGUE
            )
        if draft.pace is not None or draft.repeatedly:
            raise UnknownPhrase("Holding a posture has no pace and no number of times.", Refusal.CONFLICT)
    return name


def _travels(draft: Draft) -> bool:
    said = (draft.direction, draft.pace, draft.speed, draft.fastest or None, draft.circle or draft.diagonal or None)
    return any(value is not None for value in said) and Manner.IN_PLACE not in draft.manners


_BELONGS: dict[str, Callable[[Draft, str], bool]] = {
    "speed": lambda d, _: d.speed is not None or d.pace is not None or d.fastest,
    "height": lambda d, _: d.length is not None or d.level is not None or d.highest,
    "torso": lambda d, name: name in ("posture", "balance") or d.level is not None or d.length is not None
    or bool(d.manners & {Manner.UPRIGHT}) or bool({"no_lean", "no_sway", "no_trunk"} & set(d.qualities)),
    "flight": lambda _, name: name in ("jump", "flip"),
    "direction": lambda d, _: bool(d.directions),
}  # fmt: skip
"""A word of context -> whether what it belongs to is there."""


def _check_context(draft: Draft, name: str) -> None:
    for kind, text in draft.context.items():
        if not _BELONGS[kind](draft, name):
            raise UnknownPhrase(
                f"{text!r} is not understood here: it needs {_BELONGS_TO[kind]}.",
                Refusal.CONFLICT,
                (text,),
            )
    if (
        draft.very
        and draft.pace is None
        and not draft.highest
        and not (name == "jump" and draft.level is HeightLevel.HIGH)
    ):
        raise UnknownPhrase("'very' is only understood before 'slowly' and 'fast'.", Refusal.UNMEASURED, ("very",))


_BELONGS_TO = {
    "speed": "a speed, such as 'at 2 m/s' or 'slowly'",
    "height": "a height, such as '0.5 m' or 'low'",
    "torso": "a height or 'upright'",
    "flight": "a jump or a flip",
    "direction": "'forward', 'backward', 'left' or 'right'",
}


def _params(draft: Draft, name: str, body: RobotFacts) -> Params:
    _settle_fraction(draft, name)
    _check_fit(draft, name)
    _count(draft, name)
    low_speed, pace, fastest = _speed_words(draft, body)
    height, height_range = _height(draft, name, body)
    level = draft.level
    highest = draft.highest or (draft.very and draft.level is HeightLevel.HIGH)
    if name == "jump":
        highest = highest and height is None
        level = None
    elif highest:
        level = HeightLevel.HIGH
        highest = False
    times = None if draft.times is None else int(draft.times.value)
    turns = None if draft.turns is None else round(draft.turns.value * (times or 1), 4)
    if turns is not None:
        times = None
    if name in ("flip", "spin") and times is None and draft.turns is None and draft.repeatedly:
        times = 2
    speed, speed_range = _speed(draft.speed)
    several = draft.plural and times is None and draft.turns is None
    return Params(
        direction=draft.direction,
        gait=draft.gait,
        pace=pace,
        speed=speed,
        turns=turns,
        times=times,
        repeatedly=draft.repeatedly or several,
        highest=highest,
        level=level,
        height=height,
        duration_s=None if draft.duration is None else round(draft.duration.value, 4),
        manners=frozenset(draft.manners),
        fastest=fastest,
        speed_range=speed_range or low_speed,
        height_range=height_range,
        qualities=frozenset(draft.qualities),
    )


def _check_fit(draft: Draft, name: str) -> None:
    if draft.length is not None and name not in ("jump", "posture") and not draft.is_height:
        raise UnknownPhrase(
            f"{draft.length.text!r}: distances are not understood; say how fast, or for how many seconds.",
            Refusal.UNMEASURED,
            (draft.length.text,),
        )
    if draft.gait == "crawl" and (draft.level is HeightLevel.HIGH or draft.highest or draft.length is not None):
        raise UnknownPhrase(
            "Crawling is moving low, which contradicts another height; say 'walk' instead.",
            Refusal.CONFLICT,
            ("crawl",),
        )
    if draft.turns is not None and draft.repeatedly:
        raise UnknownPhrase(
            f"{draft.turns.text!r} again and again leaves open how often; say a number, as in '2 times'.",
            Refusal.VAGUE,
            (draft.turns.text,),
        )
    if name == "jump" and draft.level is HeightLevel.LOW:
        raise UnknownPhrase(
            "'low' does not go with jump; say how high, as in 'jump at most 0.1 m high', or 'then crouch'.",
            Refusal.CONFLICT,
            ("low",),
        )
    if draft.speed is not None and (draft.pace is not None or draft.fastest):
        raise UnknownPhrase(
            f"{draft.speed.text!r} and a pace in words are both given; say one of them.",
            Refusal.CONFLICT,
            (draft.speed.text,),
        )


def _settle_fraction(draft: Draft, name: str) -> None:
    """Read "turn one and a half times" as a number of turns; all but a spin is done a whole number of times."""
    said = draft.times
    if said is None or said.value.is_integer():
        return
    if name != "spin" or draft.turns is not None:
        raise _no_whole_number(said)
    draft.turns, draft.times = replace(said, kind="turns"), None


def _no_whole_number(said: NumberWithUnit) -> UnknownPhrase:
    return UnknownPhrase(
        f"{said.text!r} has no unit and is not a whole number of times.", Refusal.CONFLICT, (said.text,)
    )


def _count(draft: Draft, name: str) -> None:
    """Bounds of a count or number of turns, as qualities; "repeatedly" drops the upper bound."""
    said = draft.times or draft.turns
    if said is None or name not in ("jump", "flip", "spin"):
        return
    field_name = "times" if draft.times is not None else "turns"
    if field_name == "turns" and said.limit in (Limit.AT_MOST, Limit.BETWEEN) and name == "spin":
        raise UnknownPhrase(
            f"{said.text!r}: an upper limit of an angle is not understood; say how far to turn.",
            Refusal.UNMEASURED,
            (said.text,),
        )
    top = {Limit.AT_MOST: said.value, Limit.BETWEEN: said.upper}.get(said.limit)  # the others the template bounds
    if top is not None:
        draft.qualities[f"at_most:{top:g}"] = said.text
    if said.limit is Limit.AT_MOST:
        setattr(draft, field_name, replace(said, value=1.0))
    if said.limit in (Limit.AT_LEAST, Limit.AT_MOST, Limit.BETWEEN):
        draft.repeatedly = True


def _speed_words(draft: Draft, body: RobotFacts) -> tuple[tuple[float, float] | None, Pace | None, bool]:
    """Effect of "very", and of "fast" with a fast gait, on a pace."""
    pace = draft.pace
    fastest = draft.fastest
    if pace is Pace.FAST and (draft.very or draft.gait in ("run", "gallop", "bound")):
        fastest = True
    if fastest:
        if pace not in (None, Pace.FAST):
            raise UnknownPhrase(f"As fast as possible, and {pace}, contradict each other.", Refusal.CONFLICT)
        return None, Pace.FAST, True
    if pace is Pace.SLOW and draft.very and Pace.SLOW in body.paces:
        slow = body.paces[Pace.SLOW].judged
        return (slow.low, round((slow.low + slow.high) / 2, 3)), None, False
    return None, pace, False


def _speed(said: NumberWithUnit | None) -> tuple[float | None, tuple[float, float] | None]:
    """Speed or its bounds, for `Params`."""
    if said is None:
        return None, None
    if said.limit is Limit.ABOUT:
        return round(said.value, 4), None
    return None, _range(said, 0.05)


def _range(said: NumberWithUnit, exactness: float) -> tuple[float, float]:
    value = said.value
    slack = exactness * said.value
    low, high = {
        Limit.AT_LEAST: (value, inf),
        Limit.AT_MOST: (0.0, value),
        Limit.BETWEEN: (value, said.upper or value),
        Limit.EXACTLY: (value - slack, value + slack),
        Limit.ABOUT: (value - slack, value + slack),
    }[said.limit]
    return round(low, 4), round(high, 4)


def _height(draft: Draft, name: str, body: RobotFacts) -> tuple[float | None, tuple[float, float] | None]:
    """Height or its bounds, for `Params`; jump height is a quality."""
    said = draft.length
    if name == "jump" and said is None and draft.level is HeightLevel.HIGH and not (draft.highest or draft.very):
        return round((body.jump.once + body.jump.high) / 2, 3), None
    if said is None:
        return None, None
    if name != "jump":
        return (round(said.value, 4), None) if said.limit is Limit.ABOUT else (None, _range(said, 0.04))
    low, high = _range(said, 0.1)
    if said.limit in (Limit.ABOUT, Limit.AT_LEAST):
        return round(said.value, 4), None
    draft.qualities[f"at_most_high:{high:g}"] = said.text
    return (round(min(body.jump.once, 0.6 * high), 4) if said.limit is Limit.AT_MOST else low), None

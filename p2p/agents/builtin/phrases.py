"""Parse a sentence into skills; every word must be accounted for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from p2p.agents.builtin.meaning import Said, skill_of
from p2p.agents.builtin.refusals import UnreadPart, explained, hints, meant, not_understood
from p2p.agents.builtin.things import named_target
from p2p.agents.builtin.tokens import NumberWithUnit, Token, tokens
from p2p.agents.builtin.vocabulary import LEXICON, LONGEST, PARTS, SILENT, Kind, Mark
from p2p.contracts.errors import Refusal, UnknownPhrase
from p2p.rewards.templates import template
from p2p.rewards.templates.bodies import RobotFacts
from p2p.rewards.templates.skill import Manner, Skill

MAX_STEPS = 3
"""Steps of a sequence."""
NEGATING = frozenset({
    "not", "dont", "no", "never", "without", "nor", "cant", "cannot", "except", "instead", "unless", "avoid",
    "avoiding", "neither", "rather", "than", "like",
})  # fmt: skip
"""Unknown words that turn what follows them into something else: it is not read on its own."""
_LEAVES_OPEN = frozenset({Kind.UNMEASURED, Kind.VAGUE})
_CARRIES = frozenset({Kind.DIRECTION, Kind.PACE, Kind.FASTEST, Kind.TIMES, Kind.LEVEL, Kind.HIGHEST, Kind.CIRCLE})
"""What a step without a verb may say of the verb before it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A phrase of the sentence and its meaning."""

    text: str
    mark: Mark | NumberWithUnit | None
    """None for what is not understood."""

    @property
    def kind(self) -> Kind | None:
        """Kind of meaning; None for numbers and unknown words."""
        return self.mark.kind if isinstance(self.mark, Mark) else None

    @property
    def verb(self) -> bool:
        """Whether it names an action."""
        return isinstance(self.mark, Mark) and (self.mark.verb or self.kind in (Kind.SKILL, Kind.TURNS))

    @property
    def open(self) -> bool:
        """Whether it is unmeasured."""
        return self.mark is None or self.kind in _LEAVES_OPEN


@dataclass(frozen=True, slots=True)
class Reading:
    """A parsed sentence."""

    skills: tuple[Skill, ...]
    """In the order they are to be done."""
    rest: tuple[UnreadPart, ...]
    """What is not understood, or not measured."""
    ground: str | None = None
    """Kind of `Terrain` that it is to be done on; None for what the floor is."""


def parse(sentence: str, body: RobotFacts) -> tuple[Skill, ...]:
    """Skills that a sentence asks this robot for, in order.

    Raises:
        UnknownPhrase: a part is not understood or contradicts another, or the robot cannot do it.
    """
    return read(sentence, body).skills


def read(sentence: str, body: RobotFacts, *, partly: bool = False) -> Reading:
    """Everything a sentence asks this robot for.

    Args:
        sentence: As a person typed it.
        body: The robot.
        partly: Whether a part may be left to others, such as a judge with eyes.

    Raises:
        UnknownPhrase: a part is not understood, unless others take it; a part contradicts another; the robot cannot do
            it; or nothing of it is understood.
    """
    try:
        return _read(sentence, body, partly)
    except UnknownPhrase as error:
        raise not_understood(error, sentence, body) from error


def _read(sentence: str, body: RobotFacts, partly: bool) -> Reading:
    pieces = _own_arms(_swallowed(_pieces(named_target(tokens(sentence), body))), body)
    _require_own_robot(pieces, body)
    _require_what_begins(pieces)
    ground = _ground(pieces, body)
    steps = _steps([piece for piece in pieces if piece.kind is not Kind.GROUND])
    rest = tuple(explained(part, sentence) for part in _open(steps))
    _require_parts(steps, body)
    if first := next((piece.text for piece in steps[-1] if piece.kind is Kind.FIRST), None):
        raise UnknownPhrase(
            f"{first!r} says that something else follows; say it after 'then', or leave {first!r} out.",
            Refusal.VAGUE,
            (first,),
        )
    if rest and not partly:
        raise _open_error(rest, sentence)
    if len(steps) > MAX_STEPS:
        raise UnknownPhrase(
            f"{sentence!r} has {len(steps)} steps; at most {MAX_STEPS} are understood.", Refusal.TOO_MUCH
        )
    understood = [[piece for piece in step if not piece.open] for step in steps]
    understood = [step for step in understood if any(_says_something(piece) for piece in step)]
    if not understood:
        raise _open_error(rest, sentence)
    skills = tuple(
        skill_of([Said(p.text, p.mark) for p in step if p.mark is not None], body) for step in _carried(understood)
    )
    for skill in skills:
        reason = template(skill.name).refusal(body)
        if reason is not None:
            raise UnknownPhrase(
                f"{sentence!r} cannot be done in {body.env_id}: {reason}.", Refusal.IMPOSSIBLE, (skill.name,)
            )
    return Reading(skills, rest, ground)


def _own_arms(pieces: Sequence[Piece], body: RobotFacts) -> list[Piece]:
    """On a robot that has arms, "arm" is one of them, and not the robot: "move your left arm" is not moving left."""
    waves = Mark(Kind.UNMEASURED, "of arms, waving alone is measured; say 'wave with your right arm'")
    return [
        Piece(piece.text, waves) if body.arms and piece.kind is Kind.ROBOT and piece.text in PARTS else piece
        for piece in pieces
    ]


def _require_own_robot(pieces: Sequence[Piece], body: RobotFacts) -> None:
    """Refuse a sentence that names another robot than the environment's.

    Raises:
        UnknownPhrase: naming it.
    """
    for piece in pieces:
        if not isinstance(piece.mark, Mark) or piece.kind is not Kind.ROBOT:
            continue
        names = piece.mark.value if isinstance(piece.mark.value, tuple) else ()
        own = body.described and (piece.text in PARTS or piece.text in body.env_id.lower())
        if body.env_id.partition("-")[0] in names or own:
            continue
        raise UnknownPhrase(
            f"{piece.text!r} is not the robot of {body.env_id}. For it, choose {names[0]}-v5.",
            Refusal.CONFLICT,
            (piece.text,),
        )


def _require_what_begins(pieces: Sequence[Piece]) -> None:
    """Refuse a beginning of nothing: "walk, then start".

    Raises:
        UnknownPhrase: naming it.
    """
    begins: Piece | None = None
    for piece in [*pieces, Piece("", Mark(Kind.NEXT))]:  # the end ends a step too
        if piece.kind is Kind.BEGIN:
            begins = piece
        elif begins and piece.kind is Kind.NEXT:
            raise UnknownPhrase(
                f"{begins.text!r} does not say what is to begin; say 'start walking', or leave it out.",
                Refusal.VAGUE,
                (begins.text,),
            )
        elif piece.kind is not Kind.FILLER:
            begins = None


def _ground(pieces: Sequence[Piece], body: RobotFacts) -> str | None:
    """Kind of `Terrain` that a sentence asks for.

    Raises:
        UnknownPhrase: it asks for two, or the robot cannot have any.
    """
    marks = ((piece.mark, piece.text) for piece in pieces if isinstance(piece.mark, Mark))
    asked = {str(mark.value): text for mark, text in marks if mark.kind is Kind.GROUND}
    if len(asked) > 1:
        first, second = list(asked.values())[:2]
        raise UnknownPhrase(f"{second!r} contradicts {first!r}: there is one ground.", Refusal.CONFLICT, (second,))
    for kind, text in asked.items():
        if not body.described:
            raise UnknownPhrase(
                f"{text!r}: only robots from a model file have other ground than the floor; {body.env_id} is none.",
                Refusal.IMPOSSIBLE,
                (text,),
            )
        return kind
    return None


def _require_parts(steps: Sequence[Sequence[Piece]], body: RobotFacts) -> None:
    """Refuse what a sentence wants done with a part that the body lacks, or to a thing that is not there.

    Raises:
        UnknownPhrase: naming the part or the thing.
    """
    for step in steps:
        reaches = any(isinstance(piece.mark, Mark) and piece.mark.value == "reach" for piece in step)
        for piece in step:
            if not piece.open and not (piece.kind is Kind.ROBOT and body.described):
                continue
            for noun, names in PARTS.items():
                said = {noun, f"{noun}s"} & set(piece.text.split())
                if said and not body.part_names & names:
                    raise UnknownPhrase(
                        f"{piece.text!r}: {body.noun} has no {noun}.", Refusal.IMPOSSIBLE, (piece.text,)
                    )
            if reaches and piece.mark is None and not hints(piece):
                here = "its target alone" if body.has("target_distance") else "nothing to reach"
                here = body.thing.in_words if body.thing is not None else here
                raise UnknownPhrase(
                    f"{piece.text!r}: {body.env_id} has no such thing for {body.noun} to reach; there is {here}.",
                    Refusal.IMPOSSIBLE,
                    (piece.text,),
                )


def _open_error(rest: Sequence[UnreadPart], sentence: str) -> UnknownPhrase:
    lines = [part.problem for part in rest]
    return UnknownPhrase(
        f"Not understood: {', '.join(repr(part.text) for part in rest)} in {sentence!r}."
        if all(part.kind is Refusal.UNKNOWN for part in rest)
        else " ".join(lines),
        next((part.kind for part in rest if part.kind is Refusal.UNKNOWN), rest[0].kind),
        tuple(part.text for part in rest),
        tuple(word for part in rest for word in part.suggestions),
    )


def _pieces(words: Sequence[Token]) -> list[Piece]:
    """Longest known phrases, from left to right; consecutive unknown words form one piece."""
    found: list[Piece] = []
    position = 0
    while position < len(words):
        piece, length = _match(words[position : position + LONGEST])
        if piece.mark is None and found and found[-1].mark is None:
            piece = Piece(f"{found.pop().text} {piece.text}", None)
        found.append(piece)
        position += length
    return found


def _match(words: Sequence[Token]) -> tuple[Piece, int]:
    first = words[0]
    if isinstance(first, NumberWithUnit):
        return Piece(first.text, first), 1
    plain = [word for word in takewhile(lambda word: isinstance(word, str), words) if isinstance(word, str)]
    for length in range(len(plain), 0, -1):
        mark = LEXICON.get(tuple(plain[:length]))
        if mark is not None:
            return Piece(" ".join(plain[:length]), mark), length
    return Piece(first, None), 1


def _swallowed(pieces: Sequence[Piece]) -> list[Piece]:
    """Let "not", "like" and similar words absorb the rest of their clause: "not fast" is not fast."""
    found: list[Piece] = []
    swallows = False
    for piece in pieces:
        if piece.kind is Kind.NEXT or piece.text == "and":
            swallows = False
        if swallows:
            found[-1] = Piece(f"{found[-1].text} {piece.text}", None)
            continue
        found.append(piece)
        swallows = piece.mark is None and any(meant(word) in NEGATING for word in piece.text.split())
    return found


def _steps(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Split at "then" and synonyms; drop empty steps."""
    steps: list[list[Piece]] = [[]]
    for piece in pieces:
        if piece.kind is Kind.NEXT:
            steps.append([])
        else:
            steps[-1].append(piece)
    # Merge a step about landing alone into the previous one: "jump, then land softly".
    parts = [step for step in steps if any(_says_something(piece) for piece in step)]
    said: list[list[Piece]] = []
    for step in parts:
        lands = all(not _says_something(piece) or _is_landing(piece.mark) for piece in step)
        if said and lands:
            said[-1] = [*said[-1], *step]
        else:
            said.append(step)
    if not said:
        raise UnknownPhrase("The sentence names nothing that the robot can do.", Refusal.VAGUE)
    return said


def _is_landing(mark: Mark | NumberWithUnit | None) -> bool:
    return isinstance(mark, Mark) and mark.value in (Manner.LANDING, "soft_landing")


def _carried(steps: Sequence[list[Piece]]) -> list[list[Piece]]:
    """Give a step without a verb the verb of the previous step: "spin left then right"."""
    found: list[list[Piece]] = []
    for step in steps:
        bare = not any(piece.verb for piece in step)
        says = any(piece.kind in _CARRIES or isinstance(piece.mark, NumberWithUnit) for piece in step)
        if found and bare and says:
            verbs = [
                Piece(p.text, replace(p.mark, direction=None)) for p in found[-1] if p.verb and isinstance(p.mark, Mark)
            ]
            step = [*verbs, *step]
        found.append(step)
    return found


def _says_something(piece: Piece) -> bool:
    return piece.kind not in SILENT


def _open(steps: Sequence[Sequence[Piece]]) -> list[Piece]:
    """Unknown or unmeasured parts, with the small words between two of them."""
    found: list[Piece] = []
    for step in steps:
        gap: list[str] | None = None
        for piece in step:
            if piece.mark is None:
                if gap is None or found[-1].mark is not None:
                    found.append(piece)
                else:
                    found[-1] = Piece(" ".join([found[-1].text, *gap, piece.text]), None)
                gap = []
            elif piece.open:
                found.append(piece)
                gap = None
            elif gap is not None:
                gap = None if _says_something(piece) else [*gap, piece.text]
    return found

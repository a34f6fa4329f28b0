"""Sentences of the built-in author's grammar for every robot, made by rules; the same code makes the same ones."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Intent
from p2p.contracts.suite import Budget, Case, Suite
from p2p.envs.catalog import load
from p2p.lab.behaviours.sample import sample
from p2p.lab.contracts.behaviours import Behaviour, Grammar, LeftOut
from p2p.rewards.templates import TEMPLATES
from p2p.rewards.templates.bodies import RobotFacts
from p2p.rewards.templates.body_table import BODIES, body_of
from p2p.rewards.templates.skill import Pace

SUITE = "behaviours"
SEEDS = (1, 2, 3)
ORDER_SEED = 1
"""Of the order in which the sentences are run."""
SEQUENCE = "sequence"
"""Rule, and skill, of a sentence of two steps."""
GAITS = ("walk", "swim", "move")
"""The verb of plain locomotion: the first that a robot has."""
PLAIN = {"spin": "spin", "flip": "do a backflip"}
"""A skill without details, where that is not the first example of its template."""
ADDED: dict[str, tuple[str, ...]] = {
    "direction": ("forward", "backward", "to the left", "to the right"),
    "path": ("in a straight line", "in a circle to the left", "diagonally to the left"),
    "pace": ("slowly", "moderately fast", "fast", "as fast as possible"),
    "height": ("low", "high", "as high as possible"),
    "count": ("once", "twice", "3 times", "at most twice", "repeatedly", "a quarter turn", "a half turn"),
    "duration": ("for 5 seconds",),
    "manner": (
        "smoothly",
        "with little effort",
        "without falling",
        "upright",
        "in place",
        "and land on your feet",
        "and land softly",
        "in the middle",
        "while facing forward",
        "without turning",
        "without leaving the ground",
        "without turning over",
        "without stopping",
        "without swaying",
        "without leaning",
        "without touching the floor with your trunk",
        "without crouching",
        "without sliding",
        "on one leg",
        "on your left leg",
        "on your right leg",
        "on your front leg",
        "on your rear leg",
        "on tiptoe",
        "with small steps",
        "with long steps",
        "with your head up",
        "with your head down",
        "with your head still",
    ),
}
"""Rule -> what it adds to the plain sentence of every skill: one phrase for each meaning of the vocabulary."""
SHORT_NAMES = {
    "InvertedPendulum": "pole",
    "InvertedDoublePendulum": "poles",
    "HumanoidStandup": "standup",
    "HalfCheetah": "cheetah",
    "Walker2d": "walker",
}
LONGEST_NAME = 35
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class _Proposal:
    skill: str
    rule: str
    sentence: str


def grammar() -> Grammar:
    """Every sentence that the rules make and the built-in author understands, robot by robot.

    One that is judged as an earlier one of the same robot is left out, since its session would be the same one again;
    so is one that is refused. Both are told.
    """
    author = BuiltinAuthor()
    found: list[Behaviour] = []
    same: list[LeftOut] = []
    refused: list[LeftOut] = []
    for env_id in BODIES:
        spec = load(env_id)
        judged: dict[object, str] = {}
        proposals: dict[str, _Proposal] = {}
        for proposal in _proposals(body_of(spec)):
            proposals.setdefault(proposal.sentence, proposal)
        for sentence, proposal in proposals.items():
            try:
                key = _judged_by(author.elicit(sentence, spec))
            except InvalidInput as error:
                why = str(error).partition("\n")[0]
                refused.append(LeftOut(env_id=env_id, sentence=sentence, rule=proposal.rule, why=why))
                continue
            if key in judged:
                why = f"judged as {judged[key]!r}"
                same.append(LeftOut(env_id=env_id, sentence=sentence, rule=proposal.rule, why=why))
                continue
            judged[key] = sentence
            found.append(
                Behaviour(
                    name=_name(spec, sentence),
                    env_id=env_id,
                    sentence=sentence,
                    skill=proposal.skill,
                    rule=proposal.rule,
                )
            )
    return Grammar(behaviours=tuple(found), same=tuple(same), refused=tuple(refused))


def suite_of(known: Grammar, budget: Budget) -> Suite:
    """A suite of all the sentences, without exams and in one stage; a skill is a category of it.

    Robots and skills take turns, so that a run that is not through yet says something of all of them.
    """
    return Suite(
        name=SUITE,
        source="generated from the grammar of the built-in author",
        seeds=SEEDS,
        budget=budget,
        cases=tuple(
            Case(name=one.name, env_id=one.env_id, prompt=one.sentence, category=one.skill)
            for one in sample(known.behaviours, len(known.behaviours), ORDER_SEED)
        ),
    )


def _proposals(body: RobotFacts) -> Iterator[_Proposal]:
    """What the rules say of one robot: examples first, so that of two that are judged alike the example is kept."""
    templates = {name: kind() for name, kind in TEMPLATES.items() if kind().refusal(body) is None}
    plain = {name: _plain(name, body, template.examples(body)[0]) for name, template in templates.items()}
    for name, template in templates.items():
        for example in template.examples(body):
            yield _Proposal(name, "example", example)
    for name, sentence in plain.items():
        yield _Proposal(name, "plain", sentence)
    if "move" in plain:
        yield from (_Proposal("move", "gait", gait) for gait in sorted(body.gaits))
        yield from (_Proposal("move", "speed", f"{plain['move']} {speed}") for speed in _speeds(body))
    for rule, phrases in ADDED.items():
        for name, sentence in plain.items():
            for phrase in phrases:
                yield _Proposal(name, rule, f"{sentence} {phrase}")
    for first, second in permutations(plain, 2):
        yield _Proposal(SEQUENCE, SEQUENCE, f"{plain[first]}, then {plain[second]}")


def _plain(skill: str, body: RobotFacts, example: str) -> str:
    if skill == "move":
        return next(gait for gait in GAITS if gait in body.gaits)
    return PLAIN.get(skill, example)


def _speeds(body: RobotFacts) -> Iterator[str]:
    """Bounds of the speed in the robot's own range [m/s]."""
    slow = body.paces[Pace.SLOW].judged
    moderate = body.paces[Pace.MODERATE].judged
    fast = body.paces[Pace.FAST].judged
    yield f"at {moderate.low:g} m/s"
    yield f"at least {fast.low:g} m/s"
    yield f"at most {moderate.low:g} m/s"
    yield f"between {slow.low:g} and {moderate.low:g} m/s"


def _judged_by(intent: Intent) -> object:
    """What decides about a session, without the words for people."""
    criteria = tuple(
        criterion.model_copy(update={"title": "", "description": ""}).model_dump_json() for criterion in intent.criteria
    )
    return criteria, intent.episode_s, intent.commands


def _name(spec: EnvSpec, sentence: str) -> str:
    """Name of a case that no other case changes: robot and sentence, with a hash where that is too long."""
    robot = spec.env_id.rpartition("-")[0]
    short = SHORT_NAMES.get(robot, robot.lower())
    name = f"{short}-{_NOT_IN_NAMES.sub('-', sentence.lower()).strip('-')}"
    if len(name) <= LONGEST_NAME:
        return name
    digest = hashlib.sha256(f"{spec.env_id} {sentence}".encode()).hexdigest()[:4]
    return f"{name[: LONGEST_NAME - 5].rstrip('-')}-{digest}"

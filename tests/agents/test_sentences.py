"""What each sentence of the tables must be judged by, or be refused with."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.agents.builtin.refusals import meant
from p2p.contracts.errors import UnknownPhrase
from p2p.contracts.intent import Comparison, Criterion, Intent
from p2p.envs.catalog import load

FOLDER = Path(__file__).parent / "sentences"
AUTHOR = BuiltinAuthor()
_ITEM = re.compile(r"^(?P<key>[a-z_]+)(?:(?P<sign>>=|<=|=)(?P<low>-?[\d.]+?)(?:\.\.(?P<high>-?[\d.]+))?)?$")


@dataclass(frozen=True)
class Line:
    env: str
    sentence: str
    expected: str


def lines(name: str) -> Iterator[Line]:
    for text in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        if text.strip() and not text.startswith("#"):
            yield Line(*(part.strip() for part in text.split("|")))


def keys_of(intent: Intent, key: str) -> list[Criterion]:
    """Criteria of that key, or of one that begins with it: `spins` for either side."""
    exact = [criterion for criterion in intent.criteria if criterion.key == key]
    return exact or [criterion for criterion in intent.criteria if criterion.key.startswith(key)]


def bounds(criterion: Criterion) -> tuple[float | None, float | None]:
    predicate = criterion.predicate
    assert predicate is not None, criterion.key
    if predicate.comparison is Comparison.AT_MOST:
        return None, predicate.threshold
    return predicate.threshold, predicate.upper


def wrong_with(intent: Intent, expected: str) -> list[str]:
    """What is expected and not there."""
    found = []
    for item in filter(None, (part.strip() for part in expected.split(";"))):
        if item.startswith("s="):
            if intent.episode_s != float(item[2:]):
                found.append(f"{item}: an episode has {intent.episode_s:g} s")
            continue
        if item.startswith("-"):
            found += [f"{item}: it is there"] if keys_of(intent, item[1:]) else []
            continue
        match = _ITEM.match(item)
        assert match is not None, f"not an item: {item}"
        candidates = keys_of(intent, match["key"])
        if not any(fits(criterion, match["sign"], match["low"], match["high"]) for criterion in candidates):
            there = [(criterion.key, *bounds(criterion)) for criterion in intent.criteria]
            found.append(f"{item}: there are {there}")
    return found


def fits(criterion: Criterion, sign: str | None, low: str | None, high: str | None) -> bool:
    if sign is None or low is None:
        return True
    least, most = bounds(criterion)
    if sign == ">=":
        return least == pytest.approx(float(low), abs=1e-3)
    if sign == "<=":
        return most == pytest.approx(float(low), abs=1e-3)
    return (least, most) == (pytest.approx(float(low), abs=1e-3), pytest.approx(float(str(high)), abs=1e-3))


def wrong(line: Line) -> list[str]:
    """How what becomes of a sentence differs from what it must be."""
    refused = line.expected.startswith("!")
    try:
        intent = AUTHOR.elicit(line.sentence, load(f"{line.env}-v5"))
    except UnknownPhrase as error:
        first = str(error).splitlines()[0]
        return wrong_refusal(error, line.expected) if refused else [f"refused: {first}"]
    return [f"understood as {[c.key for c in intent.criteria]}"] if refused else wrong_with(intent, line.expected)


def wrong_refusal(error: UnknownPhrase, expected: str) -> list[str]:
    kind, _, rest = expected.removeprefix("!").strip().partition(":")
    words, _, suggestion = rest.partition("?")
    named = [word.strip() for word in words.split(",") if word.strip()]
    found = [] if error.kind == kind else [f"refused as {error.kind}: {error}"]
    blamed = " / ".join(error.words)
    found += [f"{word!r} is not among {error.words}" for word in named if word not in blamed]
    found += [f"{word!r} is not in the message" for word in named if word not in str(error)]
    if suggestion.strip() and suggestion.strip() not in error.suggestions:
        found.append(f"suggested: {error.suggestions}")
    return found


ORDINARY = list(lines("ordinary.txt"))


@pytest.mark.parametrize("line", ORDINARY, ids=[f"{line.env}: {line.sentence}" for line in ORDINARY])
def test_a_sentence_is_judged_by_what_it_says_or_refused_by_name(line: Line) -> None:
    assert wrong(line) == []


LAST = [*lines("last.txt"), *lines("parts.txt")]


@pytest.mark.parametrize("line", LAST, ids=[f"{line.env}: {line.sentence}" for line in LAST])
def test_a_sentence_nobody_prepared_for_is_judged_by_what_it_says_or_refused_by_name(line: Line) -> None:
    assert wrong(line) == []


def test_the_tables_hold_three_hundred_sentences_of_all_robots() -> None:
    assert len({(line.env, line.sentence) for line in (*ORDINARY, *LAST)}) >= 300
    assert len({line.env for line in lines("last.txt")}) == 11


def test_what_is_understood_is_kept_and_trained_where_eyes_take_the_rest() -> None:
    spec = load("HalfCheetah-v5")
    read = AUTHOR.understand("walk forward slowly with quick steps, like a crab", spec, partly=True)
    assert wrong_with(read.intent, "moves_forward=0.3..0.7; also_asked") == []
    assert len(read.left_over) == 2
    assert "velocity_x" in AUTHOR.write(read.intent, spec).source
    with pytest.raises(UnknownPhrase, match="with quick steps"):
        AUTHOR.elicit("walk forward slowly with quick steps", spec)


@pytest.mark.parametrize("sentence", ["walk fast slowly with quick steps", "jump low with quick steps", "frobnicate"])
def test_eyes_take_no_contradiction_and_not_a_whole_sentence(sentence: str) -> None:
    with pytest.raises(UnknownPhrase):
        AUTHOR.understand(sentence, load("HalfCheetah-v5"), partly=True)


@pytest.mark.parametrize(
    ("word", "known"),
    [("foward", "forward"), ("rnu", "run"), ("bakwords", "backwards"), ("hill", None), ("box", None), ("quux", None)],
)
def test_a_misspelling_is_near_and_another_word_is_not(word: str, known: str | None) -> None:
    assert meant(word) == (known or word)


def test_what_is_said_of_parts_in_a_last_step_is_measured_after_the_step_before() -> None:
    intent = AUTHOR.elicit("walk forward then raise your head", load("HalfCheetah-v5"))
    assert {c.key: c.after for c in intent.criteria}["head_up"] == "moves_forward"

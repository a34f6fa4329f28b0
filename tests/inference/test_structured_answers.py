"""Answers as types: found, validated, repaired twice; and whatever a model writes, nothing else than that comes out."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field
from wire_stub import Fault, Reply, Stub, answers, says

from p2p.contracts.base import Contract
from p2p.contracts.inference import ModelRefused, ModelRequest, ReplyMalformed, ReplyTruncated, user
from p2p.inference.client import SessionModels
from p2p.inference.structured import Unusable, parse, structured

Serve = Callable[..., Stub]
Make = Callable[..., SessionModels]


class Part(Contract):
    name: str = Field(max_length=20)


class Opinion(Contract):
    """What somebody thinks."""

    score: float = Field(ge=0, le=1)
    """How good it is, in [0, 1]."""
    parts: tuple[Part, ...] = Field(default=(), max_length=3)


QUESTION = ModelRequest(system="You judge.", messages=(user("How good is it?"),))


@pytest.mark.parametrize(
    "text",
    [
        '{"score": 0.5}',
        'Here it is:\n```json\n{"score": 0.5}\n```\nThat was it.',
        'My answer {is} this: {"score": 0.5} and no other.',
        '{"score": 0.5, "parts": [], "confidence": "high"}',
        '{"score": 0.5, "parts": []} {"score": 9}',
    ],
)
def test_an_answer_is_found_wherever_it_is(text: str) -> None:
    assert parse(text, Opinion) == Opinion(score=0.5)


def test_unknown_keys_are_dropped_also_deep_inside() -> None:
    text = json.dumps({"score": 1, "why": "x", "parts": [{"name": "leg", "mood": 3}, {"name": "arm"}]})
    assert parse(text, Opinion) == Opinion(score=1, parts=(Part(name="leg"), Part(name="arm")))


@pytest.mark.parametrize(
    "text", ["", "nothing", "[1, 2]", '{"score": NaN}', '{"score": 1.5}', '{"score": ', "{" * 5_000, '{"a":' * 3_000]
)
def test_what_is_no_answer_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(Unusable, match=r"."):
        parse(text, Opinion)


@given(
    st.text()
    | st.recursive(st.none() | st.floats() | st.text(), lambda s: st.lists(s) | st.dictionaries(st.text(), s)).map(
        json.dumps
    )
)
def test_whatever_comes_is_an_opinion_or_unusable(text: str) -> None:
    try:
        found = parse(text, Opinion)
    except Unusable:
        return
    assert 0 <= found.score <= 1


@given(
    st.floats(0, 1),
    st.text(alphabet=st.characters(blacklist_characters="{}`", blacklist_categories=("Cs",))),
    st.dictionaries(st.text(min_size=1).filter(lambda key: key not in Opinion.model_fields), st.integers()),
)
def test_an_opinion_survives_any_words_around_it_and_any_keys_in_it(
    score: float, words: str, more: dict[str, int]
) -> None:
    text = f"{words}\n```json\n{json.dumps({**more, 'score': score})}\n```\n{words}"
    assert parse(text, Opinion).score == score


def test_a_wrong_answer_is_sent_back_once_with_what_is_wrong(
    serve: Serve, session_models: Make, model_name: str
) -> None:
    stub = serve(answers({"score": 7}), answers({"score": 0.7}))
    opinion = structured(session_models(model_name).for_role("judge"), QUESTION, Opinion)
    assert opinion.score == 0.7
    assert stub.seen[0].schema is not None
    assert "less than or equal to 1" in stub.seen[1].last
    assert '{"score": 7}' in stub.seen[1].text.replace("\n", "")


def test_a_third_wrong_answer_is_an_error(serve: Serve, session_models: Make, model_name: str) -> None:
    stub = serve(answers({"score": 7}), says("I will not."), answers({"score": 8}))
    with pytest.raises(ReplyMalformed, match="not a valid Opinion"):
        structured(session_models(model_name).for_role("judge"), QUESTION, Opinion)
    assert stub.remaining() == 0


def test_a_second_repair_is_right_and_reads_all_that_was_said(serve: Serve, session_models: Make) -> None:
    stub = serve(says('{"score": 0.5,, }'), answers({"score": 7}), answers({"score": 0.5}))
    assert structured(session_models().for_role("judge"), QUESTION, Opinion).score == 0.5
    assert "no JSON object: Expecting property name" in stub.seen[1].last, "the parser's own words"
    assert "less than or equal to 1" in stub.seen[2].last
    assert '{"score": 0.5,, }' in stub.seen[2].text.encode().decode("unicode_escape")


def test_what_came_to_nothing_is_asked_afresh_by_a_session_that_goes_on(serve: Serve, session_models: Make) -> None:
    models = session_models()
    stub = serve(*[says("I will not.")] * 3, answers({"score": 0.5}))
    with pytest.raises(ReplyMalformed):
        structured(models.for_role("judge"), QUESTION, Opinion)
    assert structured(models.for_role("judge"), QUESTION, Opinion).score == 0.5
    assert structured(models.for_role("judge"), QUESTION, Opinion).score == 0.5, "and what served is not asked again"
    assert stub.remaining() == 0


def test_types_and_meaning_are_told_together() -> None:
    def known(opinion: Opinion) -> None:
        if any(part.name == "wing" for part in opinion.parts):
            raise ValueError("there is no part 'wing'; known: leg")

    with pytest.raises(Unusable, match=r"score: .*less than or equal to 1.*no part 'wing'"):
        parse('{"score": 7, "parts": [{"name": "wing"}]}', Opinion, known)
    with pytest.raises(Unusable, match=r"score: .*less than or equal to 1"):
        parse('{"score": 7}', Opinion, lambda opinion: known(opinion) or float(opinion.score))  # type: ignore[arg-type]


def test_what_the_type_cannot_say_is_checked_too(serve: Serve, session_models: Make) -> None:
    def known(opinion: Opinion) -> None:
        if any(part.name == "wing" for part in opinion.parts):
            raise ValueError("there is no part 'wing'; known: leg")

    stub = serve(answers({"score": 1, "parts": [{"name": "wing"}]}), answers({"score": 1, "parts": [{"name": "leg"}]}))
    opinion = structured(session_models().for_role("judge"), QUESTION, Opinion, known)
    assert opinion.parts[0].name == "leg"
    assert "known: leg" in stub.seen[1].last


def test_a_server_that_takes_no_schema_gets_it_in_words(serve: Serve, session_models: Make, model_name: str) -> None:
    def picky(_: object) -> Reply:
        raise ValueError("unsupported schema")  # the server answers 400

    stub = serve(picky, answers({"score": 0.5}))
    assert structured(session_models(model_name).for_role("judge"), QUESTION, Opinion).score == 0.5
    assert stub.seen[1].schema is None
    assert "How good it is, in [0, 1]." in stub.seen[1].text


@pytest.mark.parametrize(
    ("fault", "error"),
    [(Fault.REFUSAL, ModelRefused), (Fault.TRUNCATED, ReplyTruncated), (Fault.EMPTY, ReplyMalformed)],
)
def test_an_answer_that_is_none_has_a_name(
    serve: Serve, session_models: Make, model_name: str, fault: Fault, error: type[Exception]
) -> None:
    serve(fault, repeat_last=True)
    with pytest.raises(error):
        structured(session_models(model_name).for_role("judge"), QUESTION, Opinion)

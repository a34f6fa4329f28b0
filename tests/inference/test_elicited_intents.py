"""Criteria that a model makes of sentences."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from recorded_intents import INTENTS
from wire_stub import Stub, answers

from p2p.agents.model.asking import Role
from p2p.agents.model.intent_elicitor import elicit
from p2p.contracts.errors import Ambiguous, InvalidInput
from p2p.contracts.inference import ReplyMalformed
from p2p.contracts.session import NewSession
from p2p.contracts.spending import Caps
from p2p.envs import catalog
from p2p.service.rewards.writing import elicit_intent
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

CHEETAH = catalog.load("HalfCheetah-v5")
GOOD = INTENTS["HalfCheetah-v5", "do a backflip and land upright"]


@pytest.fixture
def role(session_models: Callable[..., Any]) -> Role:
    return Role(session_models().for_role("intent_elicitor"))


@pytest.mark.parametrize(("env_id", "sentence"), INTENTS)
def test_fifteen_intents_of_the_public_benchmark_become_criteria(
    env_id: str, sentence: str, role: Role, serve: Callable[..., Stub]
) -> None:
    stub = serve(answers({"criteria": INTENTS[env_id, sentence], "episode_s": 8.0}))
    intent = elicit(role, sentence, catalog.load(env_id))
    assert intent.prompt == sentence
    assert 5 <= len(intent.criteria) <= 8
    assert sum(criterion.predicate is not None for criterion in intent.criteria) >= 3
    assert sentence in stub.seen[0].text
    assert all(name in stub.seen[0].system for name in catalog.load(env_id).feature_names)


def test_what_the_body_cannot_do_is_refused_with_the_reason(role: Role, serve: Callable[..., Stub]) -> None:
    serve(answers({"criteria": [], "impossible": "A swimmer has no legs and nothing to push off from."}))
    with pytest.raises(InvalidInput, match=r"Swimmer-v5 cannot do that: A swimmer has no legs"):
        elicit(role, "jump over a wall", catalog.load("Swimmer-v5"))


def test_a_sentence_that_can_mean_two_things_is_asked_about(role: Role, serve: Callable[..., Stub]) -> None:
    serve(answers({"criteria": [], "question": "Forward or backward?"}))
    with pytest.raises(Ambiguous) as doubt:
        elicit(role, "do a flip", CHEETAH)
    assert doubt.value.question == "Forward or backward?"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"criteria": []}, "criteria is empty"),
        ({"criteria": [{**GOOD[0], "predicate": {**GOOD[0]["predicate"], "feature": "backflips"}}]}, "backflips"),
        ({"criteria": [{**GOOD[0], "required": False}]}, "No criterion is required"),
        ({"criteria": [GOOD[0], GOOD[0]]}, "two criteria are called"),
        ({"criteria": [{**GOOD[0], "predicate": {**GOOD[0]["predicate"], "margin": 0}}]}, "margin"),
        ({"criteria": GOOD, "episode_s": 900}, "episode_s"),
    ],
)
def test_criteria_that_cannot_be_judged_are_sent_back_once(
    wrong: dict[str, Any], told: str, role: Role, serve: Callable[..., Stub]
) -> None:
    stub = serve(answers(wrong), answers({"criteria": GOOD}))
    assert len(elicit(role, "do a backflip and land upright", CHEETAH).criteria) == 5
    assert told in stub.seen[1].last


def test_an_answer_that_stays_wrong_is_no_intent(role: Role, serve: Callable[..., Stub]) -> None:
    serve(*[answers({"criteria": []})] * 3)
    with pytest.raises(ReplyMalformed, match="criteria is empty"):
        elicit(role, "do a backflip", CHEETAH)


def test_criteria_are_asked_for_once_by_however_many_at_the_same_time(
    tmp_path: Path, serve: Callable[..., Stub]
) -> None:
    stub = serve(answers({"criteria": GOOD}))
    ws = Workspace(Settings(runs_dir=tmp_path / "runs"))
    caps = Caps(dollars=None, tokens=1_000_000)
    request = NewSession(prompt="do a backflip and land upright", author="anthropic:claude-of-a-test", caps=caps)
    session_id = create_session(ws, request).session_id
    with ThreadPoolExecutor(4) as pool:
        intents = list(pool.map(lambda _: elicit_intent(ws, session_id), range(4)))
    assert intents == [intents[0]] * 4
    assert len(stub.seen) == 1

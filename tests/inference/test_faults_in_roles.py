"""Whatever goes wrong with one answer, a role goes on, or ends with an error that has a name."""

from collections.abc import Callable
from typing import Any

import pytest
from recorded_intents import INTENTS
from wire_stub import TRANSPORT, Fault, Step, Stub, answers

from p2p.agents.model.asking import Role
from p2p.agents.model.intent_elicitor import elicit
from p2p.agents.model.reward_author import repair_reward, review_reward, write_reward
from p2p.contracts.inference import AuthenticationFailed, ModelProblem
from p2p.contracts.intent import Intent
from p2p.contracts.reward import RewardDraft, RewardIssue, RewardReport
from p2p.envs import catalog

SENTENCE = "do a backflip and land upright"
CHEETAH = catalog.load("HalfCheetah-v5")
SOURCE = "def reward_fn(obs, action, next_obs, info):\n    return 1.0, {'alive': 1.0}\n"
CRITERIA = answers({"criteria": INTENTS["HalfCheetah-v5", SENTENCE]})
WRITTEN = answers({"source": SOURCE, "reasoning": "It pays for being there."})
APPROVED = answers({"approved": True})
QUICK = [fault for fault in Fault if fault is not Fault.DRIP]
"""What drips in takes its whole time limit; it is tried on single calls."""
HARMLESS = (*TRANSPORT, Fault.EMPTY)
"""After these the same is asked again, and answered."""


def intent() -> Intent:
    return Intent.model_validate(
        {"prompt": SENTENCE, "env_id": "HalfCheetah-v5", "criteria": INTENTS["HalfCheetah-v5", SENTENCE]}
    )


def ask_for_criteria(role: Role) -> Any:
    return elicit(role, SENTENCE, CHEETAH)


def ask_for_a_reward(role: Role) -> Any:
    return write_reward(role, intent(), CHEETAH, "")


def ask_for_a_review(role: Role) -> Any:
    return review_reward(role, intent(), CHEETAH, "", RewardDraft(source=SOURCE))


SITES = {
    "elicitor": (ask_for_criteria, CRITERIA),
    "author": (ask_for_a_reward, WRITTEN),
    "review": (ask_for_a_review, APPROVED),
}


@pytest.mark.parametrize("fault", QUICK, ids=[fault.name for fault in QUICK])
@pytest.mark.parametrize("site", SITES)
def test_a_fault_is_overcome_or_named(
    site: str, fault: Fault, session_models: Callable[..., Any], serve: Callable[..., Stub]
) -> None:
    ask, good = SITES[site]
    steps: list[Step] = [fault, good, good]
    stub = serve(*steps)
    role = Role(session_models().for_role(site))
    ended = _ended(ask, role)
    if fault is Fault.UNAUTHORIZED:
        assert isinstance(ended, AuthenticationFailed)
    elif isinstance(ended, ModelProblem):
        assert fault not in HARMLESS
        assert str(ended)
    else:
        assert len(stub.seen) >= 2


def _ended(ask: Callable[[Role], Any], role: Role) -> object:
    """The answer, or the problem there was."""
    try:
        return ask(role)
    except ModelProblem as problem:
        return problem


def test_a_reward_that_is_never_sent_whole_has_a_name(
    session_models: Callable[..., Any], serve: Callable[..., Stub]
) -> None:
    serve(Fault.TRUNCATED, Fault.TRUNCATED, Fault.TRUNCATED)
    with pytest.raises(ModelProblem):
        ask_for_a_reward(Role(session_models().for_role("reward_author")))


def test_a_repair_is_told_what_the_check_found_and_where(
    session_models: Callable[..., Any], serve: Callable[..., Stub]
) -> None:
    stub = serve(WRITTEN)
    found = RewardIssue(severity="error", message="KeyError 'velocty_x'. Did you mean info['x_velocity']?", line=5)
    draft = RewardDraft(source="def reward_fn(obs, action, next_obs, info): ...", config_changes={"gamma": 0.98})
    role = Role(session_models().for_role("reward_author"))
    mended = repair_reward(role, intent(), CHEETAH, "", draft, RewardReport(spec=None, issues=(found,)))
    assert "line 5: KeyError 'velocty_x'. Did you mean info['x_velocity']?" in stub.seen[0].text
    assert draft.source in stub.seen[0].text
    assert (mended.source, mended.config_changes) == (SOURCE, {"gamma": 0.98})


@pytest.mark.parametrize("value", [float("nan"), "3e-4", None, True, [1, 2]])
def test_hyperparameters_that_are_no_numbers_are_sent_back(
    value: Any, session_models: Callable[..., Any], serve: Callable[..., Stub]
) -> None:
    wrong = answers({"source": SOURCE, "config_changes": {"learning_rate": value, "no_such_field": 1}})
    stub = serve(wrong, WRITTEN)
    draft = ask_for_a_reward(Role(session_models().for_role("reward_author")))
    assert draft.config_changes == {}
    assert len(stub.seen) == 2

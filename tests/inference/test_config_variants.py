"""A session of several configurations: what a model proposes beside the base, and what the lineage says of each."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from finished_iterations import judgment, leave_training
from pole_answers import PLAN, UP, UPRIGHT
from wire_stub import CANARY, Stub, answers, calls, files_with

from p2p.contracts.intent import Intent
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import EventName, NewSession
from p2p.contracts.spending import Caps
from p2p.service.progress.lineage import record_iteration
from p2p.service.rewards.caller_revision import revise_session, revision_brief
from p2p.service.rewards.revision import revise
from p2p.service.rewards.variants import settled
from p2p.service.sessions.lifecycle import create_session
from p2p.service.training.plan import run_configs
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.sessions import SessionRecord

Serve = Callable[..., Stub]
SENTENCE = "keep the pole balanced"
INTENT = Intent.model_validate({"prompt": SENTENCE, "env_id": "InvertedPendulum-v5", "criteria": [UP]})
STEPS = 10_000
BOTH = {
    "variants": [
        {"directive": "conservative", "config_changes": {"learning_rate": 2e-4}, "reason": "approx_kl 0.05"},
        {"directive": "another_way", "config_changes": {"gamma": 0.97, "gae_lambda": 0.9}},
    ]
}
GOOD = answers({"source": UPRIGHT})
PLANNED = {**PLAN, "config_changes": {"learning_rate": 4e-4}}


def proposed(*variants: tuple[str, dict[str, object]]) -> dict[str, Any]:
    return {"variants": [{"directive": name, "config_changes": changes} for name, changes in variants]}


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Workspace, SessionRecord]]:
    """A session whose first iteration was trained in three configurations and judged, by its files; one was best."""

    def begin(best: str = "baseline", **more: Any) -> tuple[Workspace, SessionRecord]:
        for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"):
            monkeypatch.setenv(name, CANARY)
        ws = Workspace(Settings(runs_dir=tmp_path / "runs", model_silence_s=2))
        request = {
            "prompt": SENTENCE,
            "env_id": "InvertedPendulum-v5",
            "author": "anthropic:claude-opus-5-5",
            "n_seeds": 2,
            "n_configs": 3,
            "caps": Caps(dollars=None, tokens=10_000_000),
        }
        session = create_session(ws, NewSession(**{**request, **more}), intent=INTENT)
        record = ws.record(session.session_id)
        written = RewardDraft(source=UPRIGHT, config_changes={"total_timesteps": STEPS, "episode_s": 4.0})
        train(record, 1, settled(record, 1, written), best)
        return ws, record

    return begin


def train(record: SessionRecord, number: int, draft: RewardDraft, best: str) -> None:
    """Leave what a training and its judgment leave."""
    run_id = leave_training(record, number, draft, best)
    record.iteration(number).save_judgment(judgment(run_id, 0.3, STEPS))
    record_iteration(record, number)


def script(plan: dict[str, Any], *variants: dict[str, Any]) -> dict[str, Any]:
    """What each role answers."""
    return {
        "You improve a reward": [answers(plan), GOOD],
        "You choose hyperparameters": [answers(each) for each in variants],
        "You review a reward": [answers({"approved": True})],
    }


def next_draft(ws: Workspace, record: SessionRecord) -> RewardDraft:
    """The second reward as it would be trained."""
    revision = revise(ws, record.session_id, 1)
    draft = RewardDraft(source=revision.source, config_changes=revision.config_changes, variants=revision.variants)
    return settled(record, 2, draft)


def test_each_directive_gets_a_variant_of_the_plan_and_is_trained_under_its_name(
    begun: Callable[..., Any], serve: Serve, model_name: str
) -> None:
    ws, record = begun(author=model_name)
    stub = serve(by_prompt=script(PLANNED, BOTH))
    draft = next_draft(ws, record)
    assert stub.remaining() == 0
    asked = next(seen for seen in stub.seen if "You choose hyperparameters" in seen.system)
    assert "- conservative: " in asked.system
    assert "- aggressive: " not in asked.system
    assert '"learning_rate":0.0004' in asked.system
    record.iteration(2).save_draft(draft)
    configs = run_configs(record.read_session(), draft)
    assert [key for key in configs if key[1] == 10] == [("baseline", 10), ("conservative", 10), ("another_way", 10)]
    rates = {config_id: config.learning_rate for (config_id, _), config in configs.items()}
    assert rates == {"baseline": 4e-4, "conservative": 2e-4, "another_way": 4e-4}
    assert {config.total_timesteps for config in configs.values()} == {STEPS}
    assert configs["another_way", 11].gamma == 0.97


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (proposed(("conservative", {"learning_rate": 0.5}), ("another_way", {"gamma": 0.97})), "0.005, got 0.5"),
        (proposed(("conservative", {"seed": 7}), ("another_way", {"gamma": 0.97})), "cannot change seed"),
        (proposed(("conservative", {"total_timesteps": 90_000}), ("another_way", {"gamma": 0.97})), "total_timesteps"),
        (
            proposed(("conservative", {"learning_rate": 4e-4}), ("another_way", {"gamma": 0.97})),
            "equals the base",
        ),
        (proposed(("conservative", {"gamma": 0.97}), ("another_way", {"gamma": 0.97})), "are the same"),
        (proposed(("conservative", {"gamma": 0.97})), "one variant for each of another_way, conservative"),
        (proposed(("conservative", {"vf_coef": 1.0}), ("another_way", {"gamma": 0.97})), "fixed vf_coef"),
    ],
)
def test_what_is_no_variant_is_sent_back_once(
    begun: Callable[..., Any], serve: Serve, wrong: dict[str, Any], said: str
) -> None:
    ws, record = begun(config={"vf_coef": 0.6})
    stub = serve(by_prompt=script(PLANNED, wrong, BOTH))
    revision = revise(ws, record.session_id, 1)
    assert [variant.config_id for variant in revision.variants] == ["conservative", "another_way"]
    assert said in next(seen for seen in stub.seen if "cannot be used" in seen.last).last


def test_a_model_that_proposes_nothing_of_use_leaves_the_usual_variants(
    begun: Callable[..., Any], serve: Serve
) -> None:
    ws, record = begun()
    useless = proposed(("conservative", {"gamma": 9}))
    serve(by_prompt=script(PLANNED, useless, useless, useless))
    draft = next_draft(ws, record)
    assert [variant.changes for variant in draft.variants] == [{"learning_rate": 8e-4}, {"learning_rate": 2e-4}]


def test_there_are_no_more_variants_than_the_cap_on_steps_has_room_for(begun: Callable[..., Any], serve: Serve) -> None:
    ws, record = begun(caps=Caps(dollars=None, tokens=10**7, environment_steps=105_000))
    serve(by_prompt=script(PLANNED, BOTH))
    assert len(record.iteration(1).runs()) == 6  # 60,000 steps; each configuration takes another 20,000
    draft = next_draft(ws, record)
    assert [variant.config_id for variant in draft.variants] == ["conservative"]
    (told,) = (event for event in record.events.read() if event.event is EventName.GUARDRAIL)
    assert "1 of 2 variants" in str(told.data["message"])


def test_a_variant_that_did_best_is_the_base_of_the_next_iteration(begun: Callable[..., Any], serve: Serve) -> None:
    ws, record = begun(best="slow")
    stub = serve(by_prompt=script({**PLAN, "config_changes": {}}, BOTH))
    revision = revise(ws, record.session_id, 1)
    assert revision.config_changes == {"total_timesteps": STEPS, "episode_s": 4.0, "learning_rate": 3.5e-4}
    assert '"learning_rate":0.00035' in stub.seen[-2].system


def test_a_caller_goes_on_from_the_variant_that_did_best(begun: Callable[..., Any]) -> None:
    ws, record = begun(best="slow")
    assert revision_brief(ws, record.session_id).config_changes["learning_rate"] == 3.5e-4
    revise_session(ws, record.session_id, UPRIGHT.replace("0.1", "0.2"), config_changes={"gamma": 0.98})
    draft = record.iteration(2).read_draft()
    assert draft is not None
    assert draft.config_changes == {
        "total_timesteps": STEPS,
        "episode_s": 4.0,
        "learning_rate": 3.5e-4,
        "gamma": 0.98,
    }
    assert [variant.changes for variant in draft.variants] == [{"learning_rate": 7e-4}, {"learning_rate": 1.75e-4}]


def test_the_lineage_has_what_every_configuration_was_really_trained_with(
    begun: Callable[..., Any], serve: Serve
) -> None:
    ws, record = begun(best="slow", config={"vf_coef": 0.6})
    serve(by_prompt=script(PLANNED, BOTH))
    train(record, 2, next_draft(ws, record), "conservative")
    first, second = record.read_lineage().iterations.values()
    assert list(first.configs) == ["baseline", "fast", "slow"]
    assert [use.hyperparameters["learning_rate"] for use in first.configs.values()] == [7e-4, 14e-4, 3.5e-4]
    assert [use.best for use in first.configs.values()] == [False, False, True]
    assert (first.configs["slow"].mean_score, first.configs["slow"].n_completed) == (0.5, 2)
    assert second.parent == 1
    assert second.configs["conservative"].directive == "smaller and steadier updates than the base"
    used = [(use.hyperparameters["learning_rate"], use.hyperparameters["vf_coef"]) for use in second.configs.values()]
    assert used == [(4e-4, 0.6), (2e-4, 0.6), (4e-4, 0.6)]
    for config_id, use in second.configs.items():
        trained = record.iteration(2).run(config_id, 11).read_config()
        assert trained is not None
        dumped = trained.model_dump(mode="json")
        assert {name: dumped[name] for name in use.hyperparameters} == use.hyperparameters


def test_a_reviser_sees_in_what_configurations_differed_and_how_they_did(
    begun: Callable[..., Any], serve: Serve
) -> None:
    ws, record = begun(best="slow")
    looked = [
        calls("get_experiment_lineage"),
        calls("get_config_comparison", iteration=1),
        calls("get_iteration_training_dynamics", iteration=1, run_id="fast_seed_10"),
    ]
    stub = serve(by_prompt={**script(PLANNED, BOTH), "You improve a reward": [*looked, answers(PLANNED), GOOD]})
    revise(ws, record.session_id, 1)
    tree, compared, dynamics = (json.loads(seen.results[0]) for seen in stub.seen[1:4])
    (first,) = tree["iterations"].values()
    assert tree["usual_hyperparameters"]["learning_rate"] == 7e-4
    assert first["configs"]["slow"]["hyperparameters"] == {"learning_rate": 3.5e-4}
    assert first["configs"]["baseline"]["hyperparameters"] == {}
    assert compared["configurations"]["fast"] == {
        "directive": "learn twice as fast",
        "differs_in": {"learning_rate": 1.4e-3},
    }
    assert compared["aggregation"]["configs"]["slow"]["mean_best_score"] == 0.5
    assert dynamics["trained_with"]["learning_rate"] == 1.4e-3


def test_reward_only_leaves_every_hyperparameter_alone(begun: Callable[..., Any], serve: Serve, tmp_path: Path) -> None:
    ws, record = begun(n_configs=1, reward_only=True)
    stub = serve(by_prompt=script(PLANNED))
    stub.by_prompt["You improve a reward"][1:1] = [answers({**PLAN, "config_changes": {}})]
    draft = next_draft(ws, record)
    assert "The hyperparameters are fixed" in stub.seen[0].system
    assert "leave config_changes empty" in stub.seen[1].last
    first = record.iteration(1).read_draft()
    assert first is not None
    assert (first.config_changes, draft.config_changes) == ({"episode_s": 4.0}, {"episode_s": 4.0})
    assert draft.variants == ()
    configs = run_configs(record.read_session(), draft)
    usual = run_configs(record.read_session(), RewardDraft(source=""))
    assert {key: config.model_copy(update={"episode_s": 5.0}) for key, config in configs.items()} == usual
    assert not files_with("You choose hyperparameters", tmp_path)


def test_reward_only_holds_for_the_built_in_author_too(begun: Callable[..., Any]) -> None:
    ws, record = begun(n_configs=1, reward_only=True, author="builtin")
    revision = revise(ws, record.session_id, 1)
    assert {change.kind for change in revision.changes} <= {"reward"}


def test_variants_of_what_is_fixed_are_not_asked_for() -> None:
    with pytest.raises(ValueError, match="3 configurations are variants"):
        NewSession(prompt=SENTENCE, n_configs=3, reward_only=True)
    named = {"baseline": {}, "long": {"gamma": 0.999}}
    assert NewSession(prompt=SENTENCE, n_configs=2, reward_only=True, configs=named).n_configs == 2


def test_what_a_person_configured_stays_and_variants_come_beside_it(begun: Callable[..., Any], serve: Serve) -> None:
    ws, record = begun(configs={"baseline": {}, "conservative": {"gamma": 0.9}})
    serve(by_prompt=script(PLANNED, proposed(("another_way", {"gae_lambda": 0.9}))))
    configs = run_configs(record.read_session(), next_draft(ws, record))
    assert {key[0]: (config.gamma, config.gae_lambda) for key, config in configs.items()} == {
        "baseline": (0.99, 0.95),
        "conservative": (0.9, 0.95),
        "another_way": (0.99, 0.9),
    }

"""What a reviser looks up of its session."""

import json
from pathlib import Path

import pytest
from made_up import run_summary
from session_attempts import ATTEMPTS, SOURCE

from p2p.agents.history import SessionHistory, tag_history, trend
from p2p.agents.model.revise_tools import revise_tools
from p2p.contracts.errors import InvalidInput
from p2p.contracts.reward import Change, Lesson, Lineage, Revision
from p2p.contracts.training import TrainConfig
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord

NAMES = [
    *("get_iteration_scores", "get_strategy_summary", "get_experiment_lineage", "get_iteration_reward_code"),
    *("get_iteration_training_dynamics", "compare_iterations", "get_iteration_judgment_detail"),
    *("get_checkpoint_judgments", "get_rollout_judgment", "get_config_comparison", "update_experiment_lessons"),
]


@pytest.fixture
def record(tmp_path: Path) -> SessionRecord:
    """A session whose second iteration was changed into a worse one."""
    record = SessionRecord(tmp_path)
    record.save_lineage(Lineage(lessons=(Lesson(text="Speed alone makes it fall", learned_at=1),)))
    change = Change(kind="reward", name="speed", old=2, new=3, reason="too slow")
    revision = Revision(based_on=2, diagnosis="slow", lesson="", changes=(change,), source="x")
    record.iteration(2).save_revision(revision)
    run = IterationRecord(record.iteration(3).path / "baseline_seed_10")
    run.save_config(TrainConfig())
    for step in (2048, 4096):
        run.append_scalars({"type": "eval", "global_step": step, "mean_return": 1.0, "success_rate": 0.0, "x": 1})
    return record


def ask(record: SessionRecord, name: str, **arguments: object) -> object:
    tools = {tool.name: tool for tool in revise_tools(record, SessionHistory(record, ATTEMPTS))}
    text = tools[name].handler(tools[name].arguments.model_validate(arguments))
    assert isinstance(text, str)
    return json.loads(text) if text[:1] in "[{" else text


def test_there_are_eleven_tools_and_each_says_what_it_is_for(record: SessionRecord) -> None:
    tools = revise_tools(record, SessionHistory(record, ATTEMPTS))
    assert sorted(tool.name for tool in tools) == sorted(NAMES)
    assert all(len(tool.description) > 20 for tool in tools)


def test_scores_come_with_the_trend_and_the_best_source(record: SessionRecord) -> None:
    found = ask(record, "get_iteration_scores", top_k=1)
    assert (found["best"], found["trend"]) == (2, "declining")
    assert found["best_sources"] == {"2": SOURCE.format(2)}


def test_the_strategy_tells_what_kept_going_wrong(record: SessionRecord) -> None:
    found = ask(record, "get_strategy_summary")
    assert found["regressions"] == [{"iteration": 3, "from": 0.6, "to": 0.3, "changed": ["reward speed"]}]
    assert found["persistent_failure_tags"] == ["falls"]
    assert found["oscillating_hyperparameters"] == ["learning_rate"]
    assert found["iterations_since_best"] == 1


def test_a_lesson_is_moved_for_a_reason_and_stays_there(record: SessionRecord) -> None:
    told = ask(record, "update_experiment_lessons", index=0, tier="HARD", reason="iteration 3 fell again")
    assert told == "0. [HARD] Speed alone makes it fall (iteration 1)"
    assert record.read_lineage().lessons[0].tier_reason == "iteration 3 fell again"
    with pytest.raises(InvalidInput, match="no lesson 1"):
        ask(record, "update_experiment_lessons", index=1, tier="HARD", reason="x")


def test_single_things_are_looked_up(record: SessionRecord) -> None:
    assert ask(record, "get_iteration_reward_code", iteration=2) == SOURCE.format(2)
    assert "+    speed = 3" in ask(record, "compare_iterations", iter_a=2, iter_b=3)["diff"]
    assert ask(record, "get_checkpoint_judgments", step=4096) == [
        {"global_step": 4096, "success_rate": 0.0, "mean_return": 1.0}
    ]
    assert ask(record, "get_checkpoint_judgments", detail="all")[0]["x"] == 1
    assert ask(record, "get_rollout_judgment", rollout_label="p90")["seed"] == 2
    assert ask(record, "get_rollout_judgment", episode_idx=3)["label"] is None
    assert "There are 4" in ask(record, "get_rollout_judgment", rollout_label="best")["note"]
    detail = ask(record, "get_iteration_judgment_detail", iteration=3)
    assert "rollouts" not in detail
    assert detail["failure_tag_history"]["slow"] == {"count": 1, "first": 2, "last": 2, "active": False}


def test_a_run_without_a_summary_is_told_and_one_with_it_shows_how_it_trained(record: SessionRecord) -> None:
    assert "no summary" in ask(record, "get_iteration_training_dynamics", iteration=3)["note"]
    run = IterationRecord(record.iteration(3).path / "baseline_seed_10")
    run.save_summary(run_summary(total_timesteps=4096, dynamics={"approx_kl": 0.01}))
    assert ask(record, "get_iteration_training_dynamics", iteration=3)["dynamics"] == {"approx_kl": 0.01}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_iteration_reward_code", {"iteration": 9}),
        ("compare_iterations", {"iter_a": 1, "iter_b": 0}),
        ("get_iteration_training_dynamics", {"iteration": 3, "run_id": "other_seed_1"}),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(
    record: SessionRecord, name: str, arguments: dict[str, object]
) -> None:
    with pytest.raises(InvalidInput, match=r"There (is|are)|It has"):
        ask(record, name, **arguments)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([0.1, 0.2], "too few"),
        ([0.1, 0.2, 0.5, 0.6], "improving"),
        ([0.6, 0.5, 0.2], "declining"),
        ([0.5, 0.5, 0.51], "plateau"),
        ([0.1, 0.9, 0.1, 0.9], "erratic"),
    ],
)
def test_a_trend_is_told_by_its_halves_and_its_swings(values: list[float], said: str) -> None:
    assert trend(values) == said


def test_tags_are_counted_over_the_iterations() -> None:
    assert tag_history(ATTEMPTS)["falls"] == {"count": 3, "first": 1, "last": 3, "active": True}

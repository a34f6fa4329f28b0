"""Criteria made stricter after eyes refused what met them."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from p2p.cli.app import app
from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Category, Comparison, Criterion, Predicate, Statistic
from p2p.contracts.judgment import Observation, Verdict
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession
from p2p.contracts.training import Evaluation, Purpose, Rollout
from p2p.judges import synthesis
from p2p.judges.code import CodeJudge
from p2p.service.judging.by_code import rejudge
from p2p.service.rewards.criteria import replace_criteria, tighten_criteria
from p2p.service.rewards.submission import lesson_of
from p2p.service.sessions.lifecycle import create_session
from p2p.service.training.plan import run_configs, session_for
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.arrays import save_features

REFUSED = Observation(
    is_what_was_meant=False, score=0.2, diagnosis="It slides.", suspected_exploit="It slides on its belly."
)


def criterion(key="fast", threshold=3.0, comparison=Comparison.AT_LEAST, upper=None, **changes):
    predicate = Predicate(
        statistic=Statistic.MEAN,
        feature="velocity_x",
        comparison=comparison,
        threshold=threshold,
        upper=upper,
        unit="m/s",
        margin=1.0,
    )
    fields = {"title": key, "description": "", "category": Category.GAIT, "predicate": predicate, **changes}
    return Criterion(key=key, **fields)


BOUNDED = criterion("bounded", 1.0, Comparison.BETWEEN, 9.0)
SLOW = criterion("slow", 8.0, Comparison.AT_MOST, required=False)


@pytest.fixture
def ws(tmp_path):
    """A service with a session whose first policy runs at 4 m/s in ten rollouts."""
    made = Workspace(Settings(runs_dir=tmp_path))
    request = NewSession(
        prompt="run forward", env_id="HalfCheetah-v5", n_seeds=1, max_iterations=3, stop_when_clear=True
    )
    create_session(made, request, session_id="run")
    replace_criteria(made, "run", (criterion(), BOUNDED, SLOW), extend=False, episode_s=0.5)
    report = made.record("run").iteration(1).report
    rollouts = tuple(Rollout(seed=seed, episode_return=1.0, length=10) for seed in range(10))
    evaluation = Evaluation(run_id="a_seed_1", checkpoint=3, purpose=Purpose.REPORT, dt=0.05, rollouts=rollouts)
    report.save_evaluation(evaluation)
    save_features(report.features_path, [{"velocity_x": np.full(10, 4.0)} for _ in rollouts])
    return made


def judge(ws, observation):
    """The judgment of iteration 1, kept."""
    record = ws.record("run")
    intent, iteration = record.read_criteria(), record.iteration(1)
    code = CodeJudge().judge_report(intent, iteration.report.path, 0.7)
    iteration.save_judgment(made := synthesis.combine(intent, code, observation) if observation else code)
    return made


def test_a_refusal_by_eyes_opens_the_criteria_for_stricter_ones_alone(ws):
    judge(ws, REFUSED)
    made = tighten_criteria(ws, "run", (criterion(threshold=5.0), criterion("new")), "slides", by="a person")
    assert [one.key for one in made.criteria] == ["fast", "bounded", "slow", "new"]
    assert ws.record("run").read_criteria() == made
    (kept,) = ws.record("run").read_tightenings()
    assert (kept.after_iteration, kept.by, kept.why) == (1, "a person", "slides")
    assert kept.before.criteria[0].predicate.threshold == 3.0
    assert rejudge(ws, "run", 1).verdict is Verdict.FAILED
    with pytest.raises(InvalidInput, match="at_least 5 m/s, and at_least 4 m/s would be looser"):
        tighten_criteria(ws, "run", (criterion(threshold=4.0),), "no", by="a person")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (criterion(threshold=2.0), "looser"),
        (criterion(required=False), "stays required"),
        (criterion(weight=9.0), "`weight` and `after` stay"),
        (criterion(predicate=None), "its judge cannot change"),
        (criterion(threshold=1.0, comparison=Comparison.AT_MOST), "only `threshold` and `upper` may change"),
        (criterion("bounded", 2.0, Comparison.BETWEEN, 10.0), "looser"),
        (criterion("bounded", 0.5, Comparison.BETWEEN, 8.0), "looser"),
        (criterion("slow", 9.0, Comparison.AT_MOST, required=False), "looser"),
        (criterion("new", required=False), "must be required"),
        (criterion(title="Faster"), "no stricter than before"),
        (criterion("new", predicate=SLOW.predicate.model_copy(update={"feature": "speeed"})), "reads 'speeed'"),
    ],
)
def test_nothing_gets_looser(ws, changed, words):
    judge(ws, REFUSED)
    before = ws.record("run").read_criteria()
    with pytest.raises(InvalidInput, match=words):
        tighten_criteria(ws, "run", (changed,), "why", by="a person")
    assert ws.record("run").read_criteria() == before
    assert ws.record("run").read_tightenings() == ()


@pytest.mark.parametrize("observation", [None, Observation(is_what_was_meant=True, score=1.0, diagnosis="It runs.")])
def test_criteria_that_eyes_did_not_refuse_stay(ws, observation):
    judge(ws, observation)
    with pytest.raises(InvalidInput, match="stay as they are"):
        tighten_criteria(ws, "run", (criterion(threshold=5.0),), "why", by="a person")


def test_what_passes_by_stricter_criteria_passes_by_those_before_too(ws):
    """A new criterion that is easily met would lift the weighted score over what is needed."""
    heavy = criterion("slow", 1.0, Comparison.AT_MOST, required=False, weight=10.0)
    replace_criteria(ws, "run", (criterion(), heavy), extend=False, episode_s=0.5)
    judge(ws, REFUSED)
    assert rejudge(ws, "run", 1).verdict is Verdict.FAILED
    made = tighten_criteria(ws, "run", (criterion("easy", 0.0, weight=1000.0),), "why", by="a person")
    report = ws.record("run").iteration(1).report
    assert CodeJudge().judge_report(made, report.path, 0.8).verdict is Verdict.PASSED
    judgment = rejudge(ws, "run", 1)
    assert judgment.verdict is Verdict.FAILED
    assert judgment.intent_score < 0.8
    assert "by criteria before they were made stricter" in judgment.diagnosis
    assert judgment.success_rate == 0.0, "it is never the best attempt"
    assert "refused by the criteria as they were" in lesson_of(judgment, 1)
    content = Observation(is_what_was_meant=True, score=1.0, diagnosis="It runs.")
    assert synthesis.combine(made, judgment, content).verdict is Verdict.FAILED, "eyes do not lift a veto of code"


def test_a_training_does_not_end_early_on_criteria_that_eyes_refused(ws):
    def stops(number):
        draft = RewardDraft(source="")
        (config,) = run_configs(session_for(ws.record("run"), number), draft).values()
        return config.stop_at_score

    assert stops(1) == 0.8
    judge(ws, REFUSED)
    assert (stops(1), stops(2)) == (0.8, None), "what is trained already keeps its configuration"
    tighten_criteria(ws, "run", (criterion(threshold=5.0),), "slides", by="a person")
    assert stops(2) == 0.8


def test_the_lesson_of_a_refused_policy_says_why(ws):
    lesson = lesson_of(judge(ws, REFUSED), 1)
    assert "It slides on its belly" in lesson
    assert "every criterion was met." not in lesson


def test_a_training_cancelled_before_its_first_evaluation_leaves_the_criteria_open(ws):
    run = ws.record("run").iteration(1).run("baseline", 10)
    run.save_criteria(ws.record("run").read_criteria())
    made = replace_criteria(ws, "run", (criterion("other"),), extend=False)
    assert run.read_criteria() == made
    rollouts = (Rollout(seed=1, episode_return=1.0, length=10),)
    run.checkpoint(2048).save_evaluation(
        Evaluation(run_id="r", checkpoint=2048, purpose=Purpose.SELECTION, dt=0.05, rollouts=rollouts)
    )
    with pytest.raises(InvalidInput, match="has been trained under its criteria"):
        replace_criteria(ws, "run", (criterion(),), extend=False)


def test_the_command_raises_a_threshold(ws, tmp_path):
    judge(ws, REFUSED)
    words = ["tighten", "run", "--threshold", "fast=5", "--require", "slow", "--why", "it slides", "--by", "me"]
    found = CliRunner().invoke(app, [*words, "--json", "--runs-dir", str(tmp_path)])
    assert found.exit_code == 0, found.output
    criteria = json.loads(found.stdout)["criteria"]
    assert [(c["key"], c["required"], c["predicate"]["threshold"]) for c in criteria] == [
        ("fast", True, 5.0),
        ("bounded", True, 1.0),
        ("slow", True, 8.0),
    ]

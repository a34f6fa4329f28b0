"""A training that ends when its verdict is clear."""

from dataclasses import replace

import numpy as np
import pytest

from p2p.contracts.intent import Category, Comparison, Criterion, Intent, Predicate, Statistic
from p2p.contracts.training import Purpose, first_seed
from p2p.store.arrays import load_arrays
from p2p.worker.training.checkpoints import Checkpoints
from p2p.worker.training.run import Run
from p2p.worker.training.selection import Selection
from p2p.worker.training.train import train

SIZES = {"total_timesteps": 8 * 256, "n_envs": 8, "n_steps": 32, "batch_size": 64, "num_evals": 4}


def intent(at_least):
    wanted = Predicate(
        statistic=Statistic.MEAN,
        feature="velocity_x",
        comparison=Comparison.AT_LEAST,
        threshold=at_least,
        unit="m/s",
        margin=1.0,
    )
    criterion = Criterion(key="speed", title="speed", description="", category=Category.GAIT, predicate=wanted)
    return Intent(prompt="run", env_id="HalfCheetah-v5", criteria=(criterion,), episode_s=0.5)


@pytest.fixture
def made(make_run, small, class_reward):
    """Writes the directory of a small run that may end early."""

    def make(at_least=-50.0, **options):
        sizes = {**SIZES, "n_eval_episodes": 16, "stop_at_score": 0.8, **options}
        record = make_run(small.model_copy(update=sizes), class_reward)
        record.save_criteria(intent(at_least))
        return record

    return make


def selection(step, clear):
    return Selection(
        step=step, mean_return=0.0, intent_score=1.0, success_rate=1.0, terms={}, row={"clear": clear} if clear else {}
    )


COURSES = [
    ([], False),
    ([True], False),
    ([False, True], False),
    ([True, False], False),
    ([True, True], True),
    ([True, False, True], False),
    ([False, True, True], True),
]
"""Which checkpoints were clear, and whether the training may end at the last one."""


def test_two_clear_checkpoints_in_a_row_are_needed(made):
    run = Run.open(made())
    for course, expected in COURSES:
        checkpoints = Checkpoints(run, own_process=False)
        checkpoints.restore([selection(step, clear) for step, clear in enumerate(course)], [])
        assert checkpoints.clear() is expected, course


def test_checkpoints_are_chosen_by_success_then_score_then_return_and_not_by_age():
    courses = [(0.2, 0.9, 9.0), (0.5, 0.6, 1.0), (0.5, 0.7, 2.0), (0.5, 0.7, 1.0), (0.4, 0.9, 99.0)]
    selections = [
        Selection(step=step, mean_return=total, intent_score=score, success_rate=success, terms={}, row={})
        for step, (success, score, total) in enumerate(courses)
    ]
    assert max(selections, key=lambda one: one.rank).step == 2


@pytest.mark.slow
def test_a_training_ends_at_the_second_clear_checkpoint_and_is_as_any_other_until_then(made):
    whole = made(stop_at_score=None, num_evals=8)
    train(whole.path)
    policies = {checkpoint.step: load_arrays(checkpoint.policy_path) for checkpoint in whole.checkpoints()}
    assert sorted(policies) == [256 * number for number in range(1, 9)]
    assert whole.read_summary().early_stop is None
    assert "clear" not in whole.parse_scalars()[1][0]

    early = made()
    train(early.path)
    summary, (rows, evaluations) = early.read_summary(), early.parse_scalars()
    stop = summary.early_stop
    assert (stop.step, stop.planned, stop.steps_saved, summary.total_timesteps) == (768, 2048, 1280, 768)
    assert "at steps 512 and 768 passed" in stop.reason, "once one passes, it looks again at once"
    assert [row["global_step"] for row in rows] == [256, 512, 768]
    assert [row["clear"] for row in evaluations] == [True, True]
    assert summary.best_checkpoint in (512, 768)
    first = first_seed(Purpose.SELECTION, early.read_config().seed)
    for checkpoint in early.checkpoints():
        seeds = [rollout.seed for rollout in checkpoint.read_evaluation().rollouts]
        assert seeds == list(range(first, first + 16)), "what ends a training is what chooses among its checkpoints"
        mine, theirs = load_arrays(checkpoint.policy_path), policies[checkpoint.step]
        assert all(np.array_equal(mine[name], theirs[name]) for name in theirs)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_it_looks_again_after_a_quarter_of_the_way_wherever_checkpoints_are_evaluated(made, monkeypatch, threads):
    monkeypatch.setenv("P2P_THREADS", str(threads))
    record = made(num_evals=2, total_timesteps=16 * 256)
    train(record.path)
    assert [row["global_step"] for row in record.parse_scalars()[1]] == [8 * 256, 10 * 256]


@pytest.mark.parametrize(
    ("successes", "expected"), [([], False), ([0.0], False), ([0.8], True), ([1.0, 0.75], False), ([0.1, 0.9], True)]
)
def test_only_a_checkpoint_that_passes_is_looked_at_again_soon(made, successes, expected):
    checkpoints = Checkpoints(Run.open(made()), own_process=False)
    checkpoints.restore([replace(selection(step, False), success_rate=rate) for step, rate in enumerate(successes)], [])
    assert checkpoints.last_passes() is expected


@pytest.mark.slow
def test_where_rollouts_are_too_few_as_many_more_decide_whether_it_is_clear_and_choose_nothing(made):
    record = made(n_eval_episodes=8)
    train(record.path)
    assert record.read_summary().early_stop.step == 768
    for checkpoint in record.checkpoints():
        assert len(checkpoint.read_evaluation().rollouts) == 8


@pytest.mark.slow
def test_a_training_whose_verdict_is_not_clear_makes_all_its_steps(made):
    record = made(at_least=50.0)
    train(record.path)
    summary = record.read_summary()
    assert (summary.total_timesteps, summary.early_stop) == (2048, None)
    assert [row["clear"] for row in record.parse_scalars()[1]] == [False] * 4

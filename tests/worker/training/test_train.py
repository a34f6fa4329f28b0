import math
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from shared_sessions import drawing

from p2p.analysis.predicates import measure
from p2p.analysis.scoring import score
from p2p.contracts.errors import EnvironmentProblem, InvalidConfig, InvalidInput, RewardFailed
from p2p.contracts.intent import Category, Comparison, Criterion, Intent, Predicate, Statistic
from p2p.contracts.training import Purpose, first_seed
from p2p.contracts.work import EvaluateRequest, FilmRequest
from p2p.judges.code import CodeJudge
from p2p.store.arrays import load_arrays, load_features
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import SheetRecord, take_over
from p2p.store.policy import load_policy
from p2p.worker.evaluate import evaluate
from p2p.worker.film import film_runs
from p2p.worker.pictures import report_pictures as pictures
from p2p.worker.reward_source.loader import LoadedReward
from p2p.worker.rollout.episodes import judged_config, run_episodes
from p2p.worker.training.resume import INTERVAL
from p2p.worker.training.train import train

pytestmark = pytest.mark.slow

LABELS = ("p10", "median", "p90")
NAN_LATE = """
def reward_fn(obs, action, next_obs, info):
    bad = 0.0 if info["time"] < 0.97 else float("nan")
    return 1.0 + bad, {"good": 1.0, "bad": bad}
"""


def criterion(key, threshold):
    predicate = Predicate(
        statistic=Statistic.MEAN,
        feature="velocity_x",
        comparison=Comparison.AT_LEAST,
        threshold=threshold,
        unit="m/s",
        margin=1.0,
    )
    return Criterion(key=key, title=key, description="", category=Category.GAIT, predicate=predicate)


INTENT = Intent(
    prompt="run",
    env_id="HalfCheetah-v5",
    criteria=(criterion("not_backward", -50.0), criterion("forward", 50.0)),
    episode_s=0.5,
)


def film(record):
    """Make the videos of a run's checkpoints."""
    job = IterationRecord(record.film_dir)
    job.save_film_request(FilmRequest(runs=("..",)))
    with drawing():
        film_runs(job.path)


@pytest.fixture(scope="module")
def run(tmp_path_factory, cheetah, small, class_reward):
    """A finished training with criteria, in the directory of an iteration."""
    record = IterationRecord(tmp_path_factory.mktemp("iter_1") / "baseline_seed_1")
    record.save_config(small.model_copy(update={"iteration_id": record.iteration_id}))
    record.save_env_spec(cheetah)
    record.save_reward_source(class_reward)
    record.save_criteria(INTENT)
    train(record.path)
    film(record)
    return record


def test_a_finished_run_lacks_nothing(run):
    assert run.validate() == []
    assert run.derive_status() == "completed"
    summary = run.read_summary()
    assert summary.total_timesteps == 4096
    assert summary.total_episodes > 4096 // 20 - 16
    assert [term.name for term in summary.terms] == ["speed", "ctrl"]
    assert summary.best_checkpoint in {checkpoint.step for checkpoint in run.checkpoints()}
    assert summary.best_selection_success == 0.0
    assert summary.best_selection_score == 0.5
    assert summary.dynamics["updates"] == 4


def test_every_rollout_has_a_row_with_all_metrics(run):
    training, _ = run.parse_scalars()
    assert [row["global_step"] for row in training] == [1024, 2048, 3072, 4096]
    assert [row["iteration"] for row in training] == [1, 2, 3, 4]
    numbers = [
        "policy_loss",
        "value_loss",
        "entropy",
        "approx_kl",
        "clip_fraction",
        "explained_variance",
        "policy_std",
        "episodic_return",
        "episodic_return_std",
        "episodic_return_min",
        "episodic_return_max",
        "episode_length",
        "episodes_per_rollout",
        "grad_norm",
        "sps",
        "learning_rate",
        "elapsed_time",
        "rollout_time",
        "train_time",
        "reward_term_speed",
        "reward_term_ctrl",
    ]
    for row in training:
        assert all(math.isfinite(row[name]) for name in numbers)
        assert row["device"] == "cpu"
        gaussian = 6 * (0.5 * math.log(2 * math.pi * math.e) + math.log(row["policy_std"]))
        assert row["entropy"] == pytest.approx(gaussian, abs=0.05)  # that of the update's middle, not its end
        assert row["episode_length"] == 20
    rates = [row["learning_rate"] for row in training]
    assert rates == sorted(rates, reverse=True)


def test_every_evaluation_has_a_row_with_returns_and_criteria(run):
    _, rows = run.parse_scalars()
    assert [row["global_step"] for row in rows] == [2048, 4096]
    for row in rows:
        assert row["min_return"] <= row["p10_return"] <= row["median_return"] <= row["p90_return"] <= row["max_return"]
        assert row["mean_return"] == pytest.approx(np.mean(row["all_returns"]))
        assert len(row["all_returns"]) == 3
        assert row["episode_length"] == 10
        assert set(row["reward_terms"]) == {"speed", "ctrl"}
        assert row["criteria"]["forward"] == row["criteria"]["not_backward"]
        assert row["criteria_met"] == {"not_backward": 1.0, "forward": 0.0}
        assert (row["intent_score"], row["success_rate"]) == (0.5, 0.0)


def test_every_evaluation_keeps_its_policy_its_rollouts_and_their_videos(run):
    assert [checkpoint.step for checkpoint in run.checkpoints()] == [2048, 4096]
    for checkpoint in run.checkpoints():
        assert checkpoint.model_path.exists()
        assert checkpoint.normalizer_path.exists()
        evaluation = checkpoint.read_evaluation()
        assert (evaluation.run_id, evaluation.purpose) == ("baseline_seed_1", Purpose.SELECTION)
        first = first_seed(Purpose.SELECTION, 1)
        assert [rollout.seed for rollout in evaluation.rollouts] == [first, first + 1, first + 2]
        assert {rollout.label for rollout in evaluation.rollouts} == set(LABELS)
        measured = [measure(INTENT, one, evaluation.dt) for one in load_features(checkpoint.features_path)]
        scored = sorted(score(INTENT, measured, evaluation.rollouts).rollouts, key=lambda one: LABELS.index(one.label))
        assert scored == sorted(scored, key=lambda one: one.intent_score)
        assert [len(features["time"]) for features in load_features(checkpoint.features_path)] == [10] * 3
        for rollout in evaluation.rollouts:
            arrays = load_arrays(run.trajectory(checkpoint.step, rollout.label))
            assert arrays["reward"].sum() == rollout.episode_return
            assert run.video(checkpoint.step, rollout.label).stat().st_size > 1000


def test_more_cores_change_nothing_but_the_time(run, make_run, class_reward, monkeypatch):
    """With two cores the physics is spread, and checkpoints are evaluated in a process beside the training."""
    monkeypatch.setenv("P2P_THREADS", "2")
    again = make_run(run.read_config(), class_reward)
    again.save_criteria(INTENT)
    train(again.path)
    for one, two in zip(run.checkpoints(), again.checkpoints(), strict=True):
        assert one.read_evaluation().rollouts == two.read_evaluation().rollouts
        policies = load_arrays(one.policy_path), load_arrays(two.policy_path)
        assert all(np.array_equal(policies[0][name], policies[1][name]) for name in policies[0])
    assert [row["mean_return"] for row in run.parse_scalars()[1]] == [
        row["mean_return"] for row in again.parse_scalars()[1]
    ]


@pytest.mark.nightly
def test_memory_does_not_grow_with_the_steps(make_run, small, class_reward):
    """Two trainings in processes of their own, one ten times as long; both far past the first rollouts."""
    peaks = []
    for steps in (10_240, 102_400):
        config = small.model_copy(update={"total_timesteps": steps, "num_evals": 1, "net_arch": (16, 16)})
        record = make_run(config, class_reward)
        command = [sys.executable, "-m", "p2p.worker", "train", str(record.path)]
        subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
        peaks.append(record.read_summary().peak_memory_mb)
    assert peaks[1] - peaks[0] < 5
    assert max(peaks) < 120


def test_a_checkpoint_repeats_its_recorded_returns_to_the_bit(run, cheetah):
    reward = LoadedReward.from_file(run.reward_fn_path)
    config = judged_config(run.read_config(), INTENT)
    for checkpoint in run.checkpoints():
        policy = load_policy(checkpoint.policy_path)
        for recorded in checkpoint.read_evaluation().rollouts:
            (again,) = run_episodes(config, cheetah, policy, [recorded.seed], reward)
            assert again.episode_return == recorded.episode_return


def report_on(run):
    """Record the report rollouts of a run; the iteration."""
    iteration = IterationRecord(run.path.parent)
    job = IterationRecord(iteration.report.path)
    job.save_env_spec(run.read_env_spec())
    job.save_criteria(INTENT)
    request = EvaluateRequest(
        run_dir="../baseline_seed_1", run_id="baseline_seed_1", checkpoint=2048, n_rollouts=10, sibling_runs=()
    )
    iteration.report.save_request(request)
    evaluate(job.path)
    return iteration


def test_the_trained_reward_has_no_say_in_which_rollouts_of_a_report_are_shown(run, tmp_path):
    """Eyes see three of them: a reward that returns what it likes would choose these."""
    shown = []
    for sign in (1, -1):
        copy = IterationRecord(shutil.copytree(run.path, tmp_path / str(sign) / run.path.name))
        body = f"    r = {sign} * float(obs.sum())\n    return r, {{'r': r}}\n"
        copy.save_reward_source(f"def reward_fn(obs, action, next_obs, info):\n{body}")
        rollouts = report_on(copy).report.read_evaluation().rollouts
        shown.append({rollout.label: rollout.seed for rollout in rollouts if rollout.label})
    assert shown[0] == shown[1]


@pytest.mark.usefixtures("pictures")
def test_the_report_is_made_on_seeds_nobody_selected_on(run):
    iteration = report_on(run)
    evaluation = iteration.report.read_evaluation()
    first = first_seed(Purpose.REPORT, 1)
    assert evaluation.purpose is Purpose.REPORT
    assert [rollout.seed for rollout in evaluation.rollouts] == list(range(first, first + 10))
    assert len(load_features(iteration.report.features_path)) == 10
    judged = CodeJudge().judge_report(INTENT, iteration.report.path, 0.7)
    scores = sorted(rollout.intent_score for rollout in judged.rollouts)
    shown = {rollout.label: rollout.intent_score for rollout in judged.rollouts if rollout.label}
    assert [shown[label] for label in LABELS] == [scores[1], scores[4], scores[8]]
    for label in LABELS:
        assert iteration.report.trajectory(2048, label).exists()
        assert iteration.report.video(label).exists()
    take_over(iteration.report.path, iteration.path)
    notes = SheetRecord(iteration.path).read_result()
    assert all((iteration.path / note.path).exists() for note in notes.frames if note.path)
    assert iteration.contact_sheet_path.exists()
    assert iteration.learning_curve_path.exists()


def test_a_report_without_its_run_is_refused(tmp_path, cheetah):
    job = IterationRecord(tmp_path / "report")
    with pytest.raises(InvalidInput, match="holds no readable request"):
        evaluate(job.path)
    job.save_env_spec(cheetah)
    IterationRecord(tmp_path).report.save_request(
        EvaluateRequest(run_dir="../nothing", run_id="nothing", checkpoint=1, n_rollouts=10)
    )
    with pytest.raises(InvalidInput, match=r"nothing/config\.json is missing"):
        evaluate(job.path)


def test_a_nan_reward_ends_the_run_named_and_leaves_the_metrics_readable(make_run, small, monkeypatch):
    monkeypatch.setenv(INTERVAL, "0")
    config = small.model_copy(update={"episode_s": 8.0, "num_evals": 1})
    record = make_run(config, NAN_LATE.replace("0.97", "6.97"))
    with pytest.raises(RewardFailed, match=r"term 'bad' became nan at step 22\d\d .*step 140 of its episode"):
        train(record.path)
    training, _ = record.parse_scalars()
    assert [row["global_step"] for row in training] == [1024, 2048]
    assert record.read_summary() is None
    assert not list(record.path.glob("resume*")), "it would fail there again"


def test_the_command_ends_with_the_errors_code_and_message(make_run, small):
    record = make_run(small, NAN_LATE)
    command = [sys.executable, "-m", "p2p.worker", "train", str(record.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1].startswith("the reward's term 'bad' became nan at step 320 ")
    assert "Traceback" not in done.stderr


def test_what_an_interrupted_attempt_left_is_removed(make_run, small, class_reward):
    record = make_run(small.model_copy(update={"total_timesteps": 1024, "num_evals": 1}), class_reward)
    record.append_scalars({"global_step": 7})
    record.checkpoint(7).path.mkdir(parents=True)
    train(record.path)
    assert [checkpoint.step for checkpoint in record.checkpoints()] == [1024]
    assert [row["global_step"] for row in record.parse_scalars()[0]] == [1024]


def test_a_picture_that_fails_is_reported_and_fails_nothing(make_run, small, class_reward, monkeypatch, capsys):
    def broken(path, *_args):
        raise EnvironmentProblem("no pictures here") if "p10" in path.name else RuntimeError("bug")

    monkeypatch.setattr(pictures, "write_rollout_video", broken)
    record = make_run(small.model_copy(update={"total_timesteps": 1024, "num_evals": 1}), class_reward)
    train(record.path)
    film(record)
    said = capsys.readouterr().err
    assert "eval_1024_p10.mp4 could not be made: no pictures here" in said
    assert "RuntimeError: bug" in said


def test_a_run_that_cannot_start_says_why(tmp_path, make_run, small, class_reward):
    with pytest.raises(InvalidInput, match=r"config\.json is missing or not valid"):
        train(tmp_path)
    with pytest.raises(InvalidConfig, match="seed must lie in"):
        train(make_run(small.model_copy(update={"seed": 1000}), class_reward).path)

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from conftest import STEP, random_actor_critic, save_rollouts

from p2p.contracts.commands import Commands
from p2p.contracts.errors import InvalidInput, P2PError
from p2p.contracts.observe import Milestone, Observe
from p2p.contracts.training import Purpose, first_seed
from p2p.contracts.work import ExportFormat, ExportRequest
from p2p.envs import catalog
from p2p.store.exports import ExportRecord
from p2p.store.iterations import IterationRecord
from p2p.worker.export.interface import describe_interface
from p2p.worker.export.job import export
from p2p.worker.export.onnx import save_onnx
from p2p.worker.export.replayed_episodes import recorded_episode
from p2p.worker.export.source import open_source
from p2p.worker.export.verify import check_format
from p2p.worker.reward_source.loader import LoadedReward
from p2p.worker.rollout.episodes import run_episodes

ALL = tuple(ExportFormat)
RUN_WITHOUT_P2P = (
    "import sys, runpy; sys.modules['p2p'] = None; sys.argv = sys.argv[1:];"
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)


def worker(*arguments):
    """The worker in a process of its own, which it confines."""
    command = [sys.executable, "-m", "p2p.worker", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))


@pytest.fixture
def make_job(tmp_path):
    """Writes the job of an export."""

    def make(formats=(ExportFormat.ONNX,), step=STEP):
        record = ExportRecord(tmp_path / "job")
        run_dir = "../iter_1/baseline_seed_1"
        record.save_request(ExportRequest(run_dir=run_dir, checkpoint=step, formats=formats, license="mit"))
        return record

    return make


def reported(run, seeds):
    """Add report rollouts of the checkpoint."""
    config, spec, source = run.read_config(), run.read_env_spec(), run.read_reward_source()
    policy = open_source(run.path, STEP).policy
    rollouts = run_episodes(config, spec, policy, seeds, LoadedReward(source))
    save_rollouts(run, IterationRecord(run.path.parent).report, rollouts, spec, Purpose.REPORT)
    return rollouts


def test_every_format_acts_as_the_policy_and_replays_the_recorded_episode_without_p2p_too(make_checkpoint, make_job):
    run, job = make_checkpoint(), make_job(ALL)
    assert worker("export", job.path).returncode == 0
    names = [path.name for path in job.package.present()]
    assert names == [
        *("README.md", "config.json", "reward_fn.py", "policy.npz", "model.zip", "vecnormalize.pkl"),
        *("policy.onnx", "policy.pt", "replay.py", "export.json"),
    ]
    report = job.package.read_report()
    evaluation = run.checkpoint(STEP).read_evaluation()
    median = next(rollout for rollout in evaluation.rollouts if rollout.label == "median")
    assert (report.episode.seed, report.episode.steps) == (median.seed, 20)
    assert report.episode.trained_return == median.episode_return
    assert [check.format for check in report.checks] == ["sb3", "onnx", "torchscript", "sb3-predict", "numpy"]
    for check in report.checks:
        assert check.n_observations == 60
        assert check.max_difference <= 1e-6
        exact = 1e-3 if check.format == "sb3-predict" else 0.0
        assert check.trained_return == pytest.approx(report.episode.trained_return, abs=exact)
        assert check.gymnasium_return == pytest.approx(report.episode.gymnasium_return, abs=exact)
    assert report.versions["onnx"]
    assert report.trained_returns.n == report.gymnasium_returns.n == 4
    assert report.trained_returns.low < report.trained_returns.mean < report.trained_returns.high
    for name in ("sb3", "onnx", "torchscript", "numpy"):
        replay_without_p2p(job, name)


def replayed(job, *options):
    """The replay in the folder, without p2p."""
    command = [sys.executable, "-c", RUN_WITHOUT_P2P, str(job.package.replay_path), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")


def replay_without_p2p(job, name):
    """The replay in the folder needs no p2p, and meets the recorded return."""
    done = replayed(job, "--format", name)
    assert done.returncode == 0, done.stderr
    assert "difference 0" in done.stdout, name
    assert f"recorded {job.package.read_report().episode.gymnasium_return:.6f}" in done.stdout


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["sb3", "onnx", "torchscript"])
def test_the_replay_of_a_folder_with_one_format_needs_no_other(make_checkpoint, make_job, name):
    make_checkpoint()
    job = make_job((ExportFormat(name),))
    export(job.path)
    replay_without_p2p(job, name)


def test_the_replay_says_when_the_return_is_another(make_checkpoint, make_job):
    make_checkpoint()
    job = make_job()
    export(job.path)
    facts = json.loads(job.package.report_path.read_text())
    facts["episode"]["seed"] += 1
    job.package.report_path.write_text(json.dumps(facts))
    done = subprocess.run([sys.executable, job.package.replay_path], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "difference 0\n" not in done.stdout


def test_gymnasiums_return_of_the_recorded_episode_is_that_of_the_recorded_actions(make_checkpoint, cheetah):
    run = make_checkpoint()
    source = open_source(run.path, STEP)
    episode = recorded_episode(source, describe_interface(source))
    (rollout,) = run_episodes(run.read_config(), cheetah, source.policy, [episode.seed])
    assert rollout.episode_return == pytest.approx(episode.gymnasium_return, rel=1e-12)


def test_report_rollouts_are_taken_where_they_are_of_this_checkpoint(make_checkpoint):
    run = make_checkpoint()
    assert open_source(run.path, STEP).evaluation.purpose is Purpose.SELECTION
    first = first_seed(Purpose.REPORT, 1)
    rollouts = reported(run, range(first, first + 5))
    source = open_source(run.path, STEP)
    assert source.evaluation.purpose is Purpose.REPORT
    assert source.rollout.episode_return == sorted(rollout.episode_return for rollout in rollouts)[2]
    evaluation = source.evaluation.model_copy(update={"checkpoint": 7})
    IterationRecord(run.path.parent).report.save_evaluation(evaluation)
    assert open_source(run.path, STEP).evaluation.purpose is Purpose.SELECTION


def test_a_file_that_acts_otherwise_is_refused(make_checkpoint, tmp_path):
    run = make_checkpoint()
    source = open_source(run.path, STEP)
    episode = recorded_episode(source, describe_interface(source))
    other = replace(source.policy, biases=(*source.policy.biases[:-1], source.policy.biases[-1] + 1e-3))
    save_onnx(other, {}, tmp_path / "policy.onnx")
    with pytest.raises(P2PError, match=r"The onnx file does not reproduce the policy: .* by up to 0\.0005"):
        check_format("onnx", (tmp_path / "policy.onnx",), source, episode)


def test_an_action_that_is_not_a_number_is_refused(make_checkpoint, tmp_path):
    source = open_source(make_checkpoint().path, STEP)
    episode = recorded_episode(source, describe_interface(source))
    save_onnx(replace(source.policy, mean=source.policy.mean * np.nan), {}, tmp_path / "policy.onnx")
    with pytest.raises(P2PError, match="differ by up to nan"):
        check_format("onnx", (tmp_path / "policy.onnx",), source, episode)


@pytest.mark.parametrize("env_id", ["Ant-v5", "InvertedPendulum-v5"])
def test_an_environment_is_made_as_it_was_evaluated(make_checkpoint, make_job, env_id):
    spec = catalog.load(env_id)
    kwargs = {"include_cfrc_ext_in_observation": False} if env_id == "Ant-v5" else {}
    dim = 27 if kwargs else spec.obs_dim
    seen = spec.model_copy(update={"observation": spec.observation[:dim]})
    make_checkpoint(random_actor_critic(seen), spec, env_kwargs=kwargs, terminate_when_unhealthy=True, episode_s=4.0)
    job = make_job()
    export(job.path)
    report = job.package.read_report()
    knows = {"terminate_when_unhealthy": False} if env_id == "Ant-v5" else {}
    assert report.episode.env_kwargs == {**kwargs, **knows}
    assert [check.gymnasium_return for check in report.checks] == [report.episode.gymnasium_return] * 2
    metadata = describe_interface(open_source(job.path.parent / "iter_1" / "baseline_seed_1", STEP)).metadata()
    assert len(json.loads(metadata["observation"])) == dim


@pytest.mark.parametrize("lost", ["request", "policy", "rollouts", "config"])
def test_what_cannot_be_exported_is_said_in_one_line(make_checkpoint, make_job, lost):
    run, job = make_checkpoint(), make_job()
    if lost == "request":
        next(job.path.glob("*.json")).unlink()
    if lost == "policy":
        run.checkpoint(STEP).policy_path.unlink()
    if lost == "rollouts":
        for label in ("p10", "median", "p90"):
            run.trajectory(STEP, label).unlink()
    if lost == "config":
        run.config_path.unlink()
    done = worker("export", job.path)
    assert done.returncode == InvalidInput.exit_code
    (line,) = done.stderr.splitlines()
    said = {"request": "no readable request", "policy": "holds no policy", "rollouts": "No rollout", "config": "config"}
    assert said[lost] in line
    assert job.package.read_report() is None


def told_more(spec, names):
    """A policy that acts by further inputs, too."""
    plain = random_actor_critic(spec)
    more = len(names)
    rng = np.random.default_rng(4)
    return replace(
        plain,
        weights=(
            np.concatenate([plain.weights[0], rng.normal(0.0, 0.5, (more, 32)).astype(np.float32)]),
            *plain.weights[1:],
        ),
        value_weights=(
            np.concatenate([plain.value_weights[0], np.zeros((more, 16), np.float32)]),
            *plain.value_weights[1:],
        ),
        mean=np.concatenate([plain.mean, np.zeros(more)]),
        variance=np.concatenate([plain.variance, np.ones(more)]),
        observed=tuple(names),
    )


COMMANDS = Commands(velocity_x=(0.0, 1.0), velocity_y=(-0.3, 0.3), yaw_rate=(-0.5, 0.5), resample_s=1.0)


def test_a_policy_that_follows_commands_is_replayed_without_p2p_and_told_others(make_checkpoint, make_job):
    ant = catalog.load("Ant-v5")
    observe = Observe(features=("time",))
    names = ("time", "command_velocity_x", "command_velocity_y", "command_yaw_rate")
    run = make_checkpoint(told_more(ant, names), ant, observe=observe, commands=COMMANDS)
    job = make_job(ALL)
    export(job.path)
    report = job.package.read_report()
    assert report.episode.commands == COMMANDS.of_episode(ant)
    for check in report.checks:
        if check.format != "sb3-predict":
            assert check.gymnasium_return == pytest.approx(report.episode.gymnasium_return, abs=1e-6)
    card = (job.package.path / "README.md").read_text()
    assert "Its last 3 inputs are commands" in card
    assert "yaw_rate in [-0.5, 0.5] rad/s" in card
    assert "| 106 | command_velocity_x | Command that forward_velocity is to follow. | m/s | episode |" in card
    for name in ("onnx", "numpy"):
        replay_without_p2p(job, name)
    (rollout,) = run_episodes(run.read_config(), ant, open_source(run.path, STEP).policy, [report.episode.seed])
    errors = [rollout.features[name].mean() for name in ("velocity_error", "yaw_rate_error")]
    assert f"velocity {errors[0]:.3f} m/s, of the yaw rate {errors[1]:.3f}" in replayed(job, "--format", "numpy").stdout
    steered = replayed(job, "--format", "numpy", "--command", "0.8,0,-2")
    assert steered.returncode == 0
    assert "yaw_rate -2 lies outside [-0.5, 0.5]" in steered.stdout
    assert "Commands 0.8,0,-2: mean error of the velocity" in steered.stdout
    assert replayed(job, "--format", "numpy", "--command=-0.2,0,0").returncode == 0
    assert "replay.py --command 1,0,0" in card
    for wrong in ("0.8", "a,b,c", "nan,0,0"):
        refused = replayed(job, "--command", wrong)
        assert refused.returncode == 2
        assert "expected 3 numbers, velocity_x,velocity_y,yaw_rate" in refused.stderr


def test_a_policy_that_is_told_where_to_face_and_how_high_to_be_is_replayed_without_p2p(make_checkpoint, make_job):
    ant = catalog.load("Ant-v5")
    facing = Commands(velocity_x=(0.0, 1.0), heading=(-3.0, 3.0), height=(0.4, 0.7), resample_s=1.0)
    names = ("command_velocity_x", "command_velocity_y", "command_heading", "command_height")
    run = make_checkpoint(told_more(ant, names), ant, commands=facing)
    job = make_job(ALL)
    export(job.path)
    report = job.package.read_report()
    for check in report.checks:
        if check.format != "sb3-predict":
            assert check.gymnasium_return == pytest.approx(report.episode.gymnasium_return, abs=1e-6)
    card = (job.package.path / "README.md").read_text()
    assert "heading in [-3, 3] rad, height in [0.4, 0.7] m. `heading` is how far it has yet to turn." in card
    assert "replay.py --command 1,0,0,0.7" in card
    assert "| command_heading | Command that yaw is to follow. | rad |" in card
    replay_without_p2p(job, "numpy")
    (rollout,) = run_episodes(run.read_config(), ant, open_source(run.path, STEP).policy, [report.episode.seed])
    heading, height = (rollout.features[name].mean() for name in ("heading_error", "height_error"))
    said = replayed(job, "--format", "numpy").stdout
    assert f"of the height {height:.3f} m, of the heading {heading:.3f} rad" in said
    assert replayed(job, "--format", "numpy", "--command", "0.8,0,1.5,0.5").returncode == 0


def test_a_policy_that_is_told_time_and_turns_is_replayed_without_p2p(make_checkpoint, make_job):
    ant = catalog.load("Ant-v5")
    observe = Observe(
        features=("time", "yaw_turns"), milestones=(Milestone(feature="yaw_turns", amount=0.02, either=True),)
    )
    make_checkpoint(told_more(ant, observe.names), ant, observe=observe)
    job = make_job(ALL)
    export(job.path)
    report = job.package.read_report()
    assert report.episode.observe == observe
    for check in report.checks:
        if check.format != "sb3-predict":
            assert check.gymnasium_return == pytest.approx(report.episode.gymnasium_return, abs=1e-6)
            assert check.trained_return == pytest.approx(report.episode.trained_return, abs=1e-6)
    card = (job.package.path / "README.md").read_text()
    assert "The last 5 are not Gymnasium's" in card
    assert "| 105 | time | Time since the episode's start. | s | episode |" in card
    for name in ("sb3", "onnx", "torchscript", "numpy"):
        replay_without_p2p(job, name)

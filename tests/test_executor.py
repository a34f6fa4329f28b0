import json
import subprocess
import sys

import pytest
from replacing import replace_function

from p2p.contracts.errors import EnvironmentProblem
from p2p.contracts.remedies import Remedy
from p2p.executor import __main__ as executor
from p2p.service.training.environments import describe_environment
from p2p.store.iterations import IterationRecord

CLASS_REWARD = """
from p2p.training.reward_function import RewardFunction

class SpeedReward(RewardFunction):
    def compute(self, obs, action, next_obs, info):
        v = float(info.get("x_velocity", 0.0))
        ctrl = -0.1 * float(sum(a**2 for a in action))
        return v + ctrl, {"speed": v, "ctrl": ctrl}

    @property
    def latex(self):
        return r"r = v_x - 0.1 \\|a\\|^2"

    @property
    def terms(self):
        return {"speed": "forward velocity", "ctrl": "control penalty"}
"""
LEGACY_REWARD = '''
def reward_fn(obs, action, next_obs, info):
    """
    LaTeX: r = v_x
    Terms:
        speed: forward velocity
    """
    v = float(info.get("x_velocity", 0.0))
    return v, {"speed": v}
'''
CONFIG = {
    "total_timesteps": 1000000,
    "learning_rate": 0.0003,
    "gamma": 0.99,
    "num_steps": 2048,
    "num_envs": 1,
    "seed": 1,
    "env_id": "HalfCheetah-v5",
}
SHORT = {"total_timesteps": 2048, "num_evals": 1, "n_eval_episodes": 3, "episode_s": 1.0}


@pytest.fixture
def files(tmp_path):
    """Writes a reward and a configuration; returns the arguments that name them."""

    def write(source=LEGACY_REWARD, config=CONFIG):
        reward, settings = tmp_path / "reward.py", tmp_path / "config.json"
        reward.write_text(source)
        settings.write_text(config if isinstance(config, str) else json.dumps(config))
        return ["--reward-fn", str(reward), "--config", str(settings), "--runs-dir", str(tmp_path / "runs")]

    return write


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "terms"),
    [
        pytest.param(CLASS_REWARD, ["speed", "ctrl"], id="class", marks=pytest.mark.nightly),
        pytest.param(LEGACY_REWARD, ["speed"], id="function"),
    ],
)
@pytest.mark.usefixtures("films")
def test_a_reward_and_a_configuration_as_printed_in_the_reference_train(files, tmp_path, source, terms):
    options = [*files(source, CONFIG | SHORT), "--env-id", "HalfCheetah-v5", "--iteration-id", "iter_1"]
    done = subprocess.run([sys.executable, "-m", "p2p.executor", *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    record = IterationRecord(tmp_path / "runs" / "iter_1")
    assert done.stdout == f"{record.path}\n"
    assert record.validate() == []
    assert record.derive_status() == "completed"
    assert [term.name for term in record.read_reward_spec().terms] == terms
    config = record.read_config()
    assert (config.n_envs, config.n_steps, config.learning_rate, config.iteration_id) == (1, 2048, 0.0003, "iter_1")
    assert record.video_filenames() == [f"eval_2048_{label}.mp4" for label in ("median", "p10", "p90")]
    assert executor.main(options) == 2  # it is there already


@pytest.mark.slow
def test_keys_of_other_programs_are_named_once_and_ignored(files, capsys):
    foreign = {"norm_adv": True, "num_eval_envs": 0, "engine": "mujoco", "learning_rte": 1.0}
    assert executor.main(files(config=foreign)) == 2
    said = capsys.readouterr().err
    assert "Ignored in" in said
    assert said.count("engine, norm_adv, num_eval_envs") == 1
    assert "norm_adv: unknown" not in said
    assert "learning_rte: unknown key" in said


def test_known_keys_are_told_once_however_many_are_unknown(files, capsys):
    assert executor.main(files(config={"qqq": 1, "zzz": 2, "xxx": 3})) == 2
    said = capsys.readouterr().err
    assert [said.count(f"{name}: unknown key") for name in ("qqq", "zzz", "xxx")] == [1, 1, 1]
    assert said.count("gae_lambda") == 1


def test_an_error_names_commands(files, monkeypatch, capsys):
    def refuse(*_args):
        raise EnvironmentProblem(f"The sandbox cannot be set up. See: {Remedy.CHECK_SETUP.of()}")

    replace_function(monkeypatch, describe_environment, refuse)
    assert executor.main(files()) == 4
    assert "See: p2p doctor" in capsys.readouterr().err


def test_a_training_that_fails_ends_with_its_code_and_status(files, tmp_path, capsys):
    source = "def reward_fn(obs, action, next_obs, info):\n    return np.nan, {'bad': np.nan}\n"
    assert executor.main([*files(source, CONFIG | SHORT), "--iteration-id", "iter_1"]) == 3
    assert "term 'bad' became nan at step 1" in capsys.readouterr().err
    record = IterationRecord(tmp_path / "runs" / "iter_1")
    assert record.derive_status() == "failed"
    assert "term 'bad' became nan" in record.read_status().error


@pytest.mark.parametrize(
    ("config", "options", "message"),
    [
        ({"learning_rte": 1.0}, [], "did you mean 'learning_rate'?"),
        ({"gamma": 2.0}, [], "gamma: "),
        ({"start_states": {"pich": [0, 1]}}, [], "start_states.pich: unknown key; did you mean 'start_states.pitch'?"),
        (
            {"start_states": {"xyz": 1}},
            [],
            "Known keys of start_states: share, states, motions, noise, planned, pitch, raised",
        ),
        ("{", [], "is not valid JSON"),
        ("[]", [], "expected an object"),
        ({}, ["--env-id", "HalfCheeta-v5"], "Did you mean 'HalfCheetah-v5'"),
        ({}, ["--iteration-id", "../x"], "is not an id"),
        ({}, ["--reward-fn", "nothing.py"], "Cannot read nothing.py"),
    ],
)
def test_rejected_input_is_explained_and_nothing_is_written(files, tmp_path, capsys, config, options, message):
    assert executor.main([*files(config=config), *options]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.glob("runs/**/reward_fn.py"))


def test_the_command_itself_imports_nothing_heavy():
    code = "import sys, p2p.executor.__main__; assert not {'torch', 'mujoco', 'gymnasium'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)

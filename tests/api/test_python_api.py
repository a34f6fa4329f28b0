"""The Python API, on one session that is trained for all of these tests."""

import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from shared_sessions import BALANCE, passed_session

import p2p
from p2p.contracts.errors import InvalidInput, UnknownName, UnknownPhrase
from p2p.contracts.session import SessionStatus
from p2p.store.policy import NumpyPolicy

CALM = """
def reward_fn(obs, action, next_obs, info):
    terms = {"upright": 1.0 - next_obs[1] ** 2}
    return sum(terms.values()), terms
"""


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> p2p.Session:
    """A session that has passed."""
    return p2p.load_session(runs_dir=passed_session(tmp_path_factory))


def test_importing_p2p_loads_nothing_of_it() -> None:
    heavy = ("p2p", "numpy", "pydantic")
    program = f"import sys, p2p; print(sorted(name for name in sys.modules if name.split('.')[0] in {heavy}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['p2p']"


def test_its_names_are_told_and_no_others_are_there() -> None:
    assert set(p2p.__all__) <= set(dir(p2p))
    with pytest.raises(AttributeError, match="no attribute 'rum'"):
        p2p.rum  # noqa: B018


def test_criteria_of_a_sentence_are_told_before_anything_is_kept(tmp_path: Path) -> None:
    keys = [criterion.key for criterion in p2p.criteria("run forward", env="Hopper", runs_dir=tmp_path)]
    assert "moves_forward" in keys
    assert p2p.sessions(runs_dir=tmp_path) == ()
    with pytest.raises(UnknownPhrase):
        p2p.criteria("compose a fugue", runs_dir=tmp_path)


def test_wrong_requests_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="n_seeds"):
        p2p.run(BALANCE, env="InvertedPendulum-v5", n_seeds=0, runs_dir=tmp_path)
    with pytest.raises(InvalidInput, match="Unknown environment"):
        p2p.run(BALANCE, env="NoSuch-v5", runs_dir=tmp_path)
    with pytest.raises(UnknownName, match=r"option of a session 'n_seed'\. Did you mean 'n_seeds'"):
        p2p.run(BALANCE, env="InvertedPendulum-v5", n_seed=2, runs_dir=tmp_path)
    with pytest.raises(InvalidInput, match=r'configs=\{"baseline": \{"total_timesteps": 9000\}\}'):
        p2p.run(BALANCE, env="InvertedPendulum-v5", total_timesteps=9000, runs_dir=tmp_path)
    with pytest.raises(InvalidInput, match="neither the source of a reward nor a file"):
        p2p.train(tmp_path / "none.py", runs_dir=tmp_path)
    with pytest.raises(UnknownName):
        p2p.load_session("latest", runs_dir=tmp_path)
    with pytest.raises(InvalidInput, match="holds no policy"):
        p2p.load_policy(tmp_path)
    assert p2p.sessions(runs_dir=tmp_path) == ()


def test_a_policy_acts_on_one_observation_and_on_many() -> None:
    policy = NumpyPolicy(
        weights=(np.eye(2, dtype=np.float32),),
        biases=(np.zeros(2, dtype=np.float32),),
        activation="tanh",
        mean=np.zeros(2),
        variance=np.ones(2),
        clip=10.0,
        low=np.full(2, -1, dtype=np.float32),
        high=np.ones(2, dtype=np.float32),
    )
    many = np.array([[0.5, -0.5], [3.0, 0.0]])
    assert policy(many).shape == (2, 2)
    assert policy(many[0]).tolist() == policy(many)[0].tolist()
    assert policy(many[1])[0] == 1.0, "within the bounds of the action"
    with pytest.raises(InvalidInput, match=r"shape \(2,\) or \(B, 2\), got \(3,\)"):
        policy(np.zeros(3))


@pytest.mark.slow
def test_a_session_tells_what_it_reached(trained: p2p.Session) -> None:
    assert trained.status is SessionStatus.PASSED
    assert trained.passed
    assert trained.error is None
    assert trained.judgment is not None
    assert trained.judgment.n_rollouts == 10
    assert [one.iteration for one in trained.iterations] == [1]
    assert "def " in (trained.reward or "")
    for file in (trained.video, trained.contact_sheet, trained.learning_curve):
        assert file is not None
        assert file.stat().st_size > 1000
    assert BALANCE in repr(trained)
    assert trained.wait() is trained


@pytest.mark.slow
def test_its_policy_balances_in_an_episode_that_nobody_judged(trained: p2p.Session) -> None:
    environment = gymnasium.make("InvertedPendulum-v5")
    observation, _ = environment.reset(seed=123)
    for _ in range(200):
        observation, _, terminated, _, _ = environment.step(trained.policy(observation))
        assert not terminated
    again = p2p.load_policy(trained.path.parent / str(trained.view.artefacts.policy))
    assert again(observation).tolist() == trained.policy(observation).tolist()


@pytest.mark.slow
def test_recorded_rollouts_are_judged_by_another_sentence(trained: p2p.Session) -> None:
    before = trained.judgment
    other = p2p.judge(trained, "keep the pole up smoothly")
    assert before is not None
    assert {one.key for one in other.criteria} != {one.key for one in before.criteria}
    assert trained.judgment == before, "nothing is overwritten"


@pytest.mark.slow
def test_a_notebook_shows_verdict_criteria_and_video_in_one_piece(trained: p2p.Session) -> None:
    page = trained._repr_html_()
    assert trained.judgment is not None
    for criterion in trained.judgment.criteria:
        assert criterion.title in page
    assert "data:video/mp4;base64," in page
    assert "data:image/png;base64," in page
    assert "passed" in page


@pytest.mark.slow
def test_a_function_is_trained_as_a_reward_and_one_that_is_none_is_refused(tmp_path: Path) -> None:
    refused = p2p.train("def reward_fn(obs):\n    return 1\n", env="InvertedPendulum-v5", runs_dir=tmp_path).wait()
    assert refused.status is SessionStatus.INVALID_CODE
    assert "reward_fn" in (refused.error or "")
    session = p2p.train(
        CALM,
        env="InvertedPendulum-v5",
        runs_dir=tmp_path,
        n_seeds=1,
        config={"total_timesteps": 4096, "episode_s": 2.0},
    ).wait()
    assert session.status is SessionStatus.COMPLETED, session.error
    assert session.judgment is not None
    assert session.criteria == ()

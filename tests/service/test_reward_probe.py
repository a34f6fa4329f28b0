"""A reward that is trained for some seconds, to see what is learnt with it."""

from pathlib import Path

import pytest

from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession
from p2p.service.rewards import probing
from p2p.service.rewards.probing import probe_config
from p2p.service.rewards.submission import check_reward_source
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace

PENDULUM = NewSession(
    prompt="keep the pole balanced", env_id="InvertedPendulum-v5", config={"total_timesteps": 8_000, "gamma": 0.9}
)
BALANCES = "def reward_fn(obs, action, next_obs, info):\n    r = 1.0 - next_obs[1] ** 2\n    return r, {'upright': r}\n"
CONSTANT = "def reward_fn(obs, action, next_obs, info):\n    return 1.0, {'alive': 1.0}\n"
TIPS_OVER = "def reward_fn(obs, action, next_obs, info):\n    r = abs(next_obs[1])\n    return r, {'lean': r}\n"


def left(ws: Workspace) -> set[str]:
    """Names below the runs directory, without those of sessions."""
    return {path.name for path in ws.runs.path.rglob("*")} - {"environments"}


def test_a_probe_is_trained_as_the_reward_would_be_in_a_few_seconds_of_steps() -> None:
    config = probe_config(PENDULUM, RewardDraft(source="", config_changes={"ent_coef": 0.01}))
    assert (config.total_timesteps, config.gamma, config.ent_coef) == (8_192, 0.9, 0.01)
    whole = NewSession(env_id="HalfCheetah-v5", stop_when_clear=True)
    assert probe_config(whole, RewardDraft(source="")).total_timesteps == 75_776, "6 s at 12,567 steps/s"
    assert probe_config(whole, RewardDraft(source="")).stop_at_score is None


def test_a_reward_that_is_not_accepted_is_not_probed(ws: Workspace) -> None:
    report = check_reward_source(
        ws, "InvertedPendulum-v5", "def reward_fn(obs, action, next_obs, info):\n    return nothing, {}\n", probe=True
    )
    assert not report.accepted
    assert report.probe is None


@pytest.mark.slow
def test_what_was_learnt_is_told_and_nothing_is_kept(ws: Workspace) -> None:
    name = create_session(ws, PENDULUM).session_id
    before = left(ws)
    report = check_reward_source(ws, name, BALANCES, probe=True)
    probe = report.probe
    assert probe is not None
    assert probe.steps[0] == 0
    assert probe.steps[-1] == 8_192
    assert probe.returns[-1] > probe.returns[0]
    assert [one.key for one in probe.criteria] == [one.key for one in ws.record(name).read_criteria().criteria]  # type: ignore[union-attr]
    assert any(one.met_shares[-1] > one.met_shares[0] for one in probe.criteria)
    assert not any("probe" in issue.message for issue in report.issues)
    assert left(ws) == before


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize(("source", "words"), [(CONSTANT, "nothing was learnt"), (TIPS_OVER, "in a probe training")])
def test_a_reward_that_teaches_nothing_or_something_else_is_warned_of(ws: Workspace, source: str, words: str) -> None:
    report = check_reward_source(ws, create_session(ws, PENDULUM).session_id, source, probe=True)
    assert any(words in issue.message.lower() for issue in report.issues)


@pytest.mark.slow
def test_a_probe_that_is_interrupted_ends_its_training_and_leaves_nothing(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = create_session(ws, PENDULUM).session_id
    before, ended = left(ws), []

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    cancel = ws.backend.cancel

    def cancelled(directory: Path) -> object:
        ended.append(status := cancel(directory))
        return status

    monkeypatch.setattr(probing, "wait", interrupt)
    monkeypatch.setattr(ws.backend, "cancel", cancelled)
    with pytest.raises(KeyboardInterrupt):
        check_reward_source(ws, name, BALANCES, probe=True)
    assert ended
    assert left(ws) == before

"""Settings that change after a session began: counted from the next training on, recorded, and never to ask less."""

import pytest
from made_up import run_summary
from typer.testing import CliRunner

from p2p.cli.app import app
from p2p.contracts.errors import InvalidInput
from p2p.contracts.extension import Extension
from p2p.contracts.job import JobState
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession, SessionStatus, SettingsRequest
from p2p.service.progress.details import view_iteration
from p2p.service.sessions.lifecycle import create_session
from p2p.service.sessions.settings_changes import change_settings
from p2p.service.training.plan import run_configs, session_for
from p2p.service.workspace import Workspace
from p2p.settings import Settings

DRAFT = RewardDraft(source="")


@pytest.fixture
def ws(tmp_path):
    made = Workspace(Settings(runs_dir=tmp_path))
    create_session(made, NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5"), session_id="pole")
    return made


def change(ws, **settings):
    return change_settings(ws, "pole", SettingsRequest(**settings), by="a person")


def train(ws, number):
    """Have two runs of an iteration, with what they measured."""
    for seed in (10, 11):
        run = ws.record("pole").iteration(number).run("baseline", seed)
        run.save_summary(run_summary())
        run.set_status(JobState.COMPLETED)


def test_before_the_first_training_all_of_them_change_and_are_recorded(ws):
    change(ws, n_seeds=3, pass_threshold=0.5, stop_when_clear=False)
    session = ws.record("pole").read_session()
    assert (session.n_seeds, session.pass_threshold, session.stop_when_clear) == (3, 0.5, False)
    (kept,) = ws.record("pole").read_settings_changes()
    assert (kept.from_iteration, kept.by) == (1, "a person")
    assert kept.words == ("n_seeds 2 → 3", "pass_threshold 0.8 → 0.5", "stop_when_clear True → False")
    configs = run_configs(session_for(ws.record("pole"), 1), DRAFT)
    assert [seed for _, seed in configs] == [10, 11, 12]
    assert {config.stop_at_score for config in configs.values()} == {None}


def test_an_iteration_that_is_trained_keeps_what_it_began_with(ws):
    train(ws, 1)
    change(ws, n_seeds=4, pass_threshold=0.9)
    change(ws, n_seeds=1, stop_when_clear=False)
    record = ws.record("pole")
    first, second = session_for(record, 1), session_for(record, 2)
    assert (first.n_seeds, first.pass_threshold, first.stop_when_clear) == (2, 0.8, True)
    assert (second.n_seeds, second.pass_threshold, second.stop_when_clear) == (1, 0.9, False)
    record.iteration(1).save_draft(DRAFT)
    assert view_iteration(ws, "pole", 1).config.session["stop_at_score"] == 0.8


def test_less_is_never_asked_once_a_policy_is_measured(ws):
    train(ws, 1)
    with pytest.raises(InvalidInput, match=r"may be raised and not lowered: 0\.8 is needed, 0\.7 was asked for"):
        change(ws, n_seeds=3, pass_threshold=0.7)
    assert ws.record("pole").read_session().n_seeds == 2
    assert ws.record("pole").read_settings_changes() == ()


def test_an_extension_asks_no_less_than_the_session_it_goes_on_from(ws):
    record = ws.record("pole")
    extended = record.read_session().model_copy(update={"extends": Extension(session_id="earlier", iteration=1)})
    record.save_session(extended)
    with pytest.raises(InvalidInput, match="may be raised and not lowered"):
        change(ws, pass_threshold=0.7)
    assert change(ws, pass_threshold=0.9).pass_threshold == 0.9


def test_what_would_change_nothing_is_refused_with_words(ws):
    with pytest.raises(InvalidInput, match="Nothing would change: pole has n_seeds=2"):
        change(ws, n_seeds=2)
    ws.record("pole").set_status(SessionStatus.PASSED)
    with pytest.raises(InvalidInput, match="has ended as passed and trains nothing more"):
        change(ws, n_seeds=3)


def test_a_training_without_criteria_cannot_end_by_them(ws):
    create_session(ws, NewSession(env_id="InvertedPendulum-v5"), reward="x", session_id="own")
    with pytest.raises(InvalidInput, match="no criteria by which a verdict could be clear"):
        change_settings(ws, "own", SettingsRequest(stop_when_clear=True), by="a person")


def test_the_command_line_changes_and_shows_them(ws):
    def invoke(*words):
        return CliRunner().invoke(app, [*words, "--runs-dir", str(ws.runs.path)])

    assert "from iteration 1 on: n_seeds 2 → 5" in invoke("steer", "pole", "--seeds", "5").output
    assert "stop_when_clear True → False" in invoke("steer", "pole", "be calm", "--train-to-the-end").output
    shown = invoke("show", "pole").output
    assert "n_seeds 2 → 5" in shown
    assert "seeds 10, 11, 12, 13, 14" in shown
    assert "Give a wish" in str(invoke("steer", "pole").exception)

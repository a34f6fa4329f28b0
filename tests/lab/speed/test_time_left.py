"""First estimates of the time left, held against the truth."""

import json

import pytest

from p2p.cli import main
from p2p.contracts.session import RunProgress, SessionStatus, SessionView
from p2p.lab.contracts.measurement import TimeLeft
from p2p.lab.speed.time_left import FirstEstimates, table

Capture = pytest.CaptureFixture[str]


def view(status: SessionStatus, remaining_s: float | None, state: str, eta_s: float | None) -> SessionView:
    run = RunProgress(
        run_id="baseline_seed_10",
        state=state,
        step=1000,
        total_timesteps=2000,
        steps_per_second=None,
        eta_s=eta_s,
        episode_return=None,
    )
    return SessionView.model_construct(status=status, remaining_s=remaining_s, runs=(run,))


def test_the_first_estimate_counts_until_the_end_it_is_of() -> None:
    estimates = FirstEstimates("Hopper-v5")
    estimates.look(view(SessionStatus.RUNNING, None, "running", None), 1.0, 2.0)
    estimates.look(view(SessionStatus.RUNNING, 30.0, "running", 10.0), 5.0, 2.0)
    estimates.look(view(SessionStatus.RUNNING, 20.0, "running", 8.0), 10.0, 4.0)
    estimates.look(view(SessionStatus.RUNNING, None, "completed", 0.0), 25.0, 6.0)
    estimates.look(view(SessionStatus.PASSED, None, "completed", 0.0), 45.0, 8.0)
    run, session = estimates.found
    assert (run.what, run.told_s, run.true_s, run.ratio) == ("baseline_seed_10", 10.0, 20.0, 0.5)
    assert (run.told_after_s, run.load_then, run.load_after) == (5.0, 2.0, 4.0)
    assert (session.what, session.told_s, session.true_s, session.load_after) == ("session", 30.0, 40.0, 5.0)


def test_the_table_counts_what_is_right_within_a_factor_of_two() -> None:
    right, wrong = (
        TimeLeft(
            env_id="Ant-v5",
            what="session",
            told_after_s=3.0,
            told_s=told_s,
            true_s=60.0,
            load_then=1.0,
            load_after=2.0,
        )
        for told_s in (31.0, 121.0)
    )
    shown = table([right, wrong])
    assert "| Ant-v5 | session | 3 s | 31 s | 60 s | 0.52 | 1.0 | 2.0 |" in shown
    assert shown.endswith("1 of 2 within a factor of 2.")


def test_an_environment_without_a_sentence_is_refused_with_those_there_are(capsys: Capture) -> None:
    assert main(["lab", "eta", "--env", "Hoper-v5"]) == 2
    assert "Did you mean 'Hopper-v5'?" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.nightly
def test_a_session_is_trained_and_its_estimates_come_out_as_one_json_object(capsys: Capture) -> None:
    words = ["lab", "eta", "--env", "InvertedPendulum-v5", "--timesteps", "4096", "--seeds", "1", "--json"]
    assert main(words) == 0
    for row in json.loads(capsys.readouterr().out)["estimates"]:  # none where it was too short to tell
        assert row["told_s"] > 0
        assert row["true_s"] > 0

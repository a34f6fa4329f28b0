from pathlib import Path

import numpy as np
import pytest

from p2p.contracts.errors import AmbiguousName, InvalidInput, UnknownName
from p2p.contracts.job import JobState
from p2p.contracts.session import NewSession, Session, SessionStatus
from p2p.contracts.training import TrainConfig
from p2p.store.arrays import load_arrays, load_features, save_arrays, save_features
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import RunsDirectory


def _session(runs: RunsDirectory, session_id: str) -> None:
    request = NewSession(prompt="run", env_id="HalfCheetah-v5")
    session = Session(**request.model_dump(), session_id=session_id, created_at="2026-01-01T00:00:00+00:00")
    runs.session(session_id).save_session(session)


@pytest.mark.parametrize("name", ["..", "../x", "/etc", "a/b", "a\\b", "a..b/c", "", "A", "x" * 65, "a\0"])
def test_an_id_cannot_lead_out_of_the_runs_directory(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="is not an id"):
        RunsDirectory(tmp_path).session(name)


def test_a_session_is_found_by_its_id_its_start_its_end_or_as_latest(tmp_path: Path) -> None:
    runs = RunsDirectory(tmp_path)
    _session(runs, "session_20260101_000000_aaaa1111")
    _session(runs, "session_20260102_000000_bbbb2222")
    for text in ("session_20260102_000000_bbbb2222", "session_20260102", "2222", "latest"):
        assert runs.find(text).session_id.endswith("bbbb2222")
    with pytest.raises(AmbiguousName, match=r"can mean 2 sessions: .*_bbbb2222, .*_aaaa1111\. Type more of the id"):
        runs.find("session_2026")
    with pytest.raises(UnknownName, match="Known: session_20260101"):
        runs.find("session_2027")


def test_the_status_record_keeps_its_error_through_a_heartbeat(tmp_path: Path) -> None:
    record = RunsDirectory(tmp_path).session("s")
    record.touch_heartbeat()
    assert record.read_status() is None
    record.set_status(SessionStatus.ERROR, "out of cheese")
    record.touch_heartbeat()
    status = record.read_status()
    assert status is not None
    assert status.error == "out of cheese"


def test_a_run_tells_its_status_and_progress_from_its_files(tmp_path: Path) -> None:
    run = IterationRecord(tmp_path / "baseline_seed_10")
    assert (run.config_id, run.seed) == ("baseline", 10)
    assert run.derive_status() == "unknown"
    run.save_config(TrainConfig(total_timesteps=1000))
    assert run.derive_status() == "pending"
    assert run.compute_progress() is None
    run.append_scalars({"global_step": 250, "episodic_return": 1.0})
    run.append_scalars({"global_step": 250, "type": "eval"})
    assert run.derive_status() == "running"
    assert run.compute_progress() == 0.25
    assert [len(rows) for rows in run.parse_scalars()] == [1, 1]
    run.set_status(JobState.CANCELLED)
    assert run.derive_status() == "cancelled"
    assert "summary.json is missing" in run.validate()


def test_the_latest_trajectory_is_the_median_of_the_highest_step(tmp_path: Path) -> None:
    run = IterationRecord(tmp_path / "baseline_seed_10")
    for step, label in [(900, "median"), (10_000, "p90"), (10_000, "median"), (10_000, "p10")]:
        save_arrays(run.trajectory(step, label), {"qpos": np.zeros(3)})
    assert run.trajectory_path == run.trajectory(10_000, "median")


def test_features_of_several_rollouts_come_back_exactly(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rollouts = [{"height": rng.normal(size=n), "up": rng.normal(size=n)} for n in (3, 7, 1)]
    save_features(tmp_path / "features.npz", rollouts)
    loaded = load_features(tmp_path / "features.npz")
    assert loaded is not None
    for before, after in zip(rollouts, loaded, strict=True):
        assert list(after) == ["height", "up"]
        np.testing.assert_array_equal(before["height"], after["height"])


def test_an_archive_with_pickled_objects_is_not_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "bad.npz", evil=np.array([object()], dtype=object))
    assert load_arrays(tmp_path / "bad.npz") is None
    (tmp_path / "cut.npz").write_bytes((tmp_path / "bad.npz").read_bytes()[:50])
    assert load_arrays(tmp_path / "cut.npz") is None


def test_an_empty_archive_or_one_of_something_else_holds_no_features(tmp_path: Path) -> None:
    (tmp_path / "empty.npz").write_bytes(b"")
    assert load_features(tmp_path / "empty.npz") is None
    save_arrays(tmp_path / "other.npz", {"qpos": np.zeros(3)})
    assert load_features(tmp_path / "other.npz") is None

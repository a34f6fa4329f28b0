"""Recorded rollouts: which there are, and their rows, against what was written."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from shared_sessions import BALANCE, passed_session

import p2p
from p2p.cli import main
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.session import NewSession
from p2p.contracts.training import Evaluation, Purpose, Rollout
from p2p.envs import catalog
from p2p.service.progress.listing import find_session
from p2p.service.progress.recordings import recorded_states, recordings, rollout_video, trace
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.arrays import load_arrays, save_arrays
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord

HOPPER = catalog.load("Hopper-v5")
T = 30
CHANCE = np.random.default_rng(2)


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return Workspace(Settings(runs_dir=tmp_path))


@pytest.fixture
def record(ws: Workspace) -> SessionRecord:
    """A session whose one run is at its second checkpoint: nothing is judged, and no video is made."""
    record = ws.runs.session(create_session(ws, NewSession(prompt="hop forward", env_id="Hopper-v5")).session_id)
    for seed in (10, 11):
        run = record.iteration(1).run("baseline", seed)
        run.save_env_spec(HOPPER)
        for step in (1000, 20000):
            leave_checkpoint(run, step)
    return record


def evaluation(run: IterationRecord, step: int, purpose: Purpose) -> Evaluation:
    labels = ("p10", "median", "p90")
    rollouts = [Rollout(seed=n, episode_return=float(n), length=T, label=label) for n, label in enumerate(labels)]
    return Evaluation(
        run_id=run.iteration_id, checkpoint=step, purpose=purpose, dt=HOPPER.dt, rollouts=(*rollouts, rollouts[0])
    )


def leave_checkpoint(run: IterationRecord, step: int) -> None:
    run.checkpoint(step).path.mkdir(parents=True)
    run.checkpoint(step).save_evaluation(evaluation(run, step, Purpose.SELECTION))
    for label in ("p10", "median", "p90"):
        save_arrays(run.trajectory(step, label), recorded())


def recorded() -> dict[str, np.ndarray]:
    bodies = len(HOPPER.bodies) + 1
    return {
        "timestamp": np.arange(1, T + 1) * HOPPER.dt,
        "reward": CHANCE.normal(size=T),
        "reward_terms": CHANCE.normal(size=(T, 2)),
        "_reward_term_names": np.array(["speed", "effort"]),
        "features": CHANCE.normal(size=(T, 3)),
        "_feature_names": np.array(["height", "pitch", "velocity_x"]),
        "xpos": CHANCE.normal(size=(T, bodies, 3)).astype(np.float32),
        "obs": CHANCE.normal(size=(T, 11)).astype(np.float32),
    }


def test_rollouts_are_listed_before_any_video_is_made(ws: Workspace, record: SessionRecord) -> None:
    found = recordings(ws, record.session_id, 1)
    assert (found.run_id, found.checkpoint) == (None, None)
    assert [(one.run_id, one.checkpoint, one.label) for one in found.recordings] == [
        (run, step, label)
        for run in ("baseline_seed_10", "baseline_seed_11")
        for step in (20000, 1000)
        for label in ("p10", "median", "p90")
    ]
    assert all(one.trace and one.video is None and not one.report for one in found.recordings)
    assert [one.episode_return for one in found.recordings[:3]] == [0.0, 1.0, 2.0]


def test_report_rollouts_come_first_and_videos_as_they_are_made(ws: Workspace, record: SessionRecord) -> None:
    iteration = record.iteration(1)
    run = iteration.run("baseline", 11)
    report = iteration.report
    for label in ("p10", "median", "p90"):
        save_arrays(report.trajectory(1000, label), recorded())
    assert not any(one.report for one in recordings(ws, record.session_id, 1).recordings)  # unfinished
    report.save_evaluation(evaluation(run, 1000, Purpose.REPORT))
    report.videos_dir.mkdir(parents=True)
    report.video("median").write_bytes(b"film")
    run.videos_dir.mkdir(parents=True)
    run.video(20000, "p90").write_bytes(b"another")
    found = recordings(ws, record.session_id, 1)
    assert (found.run_id, found.checkpoint) == ("baseline_seed_11", 1000)
    assert [one.report for one in found.recordings] == [True] * 3 + [False] * 12
    films = {(one.report, one.run_id, one.checkpoint, one.label): one.video for one in found.recordings if one.video}
    assert films == {
        (True, "baseline_seed_11", 1000, "median"): "report_median.mp4",
        (False, "baseline_seed_11", 20000, "p90"): "eval_20000_p90.mp4",
    }
    assert rollout_video(ws, record.session_id, 1).read_bytes() == b"film"
    assert rollout_video(ws, record.session_id, 1, "p90", 20000, "baseline_seed_11").read_bytes() == b"another"
    with pytest.raises(InvalidInput, match="No video of the p10 report rollout"):
        rollout_video(ws, record.session_id, 1, "p10")
    run.video(20000, "p10").symlink_to(run.video(20000, "p90"))
    with pytest.raises(InvalidInput, match="No video"):
        rollout_video(ws, record.session_id, 1, "p10", 20000, "baseline_seed_11")


def test_the_rows_are_those_that_were_recorded(ws: Workspace, record: SessionRecord) -> None:
    run = record.iteration(1).run("baseline", 11)
    found = trace(ws, record.session_id, 1, "p90", 20000, "baseline_seed_11")
    truth = load_arrays(run.trajectory(20000, "p90"))
    assert truth is not None
    assert (found.run_id, found.checkpoint, found.label, found.report) == ("baseline_seed_11", 20000, "p90", False)
    assert found.time == pytest.approx(truth["timestamp"])
    assert found.reward == pytest.approx(truth["reward"], rel=1e-4)
    for k, name in enumerate(("speed", "effort")):
        assert found.terms[name] == pytest.approx(truth["reward_terms"][:, k], rel=1e-4)
    for k, name in enumerate(("height", "pitch", "velocity_x")):
        assert found.features[name] == pytest.approx(truth["features"][:, k], rel=1e-4)
    assert found.bodies == ("world", *(body.name for body in HOPPER.bodies))
    for body in range(len(found.bodies)):
        for axis in range(3):
            assert found.positions[3 * body + axis] == pytest.approx(truth["xpos"][:, body, axis], abs=6e-4)
    assert {(found.bodies[a], found.bodies[b]) for a, b in found.bones} == {(b.name, b.parent) for b in HOPPER.bodies}
    assert (found.dt, found.steps_per_picture) == (0.008, 5)  # 125 rows a second, 25 of which are shown
    assert json.loads(found.model_dump_json())["time"][0] == 0.008


def test_numbers_that_are_not_finite_are_null(ws: Workspace, record: SessionRecord) -> None:
    arrays = recorded()
    arrays["reward"][3] = np.nan
    arrays["features"][4, 0] = np.inf
    arrays["xpos"][5, 1, 2] = np.nan
    save_arrays(record.iteration(1).run("baseline", 10).trajectory(1000, "p10"), arrays)
    found = trace(ws, record.session_id, 1, "p10", 1000)
    assert (found.reward[3], found.features["height"][4], found.positions[5][5]) == (None, None, None)
    assert json.loads(found.model_dump_json())


BREAK: dict[str, Callable[[dict[str, np.ndarray]], object]] = {
    "other bodies": lambda arrays: arrays.update(xpos=arrays["xpos"][:, :-1]),
    "fewer names": lambda arrays: arrays.update(_feature_names=arrays["_feature_names"][:-1]),
    "flat terms": lambda arrays: arrays.update(reward_terms=arrays["reward_terms"].ravel()),
    "texts for numbers": lambda arrays: arrays.update(reward=np.array(["a"] * T)),
    "rows missing": lambda arrays: arrays.update(reward=arrays["reward"][:-1]),
    "no positions": lambda arrays: arrays.pop("xpos"),
}


@pytest.mark.parametrize("kind", BREAK)
def test_a_recording_that_does_not_fit_is_refused(ws: Workspace, record: SessionRecord, kind: str) -> None:
    arrays = recorded()
    BREAK[kind](arrays)
    save_arrays(record.iteration(1).run("baseline", 10).trajectory(1000, "p10"), arrays)
    with pytest.raises(InvalidInput, match="p10 rollout of checkpoint 1000 of baseline_seed_10"):
        trace(ws, record.session_id, 1, "p10", 1000)


def test_what_is_not_there_is_named(ws: Workspace, record: SessionRecord) -> None:
    name = record.session_id
    with pytest.raises(InvalidInput, match="no report rollouts yet"):
        trace(ws, name, 1)
    for arguments, what in (
        ((2,), "iteration"),
        ((1, "p50"), "label"),
        ((1, "p10", 7), "checkpoint"),
        ((1, "p10", 1000, "baseline_seed_12"), "run"),
        ((1, "p10", 1000, "../../x"), "run"),
    ):
        with pytest.raises(UnknownName, match=what):
            trace(ws, name, *arguments)
    record.iteration(1).run("baseline", 10).trajectory(1000, "p10").unlink()
    with pytest.raises(InvalidInput, match="recorded"):
        trace(ws, name, 1, "p10", 1000)


@pytest.mark.slow
def test_a_trained_session_shows_what_its_judge_saw(tmp_path_factory: pytest.TempPathFactory) -> None:
    """In a process that has no numpy, as the web server."""
    place = passed_session(tmp_path_factory)
    ws = Workspace(Settings(runs_dir=place))
    name = find_session(ws, "latest")
    found = recordings(ws, name, 1)
    assert sum(one.report for one in found.recordings) == 3
    code = (
        "import sys; from pathlib import Path; from p2p.service.workspace import Workspace; "
        "from p2p.settings import Settings; from p2p.service.progress.recordings import trace; "
        "print(trace(Workspace(Settings(runs_dir=Path(sys.argv[1]))), sys.argv[2], 1).model_dump_json()); "
        "assert 'numpy' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code, str(place), name], capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)
    report = next(one for one in found.recordings if one.report and one.label == "median")
    assert len(rows["time"]) == report.length
    assert sum(rows["reward"]) == pytest.approx(report.episode_return, rel=1e-3)
    summed = [sum(values) for values in zip(*rows["terms"].values(), strict=True)]
    assert summed == pytest.approx(rows["reward"], rel=1e-3, abs=1e-3)


@pytest.mark.slow
def test_states_of_a_report_rollout_tell_what_was_turned_before_them(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path / "runs"
    shutil.copytree(passed_session(tmp_path_factory), place)
    ws = Workspace(Settings(runs_dir=place))
    session_id = find_session(ws, "latest")
    report = ws.record(session_id).iteration(1).report
    evaluation = report.read_evaluation()
    assert evaluation is not None
    path = report.trajectory(evaluation.checkpoint, "median")
    arrays = dict(load_arrays(path) or {})
    turns = np.linspace(0.0, 1.25, len(arrays["timestamp"]))
    names = [str(name) for name in arrays["_feature_names"]]
    assert "pitch_turns" not in names
    assert {state.pitch_turns for state in recorded_states(ws, session_id).states} == {0.0}
    arrays["_feature_names"] = np.array([*names, "pitch_turns"])
    arrays["features"] = np.column_stack([arrays["features"], turns])
    save_arrays(path, arrays)
    found = recorded_states(ws, session_id, count=5).states
    assert [state.pitch_turns for state in found] == pytest.approx([0.0, 0.3125, 0.625, 0.9375, 1.25], abs=0.02)


@pytest.mark.slow
def test_states_of_a_report_rollout_are_those_that_were_recorded_and_others_begin_in_them(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ws = Workspace(Settings(runs_dir=passed_session(tmp_path_factory)))
    session_id = find_session(ws, "latest")
    found = recorded_states(ws, session_id, label="p90", start_s=0.5, end_s=1.0, count=4)
    report = ws.record(session_id).iteration(1).report
    evaluation = report.read_evaluation()
    assert evaluation is not None
    arrays = load_arrays(report.trajectory(evaluation.checkpoint, "p90"))
    assert arrays is not None
    for state, time in zip(found.states, (0.52, 0.68, 0.84, 1.0), strict=True):
        row = int(np.argmin(np.abs(arrays["timestamp"] - time)))
        assert np.array_equal(state.qpos, arrays["qpos"][row])
        assert np.array_equal(state.qvel, arrays["qvel"][row])
    assert len(recorded_states(ws, session_id, start_s=1.0, end_s=1.05, count=64).states) == 2
    with pytest.raises(InvalidInput, match=r"Expected a part of the rollout, which lasts 2 s"):
        recorded_states(ws, session_id, start_s=9.0)
    with pytest.raises(UnknownName, match="Unknown label of a rollout 'best'"):
        recorded_states(ws, session_id, label="best")

    file = tmp_path / "starts.json"
    runs = ["--runs-dir", str(ws.runs.path)]
    assert main(["states", "latest", "--count", "3", "--output", str(file), *runs, "--json"]) == 0
    given = json.loads(file.read_text())
    assert len(given["start_states"]["states"]) == 3
    assert given["start_states"] == p2p.load_session(session_id, runs_dir=ws.runs.path).start_states(count=3)
    begun = p2p.run(
        BALANCE,
        env="InvertedPendulum-v5",
        runs_dir=tmp_path / "other",
        n_seeds=1,
        n_report_rollouts=10,
        max_iterations=1,
        config={**given, "total_timesteps": 2048},
    ).wait()
    assert begun.judgment is not None, begun.error
    config = Workspace(Settings(runs_dir=tmp_path / "other")).record(begun.id).iteration(1).runs()[0].read_config()
    assert config is not None
    assert config.start_states is not None
    assert config.start_states.model_dump(mode="json", include={"share", "states"}) == given["start_states"]


def test_nothing_is_read_of_a_session_that_is_not_judged(ws: Workspace, record: SessionRecord) -> None:
    with pytest.raises(InvalidInput, match="has no judged iteration yet"):
        recorded_states(ws, record.session_id)

"""What is recorded can be looked at: by its events, from any side, once made and kept."""

import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from shared_sessions import made_once

from p2p.contracts.errors import EnvironmentProblem, InvalidInput, UnknownName
from p2p.contracts.session import NewSession
from p2p.contracts.work import MetricsPlot, ViewRequest
from p2p.envs import catalog
from p2p.service.judging.caller_judgment import judge_evidence
from p2p.service.pictures.plotting import plot_metrics
from p2p.service.pictures.viewing import view_rollout
from p2p.service.progress.job_views import get_job
from p2p.service.progress.listing import list_sessions
from p2p.service.progress.session_view import view_session
from p2p.service.rewards.writing import write_reward
from p2p.service.sessions.background import cancel_job, start_training
from p2p.service.sessions.driving import start_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.arrays import features_of, load_arrays
from p2p.store.pictures import SheetRecord
from p2p.worker.pictures.key_frames import choose_frames

pytestmark = pytest.mark.usefixtures("pictures")
PLOTS = (MetricsPlot.CURVE, MetricsPlot.COMPARE)
CHEETAH = catalog.load("HalfCheetah-v5")
SHORT = {"total_timesteps": 4096, "num_evals": 1, "n_eval_episodes": 3}
SENTENCE = "run forward as fast as you can for 2 seconds"
RUN = NewSession(
    prompt=SENTENCE + ", $\\frac{",
    n_seeds=1,
    n_report_rollouts=10,
    config=SHORT,
    max_iterations=2,
)


@pytest.fixture
def empty(tmp_path: Path) -> Workspace:
    return Workspace(Settings(runs_dir=tmp_path / "runs"))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, str]:
    """A cheetah after two iterations of real, if short, training."""
    runs_dir = tmp_path_factory.mktemp("viewing") / "runs"
    shutil.copytree(made_once(tmp_path_factory, "viewing", train_cheetah), runs_dir)
    ws = Workspace(Settings(runs_dir=runs_dir))
    (view,) = list_sessions(ws)
    return ws, view.session.session_id


def train_cheetah(runs_dir: Path) -> None:
    ws = Workspace(Settings(runs_dir=runs_dir))
    session_id = create_session(ws, RUN.model_copy(update={"prompt": SENTENCE})).session_id
    view = start_session(ws, session_id)
    while view.alive:
        time.sleep(0.2)
        view = view_session(ws, session_id)


def recorded(ws: Workspace, session_id: str, number: int, label: str) -> dict[str, np.ndarray]:
    iteration = ws.record(session_id).iteration(number)
    evaluation = iteration.report.read_evaluation()
    assert evaluation is not None
    arrays = load_arrays(iteration.report.trajectory(evaluation.checkpoint, label))
    assert arrays is not None
    return features_of(arrays)


@pytest.mark.slow
def test_a_rollout_is_shown_and_shown_again_by_the_same_files(trained: tuple[Workspace, str]) -> None:
    ws, session_id = trained
    request = ViewRequest(frames=3, label="p90")
    made = view_rollout(ws, session_id, 1, request)
    assert (made.iteration, made.label, made.video, len(made.frame_files)) == (1, "p90", None, 3)
    features = recorded(ws, session_id, 1, "p90")
    for frame in made.frames:
        assert features["time"][frame.step - 1] == pytest.approx(frame.t_s)
    files = [made.sheet, *made.frame_files]
    before = {}
    for file in files:
        path = ws.runs.path / file.path
        before[path] = path.stat().st_mtime_ns
        assert path.stat().st_size == file.size_bytes
        with Image.open(path) as picture:
            assert (picture.size, picture.get_format_mimetype()) == ((file.width, file.height), file.mime_type)
    assert view_rollout(ws, session_id, 1, request) == made
    assert {path: path.stat().st_mtime_ns for path in before} == before
    (ws.runs.path / made.sheet.path).unlink()
    assert view_rollout(ws, session_id, 1, request) == made


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("label", ["p10", "median", "p90"])
def test_named_moments_are_what_they_are_called(trained: tuple[Workspace, str], number: int, label: str) -> None:
    ws, session_id = trained
    features = recorded(ws, session_id, number, label)
    frames = choose_frames(features, CHEETAH.dt, CHEETAH.rest_height)
    moments = dict(zip(frames.words, frames.steps, strict=True))
    airborne, trunk = features["airborne"] > 0, features["torso_contact"] > 0
    for word, sense, now in (
        ("take-off", airborne, True),
        ("landing", airborne, False),
        ("trunk touches", trunk, True),
    ):
        if (step := moments.get(word, 0)) > 0:
            assert (sense[step], sense[step - 1]) == (now, not now), word
    if "apex" in moments:
        flight = slice(moments.get("take-off", 0), moments.get("landing"))
        assert features["height"][moments["apex"]] == features["height"][flight].max()
    assert (moments["start"], moments["end"]) == (0, len(airborne) - 1)


@pytest.mark.slow
def test_two_callers_at_once_get_the_same_pictures(trained: tuple[Workspace, str]) -> None:
    ws, session_id = trained
    request = ViewRequest(camera="front")
    with ThreadPoolExecutor(3) as pool:
        one, *others = pool.map(lambda _: view_rollout(ws, session_id, 2, request), range(3))
    assert all(other == one for other in others)


@pytest.mark.slow
def test_who_cannot_wait_finds_the_pictures_later(trained: tuple[Workspace, str]) -> None:
    ws, session_id = trained
    request = ViewRequest(camera="top", label="p10")
    with pytest.raises(EnvironmentProblem, match="Ask again with the same request"):
        view_rollout(ws, session_id, 1, request, wait_s=0.0)
    assert view_rollout(ws, session_id, 1, request).label == "p10"


@pytest.mark.slow
def test_slow_motion_of_a_real_rollout_is_simulated_again(trained: tuple[Workspace, str]) -> None:
    ws, session_id = trained
    made = view_rollout(ws, session_id, 1, ViewRequest(slow_motion=4, width=240, start_s=1.0, end_s=2.0))
    assert "4 times slower, simulated again between control steps" in made.note
    assert made.video is not None
    assert (made.video.width, made.video.height, made.video.mime_type) == (240, 180, "video/mp4")
    assert (ws.runs.path / made.video.path).read_bytes()[4:8] == b"ftyp"


@pytest.mark.slow
def test_two_iterations_are_compared(trained: tuple[Workspace, str]) -> None:
    ws, session_id = trained
    made = view_rollout(ws, session_id, 2, ViewRequest(compare_with=1))
    assert (made.iteration, made.compared_with) == (2, 1)
    assert (made.sheet.width, made.sheet.height) == (800, 822)
    assert sum(frame.event == "start" for frame in made.frames) == 2
    with pytest.raises(InvalidInput, match="compared with itself"):
        view_rollout(ws, session_id, 2, ViewRequest(compare_with=2))
    with pytest.raises(UnknownName, match=r"Unknown iteration '9'. Known: 1, 2"):
        view_rollout(ws, session_id, 2, ViewRequest(compare_with=9))


@pytest.mark.slow
@pytest.mark.parametrize(
    "view",
    [pytest.param(view, marks=[pytest.mark.nightly] * (view not in PLOTS)) for view in MetricsPlot],
)
def test_every_plot_of_a_real_training_is_small(trained: tuple[Workspace, str], view: MetricsPlot) -> None:
    ws, session_id = trained
    made = plot_metrics(ws, session_id, view=view)
    assert made.picture.size_bytes < 120_000
    assert (made.picture.width, made.picture.height) == (800, 440)
    assert (made.with_iteration is not None) == (view is MetricsPlot.COMPARE)
    path = ws.runs.path / made.picture.path
    begun = path.stat().st_mtime_ns
    assert plot_metrics(ws, session_id, view=view) == made
    assert path.stat().st_mtime_ns == begun


@pytest.mark.slow
def test_the_report_writes_down_which_moments_its_sheet_shows(trained: tuple[Workspace, str]) -> None:
    ws, session_id = trained
    sheet = SheetRecord(ws.record(session_id).iteration(1).path)
    result = sheet.read_result()
    assert result is not None
    features = recorded(ws, session_id, 1, "median")
    assert 8 <= len(result.frames) <= 12
    for frame in result.frames:
        assert frame.path is not None
        assert (sheet.path / frame.path).stat().st_size < 40_000
        assert features["time"][frame.step - 1] == pytest.approx(frame.t_s)
    evidence = judge_evidence(ws, session_id, 1)
    assert [frame.step for frame in evidence.frames] == [frame.step for frame in result.frames]
    assert all((ws.runs.path / frame.path).exists() for frame in evidence.frames if frame.path)


@pytest.mark.slow
def test_a_part_outside_the_rollout_is_refused_in_words(trained: tuple[Workspace, str]) -> None:
    ws, session_id = trained
    views = ws.record(session_id).iteration(1).path / "views"
    before = {*views.glob("*")}
    with pytest.raises(InvalidInput, match="Choose a part within it"):
        view_rollout(ws, session_id, 1, ViewRequest(start_s=900.0))
    assert {*views.glob("*")} == before, "it leaves nothing"
    with pytest.raises(UnknownName, match=r"Unknown body 'fot'\. Did you mean 'ffoot'"):
        view_rollout(ws, session_id, 1, ViewRequest(path_of="fot"))


def test_what_has_no_iteration_says_that_nothing_is_at_work(empty: Workspace) -> None:
    session_id = create_session(empty, RUN.model_copy(update={"prompt": "run"})).session_id
    with pytest.raises(InvalidInput, match=r"has no iteration yet: nothing is recorded\. No job is running"):
        view_rollout(empty, session_id)
    with pytest.raises(InvalidInput, match=r"has no iteration yet: nothing is measured\. No job is running"):
        plot_metrics(empty, session_id)
    with pytest.raises(UnknownName, match="Unknown iteration '1'"):
        view_rollout(empty, session_id, 1)


@pytest.mark.nightly
def test_while_it_trains_the_job_is_named_and_the_latest_rollout_can_be_seen(empty: Workspace) -> None:
    longer = {"total_timesteps": 400_000, "num_evals": 100, "n_eval_episodes": 3}
    session = create_session(empty, RUN.model_copy(update={"prompt": "run", "config": longer}))
    session_id = session.session_id
    write_reward(empty, session_id, 1)
    with pytest.raises(InvalidInput, match=r"no recorded rollouts yet.*No job is running"):
        view_rollout(empty, session_id, 1)
    job = start_training(empty, session_id)
    try:
        with pytest.raises(InvalidInput, match=f"no recorded rollouts yet.*{job.job_id} is training"):
            view_rollout(empty, session_id, 1)
        run = empty.record(session_id).iteration(1)
        while not list(run.path.glob("*/trajectories/*_median.npz")):
            assert not get_job(empty, job.job_id).state.finished, get_job(empty, job.job_id)
            time.sleep(0.1)
        made = view_rollout(empty, session_id)
        assert made.iteration == 1
        assert made.frames
        assert plot_metrics(empty, session_id).picture.size_bytes > 5_000
    finally:
        cancel_job(empty, job.job_id)

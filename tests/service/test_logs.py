"""Logs for other programs: what TensorBoard and Weights & Biases read is what p2p recorded, each row once."""

import json
import os
import shutil
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from shared_sessions import passed_session
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

from p2p.contracts.errors import MissingExtra
from p2p.contracts.job import JobSpec
from p2p.contracts.loggers import LoggerName
from p2p.contracts.session import EventName, NewSession
from p2p.loggers.wandb import history_of, logs_of
from p2p.scheduler import supervisor
from p2p.service.jobs.worker_jobs import wait
from p2p.service.logs.job import follow_session, keep_logs
from p2p.service.logs.writing import write_logs
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord

pytestmark = pytest.mark.slow
Points = dict[str, list[tuple[int, float]]]


@pytest.fixture
def record(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> SessionRecord:
    """A copy of a session that passed."""
    (trained,) = passed_session(tmp_path_factory).glob("session_*")
    shutil.copytree(trained, tmp_path / "runs" / trained.name)
    return SessionRecord(tmp_path / "runs" / trained.name)


@pytest.fixture
def ws(record: SessionRecord) -> Workspace:
    return Workspace(Settings(runs_dir=record.path.parent))


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")


def single(value: float) -> float:
    found: tuple[float] = struct.unpack("<f", struct.pack("<f", value))
    return found[0]


def recorded(run: IterationRecord) -> Points:
    """Numbers of a run, read from its file alone."""
    points: Points = {}
    for line in run.scalars_path.read_text().splitlines():
        row = json.loads(line)
        evaluated = row.pop("type", "") == "eval"
        step = row.pop("global_step")
        row.pop("iteration", None)
        for key, of_criteria in (("value", row.pop("criteria", {})), ("met_share", row.pop("criteria_met", {}))):
            row |= {f"criteria/{name}/{key}": value for name, value in of_criteria.items()}
        for name, value in row.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                shown = name.replace("reward_term_", "reward_term/")
                points.setdefault(f"{'eval' if evaluated else 'train'}/{shown}", []).append((step, single(value)))
    return points


def in_tensorboard(folder: Path) -> Points:
    log = EventAccumulator(str(folder / "tensorboard"), size_guidance={"scalars": 0})
    log.Reload()
    return {tag: [(point.step, point.value) for point in log.Scalars(tag)] for tag in log.Tags()["scalars"]}


def in_wandb(folder: Path) -> Points:
    points: Points = {}
    for path in logs_of(folder / "wandb"):
        for row in history_of(path):
            (step,) = (value for name, value in row.items() if name.endswith("/global_step"))
            for name, value in row.items():
                if isinstance(value, int | float) and not name.startswith("_") and not name.endswith("/global_step"):
                    points.setdefault(name, []).append((step, single(value)))
    return points


READERS: dict[LoggerName, Callable[[Path], Points]] = {
    LoggerName.TENSORBOARD: in_tensorboard,
    LoggerName.WANDB: in_wandb,
}


def without_thresholds(points: Points) -> Points:
    return {name: found for name, found in points.items() if not name.endswith("/threshold")}


def the_run(record: SessionRecord) -> IterationRecord:
    (run,) = record.iteration(1).runs()
    return run


@pytest.mark.parametrize("name", LoggerName)
def test_a_session_trained_earlier_is_logged_point_by_point_and_only_once(
    name: LoggerName, ws: Workspace, record: SessionRecord
) -> None:
    run = the_run(record)
    assert write_logs(ws, record.session_id, [name]) > 0
    assert write_logs(ws, record.session_id, [name]) == 0
    found = READERS[name](run.path)
    assert without_thresholds(found) == recorded(run)
    intent = run.read_criteria()
    assert intent is not None
    for criterion in intent.criteria:
        assert criterion.predicate is not None
        assert {value for _, value in found[f"eval/criteria/{criterion.key}/threshold"]} == {
            single(criterion.predicate.threshold)
        }
    judgment = record.iteration(1).read_judgment()
    assert judgment is not None
    assert judgment.intent_score is not None
    judged = READERS[name](record.path)
    assert judged["iteration/passed"] == [(1, 1.0)]
    assert judged["iteration/score"] == [(1, single(judgment.intent_score))]


def test_tensorboard_shows_the_judgment_the_rollouts_the_videos_and_the_hyperparameters(
    ws: Workspace, record: SessionRecord
) -> None:
    write_logs(ws, record.session_id, [LoggerName.TENSORBOARD])
    log = EventAccumulator(str(record.path / "tensorboard"))
    log.Reload()
    judgment = record.iteration(1).read_judgment()
    assert judgment is not None
    texts = {tag: log.Tensors(tag)[0].tensor_proto.string_val[0].decode() for tag in log.Tags()["tensors"]}
    assert " ".join(judgment.diagnosis.split()) in " ".join(texts["iteration/judgment"].split())
    assert "\n\n- " in texts["iteration/judgment"]
    assert len(texts["iteration/rollouts"].splitlines()) == 2 + len(judgment.rollouts)
    assert log.Images("iteration/video/median")[0].encoded_image_string[:6] == b"GIF89a"
    run = the_run(record)
    log = EventAccumulator(str(run.path / "tensorboard"))
    log.Reload()
    start = HParamsPluginData.FromString(log.PluginTagToContent("hparams")["_hparams_/session_start_info"])
    config = run.read_config()
    assert config is not None
    assert start.session_start_info.hparams["learning_rate"].number_value == config.learning_rate
    assert start.session_start_info.hparams["env_id"].string_value == "InvertedPendulum-v5"


@pytest.mark.parametrize("name", LoggerName)
def test_after_a_kill_in_the_middle_of_a_row_none_is_doubled_and_none_is_lost(
    name: LoggerName, ws: Workspace, record: SessionRecord
) -> None:
    run = the_run(record)
    complete = run.scalars_path.read_text().splitlines(keepends=True)
    for share, torn in ((0.3, 1), (0.6, 200), (1.0, 77)):
        run.scalars_path.write_text("".join(complete[: int(share * len(complete))]))
        write_logs(ws, record.session_id, [name])
        assert without_thresholds(READERS[name](run.path)) == recorded(run)
        pattern = "tensorboard/events.*" if name is LoggerName.TENSORBOARD else "wandb/offline-run-*/*.wandb"
        newest = max(run.path.glob(pattern), key=lambda path: path.stat().st_mtime)
        os.truncate(newest, newest.stat().st_size - torn)
    write_logs(ws, record.session_id, [name])
    assert without_thresholds(READERS[name](run.path)) == recorded(run)


@pytest.mark.parametrize("name", LoggerName)
def test_a_training_that_went_on_from_an_earlier_point_is_logged_as_it_is_recorded(
    name: LoggerName, ws: Workspace, record: SessionRecord
) -> None:
    run = the_run(record)
    write_logs(ws, record.session_id, [name])
    lines = run.scalars_path.read_text().splitlines(keepends=True)
    changed = [json.dumps({**json.loads(line), "sps": 1.5}) + "\n" for line in lines[len(lines) // 2 :]]
    run.scalars_path.write_text("".join([*lines[: len(lines) // 2], *changed[:3]]))
    write_logs(ws, record.session_id, [name])
    assert without_thresholds(READERS[name](run.path)) == recorded(run)


@pytest.fixture
def driver(ws: Workspace, record: SessionRecord) -> Iterator[Path]:
    """A process in the driver's place, until it is cancelled."""
    shutil.rmtree(record.driver_dir)
    ws.background.submit(JobSpec(argv=("sleep", "60")), record.driver_dir)
    yield record.driver_dir
    ws.background.cancel(record.driver_dir)


def test_the_logs_follow_a_training_through_the_death_of_their_process(
    ws: Workspace, record: SessionRecord, driver: Path
) -> None:
    run = the_run(record)
    complete = run.scalars_path.read_text().splitlines(keepends=True)
    run.scalars_path.write_text("".join(complete[:10]))
    record.save_session(record.read_session().model_copy(update={"log": (LoggerName.TENSORBOARD,)}))
    keep_logs(ws, record)
    _until(lambda: len(in_tensorboard(run.path).get("train/sps", [])) >= 9, run)
    handle: dict[str, Any] = json.loads((record.logging_dir / supervisor.HANDLE).read_text())
    os.kill(handle["pid"], signal.SIGKILL)
    wait([record.logging_dir], ws.background)
    with run.scalars_path.open("a") as file:
        file.writelines(complete[10:20])
    keep_logs(ws, record)
    with run.scalars_path.open("a") as file:
        file.writelines(complete[20:])
    ws.background.cancel(driver)
    wait([record.logging_dir], ws.background)
    assert without_thresholds(in_tensorboard(run.path)) == recorded(run)
    assert in_tensorboard(record.path)["iteration/passed"] == [(1, 1.0)]


def _until(done: Callable[[], bool], run: IterationRecord) -> None:
    deadline = time.monotonic() + 60
    while not (run.path / "tensorboard").exists() or not done():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_a_logger_that_fails_is_told_once_and_hurts_nothing(ws: Workspace, record: SessionRecord) -> None:
    the_run(record).path.joinpath("tensorboard").write_text("a file where the folder belongs")
    record.save_session(record.read_session().model_copy(update={"log": tuple(LoggerName)}))
    follow_session(ws, record.session_id)
    follow_session(ws, record.session_id)
    told = [str(event.data.get("message")) for event in record.events.read() if event.event is EventName.GUARDRAIL]
    (warning,) = [message for message in told if message.startswith("Logging to tensorboard failed: ")]
    assert warning.endswith("an export of its log adds what is missing.")
    assert without_thresholds(in_wandb(the_run(record).path)) == recorded(the_run(record))


def test_a_logger_that_is_not_installed_is_refused_before_anything_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    ws = Workspace(Settings(runs_dir=tmp_path / "runs", log=(LoggerName.WANDB,)))
    with pytest.raises(MissingExtra, match=r"pip install 'p2p-mcp\[wandb\]'"):
        create_session(ws, NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5"))
    assert not list((tmp_path / "runs").glob("session_*"))


def test_a_session_remembers_the_loggers_it_was_begun_with(tmp_path: Path) -> None:
    ws = Workspace(Settings(runs_dir=tmp_path / "runs", log="tensorboard"))  # type: ignore[arg-type]
    request = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")
    assert create_session(ws, request).log == (LoggerName.TENSORBOARD,)
    named = request.model_copy(update={"log": (LoggerName.WANDB,)})
    session = create_session(ws, named)
    assert ws.record(session.session_id).read_session().log == (LoggerName.WANDB,)

"""What is appended to the log of a training: what was recorded since the last look, and nothing that it holds."""

import json
import os
import shutil
from pathlib import Path

import pytest
from test_logs import in_tensorboard, recorded, without_thresholds

from p2p.contracts.loggers import LoggerName
from p2p.service.logs.writing import SessionLogs
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord

FILES = Path(__file__).parents[1] / "session/recorded/session/files"


@pytest.fixture
def record(tmp_path: Path) -> SessionRecord:
    """A recorded session with one run of forty rows."""
    place = tmp_path / "runs/session_20260101_000000_0badcafe"
    shutil.copytree(FILES, place)
    shutil.rmtree(place / "iter_1/baseline_seed_11")
    found = SessionRecord(place)
    run = the_run(found)
    rows = [json.loads(line) for line in run.scalars_path.read_text().splitlines()]
    lines = [json.dumps({**rows[n % len(rows)], "global_step": 64 * n}) + "\n" for n in range(1, 41)]
    run.scalars_path.write_text("".join(lines))
    return found


def the_run(record: SessionRecord) -> IterationRecord:
    (run,) = record.iteration(1).runs()
    return run


def fail(_: LoggerName, error: Exception) -> None:
    raise error


def test_what_was_recorded_before_the_last_look_is_not_read_again(record: SessionRecord) -> None:
    run = the_run(record)
    logs = SessionLogs(record, (LoggerName.TENSORBOARD,), fail)
    logs.write()
    complete = run.scalars_path.read_bytes()
    second = complete.index(b"\n") + 1
    with run.scalars_path.open("r+b") as file:  # whoever reads it again finds a broken line
        file.seek(second)
        file.write(b"#")
    last = json.loads(complete.splitlines()[-1])
    for further in (1, 2, 3):
        run.append_scalars(last | {"type": "train", "global_step": last["global_step"] + further})
        before = logs.rows
        logs.write()
        assert logs.rows == before + 1
    logs.close()
    appended = run.scalars_path.read_bytes()[len(complete) :]
    run.scalars_path.write_bytes(complete + appended)
    assert without_thresholds(in_tensorboard(run.path)) == recorded(run), "and none is lost"


def test_a_log_follows_records_that_are_cut_and_grow_on_between_two_looks(record: SessionRecord) -> None:
    run = the_run(record)
    lines = run.scalars_path.read_text().splitlines(keepends=True)
    half = len(lines) // 2
    changed = [json.dumps({**json.loads(line), "sps": 1.5}) + "\n" for line in lines[half:]]
    run.scalars_path.write_text("".join(lines[: half + 2]))
    logs = SessionLogs(record, (LoggerName.TENSORBOARD,), fail)
    logs.write()
    os.truncate(run.scalars_path, len("".join(lines[:half])))
    with run.scalars_path.open("a") as file:
        file.writelines(changed)
    logs.write()
    replaced = run.scalars_path.with_name("new")
    replaced.write_text("".join([*lines[:half], *changed[:1]]))
    replaced.rename(run.scalars_path)
    logs.write()
    run.append_scalars(json.loads(changed[1]))
    logs.write()
    run.scalars_path.unlink()
    logs.write()
    run.scalars_path.write_text("".join([*lines[:half], *changed[2:5]]))
    logs.write()
    logs.close()
    assert without_thresholds(in_tensorboard(run.path)) == recorded(run)

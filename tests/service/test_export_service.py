import os
import sys
from pathlib import Path

import pytest

from p2p.contracts.errors import InvalidInput, MissingExtra, StorageProblem, UnknownName
from p2p.contracts.job import JobSpec, JobState, JobStatus
from p2p.contracts.session import NewSession
from p2p.contracts.training import IterationAggregation
from p2p.contracts.work import ExportFormat, NewExport
from p2p.service.sessions.export import export_policy
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.exports import ExportedFiles, ExportRecord

ONNX = NewExport(formats=(ExportFormat.ONNX,))


class Refusing:
    """A backend whose worker refuses every job; remembers what was asked for."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, int]] = []

    def submit(self, _spec: JobSpec, directory: Path) -> JobStatus:
        request = ExportRecord(directory).read_request()
        assert request is not None
        assert (directory / request.run_dir).resolve().is_dir()
        self.requests.append((Path(request.run_dir).name, request.checkpoint))
        return self.status(directory)

    def status(self, _directory: Path) -> JobStatus:
        return JobStatus(state=JobState.FAILED, exit_code=2, error="refused")

    def cancel(self, directory: Path) -> JobStatus:
        return self.status(directory)


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    ws = Workspace(Settings(runs_dir=tmp_path / "runs"))
    ws.backend = Refusing()
    return ws


@pytest.fixture
def session_id(ws: Workspace) -> str:
    """Two iterations; in the second, run 10 has two checkpoints, run 11 one, and run 12 none."""
    session_id = create_session(ws, NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5"))
    record = ws.record(session_id.session_id)
    for number, seed, step in ((1, 10, 1000), (2, 10, 1000), (2, 10, 2000), (2, 11, 1000)):
        path = record.iteration(number).run("baseline", seed).checkpoint(step).policy_path
        path.parent.mkdir(parents=True)
        path.touch()
    record.iteration(2).run("baseline", 12).path.mkdir()
    return record.session_id


def aggregated(ws: Workspace, session_id: str, run: str, step: int) -> None:
    aggregation = IterationAggregation(best_config_id="baseline", best_run_id=run, best_checkpoint=step, configs={})
    ws.record(session_id).iteration(2).save_aggregation(aggregation)


def asked(ws: Workspace, session_id: str, request: NewExport) -> tuple[str, int]:
    """Run and checkpoint that the worker is asked to export."""
    with pytest.raises(InvalidInput, match="refused"):
        export_policy(ws, session_id, request)
    return ws.backend.requests[-1]


def test_the_best_run_and_checkpoint_are_exported_unless_others_are_named(ws: Workspace, session_id: str) -> None:
    aggregated(ws, session_id, "baseline_seed_10", 1000)
    assert asked(ws, session_id, ONNX) == ("baseline_seed_10", 1000)
    other = ONNX.model_copy(update={"run_id": "baseline_seed_11"})
    assert asked(ws, session_id, other) == ("baseline_seed_11", 1000)
    later = ONNX.model_copy(update={"checkpoint": 2000})
    assert asked(ws, session_id, later) == ("baseline_seed_10", 2000)
    first = ONNX.model_copy(update={"iteration": 1})
    assert asked(ws, session_id, first) == ("baseline_seed_10", 1000)


def test_the_latest_checkpoint_is_taken_of_a_run_that_has_not_ended(ws: Workspace, session_id: str) -> None:
    request = ONNX.model_copy(update={"run_id": "baseline_seed_10"})
    assert asked(ws, session_id, request) == ("baseline_seed_10", 2000)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"iteration": 3}, UnknownName, "Unknown iteration '3'. Known: 1, 2"),
        ({"run_id": "baseline_seed_13"}, UnknownName, "Unknown run 'baseline_seed_13'. Did you mean"),
        ({"checkpoint": 7}, UnknownName, "Unknown checkpoint '7'. Known: 1000, 2000"),
        ({"run_id": "baseline_seed_12"}, InvalidInput, "has no policy.*have one: baseline_seed_10, baseline_seed_11"),
    ],
)
def test_what_does_not_exist_is_refused_with_what_does(
    ws: Workspace, session_id: str, changes: dict, error: type[Exception], message: str
) -> None:
    aggregated(ws, session_id, "baseline_seed_10", 1000)
    with pytest.raises(error, match=message):
        export_policy(ws, session_id, ONNX.model_copy(update=changes))
    assert not ws.record(session_id).exports_dir.exists()


def test_what_killed_exports_left_is_swept(ws: Workspace, session_id: str) -> None:
    exports = ws.record(session_id).exports_dir
    killed, alive = exports / ".job-killed", exports / ".job-alive"
    for directory in (killed, alive):
        (directory / "package").mkdir(parents=True)
    os.utime(killed, (0, 0))
    asked(ws, session_id, ONNX.model_copy(update={"iteration": 1}))
    assert [path.name for path in exports.iterdir()] == [alive.name]


def test_without_a_best_run_one_must_be_chosen(ws: Workspace, session_id: str) -> None:
    with pytest.raises(InvalidInput, match="Choose one of its runs: baseline_seed_10, baseline_seed_11"):
        export_policy(ws, session_id, ONNX)


def test_a_session_without_a_policy_says_so(ws: Workspace) -> None:
    session = create_session(ws, NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5"))
    with pytest.raises(InvalidInput, match="has no policy yet"):
        export_policy(ws, session.session_id, ONNX)


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [("sb3", "stable_baselines3", "sb3"), ("torchscript", "torch", "sb3"), ("onnx", "onnxruntime", "onnx")],
)
def test_a_missing_library_is_named_with_the_line_that_installs_it(
    ws: Workspace, session_id: str, name: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"{module} is not installed. Run: pip install 'p2p-mcp\[{extra}\]'"):
        export_policy(ws, session_id, NewExport(formats=(ExportFormat(name),)))


def test_a_folder_that_is_not_empty_is_not_written_into_unless_it_may_be(
    ws: Workspace, session_id: str, tmp_path: Path
) -> None:
    aggregated(ws, session_id, "baseline_seed_10", 1000)
    folder = tmp_path / "mine"
    folder.mkdir()
    assert asked(ws, session_id, ONNX.model_copy(update={"output": folder})) == ("baseline_seed_10", 1000)
    (folder / "thesis.tex").touch()
    with pytest.raises(InvalidInput, match="is not empty"):
        export_policy(ws, session_id, ONNX.model_copy(update={"output": folder}))
    with pytest.raises(InvalidInput, match="is a file"):
        export_policy(ws, session_id, ONNX.model_copy(update={"output": folder / "thesis.tex", "overwrite": True}))
    asked(ws, session_id, ONNX.model_copy(update={"output": folder, "overwrite": True}))
    assert [path.name for path in folder.iterdir()] == ["thesis.tex"]
    (folder / "README.md").touch()
    with pytest.raises(InvalidInput, match=r"holds a README\.md that no export wrote"):
        export_policy(ws, session_id, ONNX.model_copy(update={"output": folder, "overwrite": True}))


def test_each_format_has_a_folder_of_its_own_where_none_is_named(ws: Workspace, session_id: str) -> None:
    record = ws.record(session_id)
    folders = {
        record.export_dir("iter_1", "baseline_seed_10", 1000, names) for names in (["onnx"], ["sb3"], ["sb3", "onnx"])
    }
    assert len(folders) == 3


def test_a_refused_export_leaves_nothing(ws: Workspace, session_id: str) -> None:
    aggregated(ws, session_id, "baseline_seed_10", 1000)
    asked(ws, session_id, ONNX)
    assert not ws.record(session_id).exports_dir.exists()


def test_an_export_replaces_an_earlier_one_and_nothing_else(tmp_path: Path) -> None:
    old, new = ExportedFiles(tmp_path / "old"), ExportedFiles(tmp_path / "new")
    for path in (old.onnx_path, old.model_path, old.report_path, old.path / "thesis.tex", new.onnx_path, new.card_path):
        path.parent.mkdir(exist_ok=True)
        path.write_text(path.parent.name)
    delivered = new.deliver(old.path)
    assert delivered.present() == (old.card_path, old.onnx_path)
    assert delivered.onnx_path.read_text() == "new"
    assert (old.path / "thesis.tex").read_text() == "old"


def test_a_folder_that_cannot_be_written_is_a_problem_of_the_machine(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageProblem, match="another folder"):
        ExportedFiles(tmp_path).deliver(tmp_path / "file" / "folder")

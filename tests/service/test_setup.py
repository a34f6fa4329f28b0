import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from p2p.contracts.errors import MissingExtra
from p2p.contracts.node import CheckLevel, SetupCheck, SetupReport
from p2p.contracts.remedies import Remedy
from p2p.contracts.session import NewSession
from p2p.service.jobs.packages import within
from p2p.service.machines import sandbox_check, setup
from p2p.service.machines.setup import check_setup, require_training
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings


@pytest.fixture
def without_mujoco(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes mujoco look absent, so that no renderer is probed."""
    monkeypatch.setitem(sys.modules, "mujoco", None)


def checks(runs_dir: Path) -> dict[str, SetupCheck]:
    return {check.name: check for check in check_setup(Workspace(Settings(runs_dir=runs_dir))).checks}


@pytest.mark.usefixtures("pictures")
def test_a_machine_that_can_train_is_usable_and_is_left_as_it_was(tmp_path: Path) -> None:
    report = check_setup(Workspace(Settings(runs_dir=tmp_path / "runs")))

    assert report.usable
    names = [check.name for check in report.checks]
    assert {"python", "pydantic", "torch", "mujoco", "renderer", "ffmpeg", "cores", "memory", "disk"} <= set(names)
    assert not {"pytest", "ruff", "mypy"} & set(names)
    renderer = next(check for check in report.checks if check.name == "renderer")
    assert renderer.found.startswith(("egl", "osmesa", "raycast"))
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_is_to_be_drawn_that_is_told_and_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("P2P_RENDERER", "none")
    renderer = checks(tmp_path / "runs")["renderer"]
    assert renderer.level is CheckLevel.OK
    assert renderer.found == "none, as P2P_RENDERER asks: reports come without pictures"


@pytest.mark.usefixtures("without_mujoco")
def test_a_key_is_shown_as_set_and_never_with_its_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "abc-very-secret")

    found = checks(tmp_path)

    assert found["GEMINI_API_KEY"].found == "set"
    assert found["OPENAI_API_KEY"].found.startswith("not set")
    assert not any("very-secret" in check.model_dump_json() for check in found.values())


@pytest.mark.usefixtures("without_mujoco")
def test_a_runs_directory_that_cannot_be_written_is_a_problem_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    check = checks(tmp_path / "file" / "runs")["runs directory"]

    assert check.level is CheckLevel.PROBLEM
    assert Remedy.CHOOSE_RUNS_DIR.of() in check.remedy
    assert not SetupReport(checks=(check,)).usable


@pytest.mark.usefixtures("without_mujoco")
def test_the_renderer_is_not_probed_without_mujoco(tmp_path: Path) -> None:
    assert checks(tmp_path)["renderer"].found == "not looked at: mujoco is not installed"


def test_training_is_refused_with_the_line_that_installs_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ws = Workspace(Settings(runs_dir=tmp_path))
    require_training(ws)
    monkeypatch.setitem(sys.modules, "gymnasium", None)

    with pytest.raises(MissingExtra, match=r"pip install 'p2p-mcp\[train\]'"):
        require_training(ws)


def test_a_learner_that_is_not_installed_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    request = NewSession(prompt="run forward", env_id="HalfCheetah-v5", config={"learner": "sb3"})

    with pytest.raises(MissingExtra, match=r"pip install 'p2p-mcp\[sb3\]'"):
        create_session(Workspace(Settings(runs_dir=tmp_path)), request)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("found", "wanted", "fits"),
    [
        ("2.13.0+cpu", ">=2.6,<2.14", True),
        ("2.14.0", ">=2.6,<2.14", False),
        ("2.5.1", "<2.14,>=2.6", False),
        ("11.0", ">=11", True),
        ("1.2.3", "", True),
    ],
)
def test_a_version_is_held_against_its_range(found: str, wanted: str, fits: bool) -> None:
    assert within(found, wanted) is fits


@pytest.mark.parametrize(
    ("module", "probe"),
    [(sandbox_check, lambda ws: sandbox_check.sandbox_check(ws.backend, False)), (setup, setup._renderer)],
    ids=["sandbox", "renderer"],
)
def test_directories_of_killed_probes_are_swept_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: object, probe: Callable[[Workspace], SetupCheck]
) -> None:
    place, elsewhere = tmp_path / "tmp", tmp_path / "elsewhere"
    killed, alive, other, link = (place / name for name in ("p2p-probe-a", "p2p-probe-b", "other", "p2p-probe-c"))
    for directory in (killed, alive, other, elsewhere):
        directory.mkdir(parents=True)
        (directory / "status.json").touch()
    link.symlink_to(elsewhere)
    for path in (killed, other, link):
        os.utime(path, (0, 0), follow_symlinks=False)
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.setattr(module, "run_to_end", lambda *_: None)

    probe(Workspace(Settings(runs_dir=tmp_path / "runs")))

    assert sorted(path.name for path in place.iterdir()) == ["other", "p2p-probe-b"]
    assert (elsewhere / "status.json").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_directory_of_another_users_probe_is_left_to_him(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = tmp_path / "p2p-probe-a"
    theirs.mkdir()
    os.chown(theirs, 54_322, 54_322)
    os.utime(theirs, (0, 0))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sandbox_check, "run_to_end", lambda *_: None)
    sandbox_check.sandbox_check(Workspace(Settings(runs_dir=tmp_path / "runs")).backend, False)
    assert theirs.is_dir()

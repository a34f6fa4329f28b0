"""Robots under names, through each way in."""

import shutil
from pathlib import Path

import pytest
from PIL import Image
from robot_files import PONY

import p2p
from p2p.cli import main
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.session import NewSession
from p2p.service.pictures.portrait import portrait
from p2p.service.sessions.lifecycle import create_session
from p2p.service.training.environments import describe_environment, find_environment
from p2p.service.training.robots import add_robot, named_robots, remove_robot
from p2p.service.workspace import Workspace


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "Pony.xml"
    shutil.copy(PONY, path)
    return path


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures, by the renderer that works on every machine."""
    monkeypatch.setenv("P2P_RENDERER", "raycast")


def test_a_name_stands_for_the_robot_until_it_is_taken_back_and_sessions_keep_theirs(ws: Workspace, file: Path) -> None:
    file.with_suffix(".toml").write_text("healthy = [0.1, 0.6]")
    spec = add_robot(ws, "shorty", str(file))
    named = named_robots(ws)["shorty"]
    assert find_environment(ws, "shorty") == spec == describe_environment(ws, "shorty")
    copies = ws.runs.environment_dir(spec.env_id)
    assert (copies / "source.xml").read_bytes() == PONY.read_bytes()
    assert "0.6" in (copies / "source.toml").read_text()
    session = create_session(ws, NewSession(prompt="stand still", env_id="shorty"))
    assert session.env_id == spec.env_id == named.env_id
    file.write_text("changed")
    assert find_environment(ws, "shorty") == spec
    remove_robot(ws, "shorty")
    file.unlink()
    assert describe_environment(ws, session.env_id) == spec
    with pytest.raises(UnknownName, match="shorty"):
        find_environment(ws, "shorty")
    with pytest.raises(UnknownName, match="shorty"):
        remove_robot(ws, "shorty")


def test_a_name_is_not_given_to_another_robot(ws: Workspace, file: Path) -> None:
    add_robot(ws, "pony", str(file))
    assert add_robot(ws, "pony", str(file)), "the same again"
    file.write_text(PONY.read_text().replace('mass="6"', 'mass="7"'))
    with pytest.raises(InvalidInput, match="Remove it first"):
        add_robot(ws, "pony", str(file))


@pytest.mark.parametrize("name", ["Pony", "", "../pony", "ant-v5", "pony-0123abcd", "x" * 41, "a b"])
def test_what_can_be_no_name(name: str, ws: Workspace, file: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be a robot's name"):
        add_robot(ws, name, str(file))
    assert not named_robots(ws)


def test_a_name_is_for_model_files(ws: Workspace) -> None:
    with pytest.raises(InvalidInput, match="is no model file"):
        add_robot(ws, "ant", "Ant-v5")


@pytest.mark.usefixtures("drawn")
def test_its_picture_shows_the_robot(ws: Workspace, file: Path) -> None:
    with Image.open(portrait(ws, find_environment(ws, str(file)))) as picture:
        assert picture.format == "PNG"
        assert picture.size == (640, 480)
        assert len(picture.convert("RGB").getcolors(maxcolors=400_000) or ()) > 50, "not one colour alone"


@pytest.mark.usefixtures("drawn")
def test_the_command_line_adds_lists_shows_and_removes(
    tmp_path: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--runs-dir", str(tmp_path / "runs")]
    assert main(["envs", "add", "pony", str(file), *where]) == 0
    said = capsys.readouterr().out
    assert "stance: the keyframe 'home'" in said
    assert "portrait.png" in said
    assert "--env pony" in said
    assert main(["envs", *where]) == 0
    assert "pony (pony-" in capsys.readouterr().out
    assert main(["envs", "pony", *where]) == 0
    assert "feet: fl_foot" in capsys.readouterr().out
    assert main(["envs", "remove", "pony", *where]) == 0
    assert "names nothing any more" in capsys.readouterr().out
    assert main(["envs", "pony", *where]) == 2
    assert main(["envs", "add", "pony", *where]) == 2
    assert "add NAME FILE" in capsys.readouterr().err


@pytest.mark.usefixtures("drawn")
def test_python_names_them_too(tmp_path: Path, file: Path) -> None:
    runs = tmp_path / "runs"
    spec = p2p.add_robot("pony", file, runs_dir=runs)
    assert p2p.environments(runs_dir=runs)["pony"] == spec == p2p.environment("pony", runs_dir=runs)
    assert p2p.portrait("pony", runs_dir=runs).is_file()
    p2p.remove_robot("pony", runs_dir=runs)
    assert "pony" not in p2p.environments(runs_dir=runs)

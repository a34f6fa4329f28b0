"""A robot from a model file, through the service: one job that may read its folder alone, and a session."""

import shutil
from pathlib import Path

import pytest
from robot_files import PONY

from p2p.contracts.errors import InvalidInput
from p2p.contracts.session import NewSession
from p2p.service.sessions.lifecycle import create_session, preview
from p2p.service.training.environments import describe_environment, find_environment, list_robots
from p2p.service.workspace import Workspace


def test_a_session_keeps_the_robot_that_it_began_with(ws: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "My Pony.xml"
    shutil.copy(PONY, file)
    request = NewSession(prompt="walk forward", env_id=str(file))
    shown = preview(ws, request)
    session = create_session(ws, request)
    assert session.env_id.startswith("my_pony-")
    assert shown.env_id == session.env_id
    file.unlink()
    assert describe_environment(ws, session.env_id).robot is not None
    assert [spec.env_id for spec in list_robots(ws)] == [session.env_id]


def test_a_file_that_is_not_there(ws: Workspace, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is not a file"):
        find_environment(ws, str(tmp_path / "gone.xml"))


def test_a_broken_model_leaves_nothing(ws: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "broken.xml"
    file.write_text("<mujoco><worldbody><geom sise='1'/></worldbody></mujoco>")
    with pytest.raises(InvalidInput, match=r"broken\.xml.*sise"):
        find_environment(ws, str(file))
    assert not list_robots(ws)
    assert not ws.runs.environment_dirs()


HOSTILE = {
    "a million geoms": (
        '<replicate count="1000000" offset="0.001 0 0">{geom}</replicate>',
        "too large to be described",
    ),
    "a hundred million geoms": (
        '<replicate count="10000" offset="1 0 0"><replicate count="10000" offset="0 1 0">{geom}</replicate>'
        "</replicate>",
        "more memory than a model may have",
    ),
}


@pytest.mark.nightly
@pytest.mark.parametrize("case", HOSTILE)
def test_a_model_that_takes_minutes_or_gigabytes_is_ended_and_leaves_nothing(
    case: str, ws: Workspace, tmp_path: Path
) -> None:
    geoms, words = HOSTILE[case]
    body = "<body><freejoint/><geom size='0.1'/>" + geoms.format(geom="<geom size='0.01'/>") + "</body>"
    file = tmp_path / "many.xml"
    file.write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    with pytest.raises(InvalidInput, match=words):
        find_environment(ws, str(file))
    assert not ws.runs.environment_dirs()


def test_a_model_reads_nothing_outside_its_folder(ws: Workspace, tmp_path: Path) -> None:
    secret = tmp_path / "secret.xml"
    secret.write_text("<mujoco><worldbody><body name='secret'><joint/><geom size='0.1'/></body></worldbody></mujoco>")
    folder = tmp_path / "folder"
    folder.mkdir()
    file = folder / "robot.xml"
    for name in (str(secret), "../secret.xml"):
        file.write_text(f"<mujoco><include file='{name}'/></mujoco>")
        with pytest.raises(InvalidInput, match="does not take"):
            find_environment(ws, str(file))
    shutil.copy(secret, folder)
    file.write_text("<mujoco><include file='secret.xml'/></mujoco>")
    assert find_environment(ws, str(file)).bodies[0].name == "secret", "beside the file it may be read"

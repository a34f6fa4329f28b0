"""Model files that want more than to be read: archives, bombs, textures, links, files of others."""

import os
import struct
import zipfile
import zlib
from pathlib import Path

import pytest
from robot_files import PONY

from p2p.contracts.errors import InvalidInput
from p2p.service.training.environments import find_environment
from p2p.service.training.robots import add_robot, named_robots
from p2p.service.workspace import Workspace
from p2p.worker.description.describe import describe_robot

TEXT = PONY.read_text()
BOMB_BYTES = 300_000_000


def bomb(path: Path, inside: str = "robot.xml") -> Path:
    """An archive of 300 kB that unpacks to 300 MB."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(inside, "w") as file:
        for _ in range(BOMB_BYTES // 1_000_000):
            file.write(b" " * 1_000_000)
    return path


def picture_bomb(path: Path) -> None:
    """A PNG of 60,000 x 60,000 pixels in some kilobytes, whose rows are not even there."""
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(bytes(1_000_000))), (b"IEND", b"")]
    packed = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    ]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(packed))


@pytest.mark.parametrize("name", ["robot.mjz", "robot.zip", "Robot.ZIP", "robot.tar.gz", "robot.urdf.xz"])
def test_an_archive_is_not_opened(name: str, ws: Workspace, tmp_path: Path) -> None:
    bomb(tmp_path / name)
    for act in (
        lambda: find_environment(ws, str(tmp_path / name)),
        lambda: add_robot(ws, "robot", str(tmp_path / name)),
    ):
        with pytest.raises(InvalidInput, match="is an archive, which p2p does not open: unpack it"):
            act()
    assert not ws.runs.environment_dirs()
    assert not named_robots(ws)


def test_an_archive_that_calls_itself_a_model_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"MuJoCo does not take robot\.xml"):
        describe_robot("robot", bomb(tmp_path / "robot.xml"))


ASSETS = {
    "a mesh in an archive": '<mesh name="m" file="bomb.zip"/>',
    "a mesh in MuJoCo's archive": '<mesh name="m" file="bomb.mjz"/>',
    "a model in an archive": '<model name="m" file="bomb.mjz"/>',
    "a mesh that is a link to another's file": '<mesh name="m" file="link.stl"/>',
    "a mesh that never ends": '<mesh name="m" file="pipe.stl"/>',
    "a mesh that is a device": '<mesh name="m" file="/dev/zero"/>',
    "a mesh without an end of its own": '<mesh name="m" file="short.stl"/>',
}


@pytest.mark.parametrize("case", ASSETS)
def test_assets_that_are_refused(case: str, ws: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "robot"
    folder.mkdir()
    for name in ("bomb.zip", "bomb.mjz"):
        bomb(folder / name, "mesh.stl")
    (tmp_path / "secret.stl").write_bytes(bytes(200))
    (folder / "link.stl").symlink_to(tmp_path / "secret.stl")
    os.mkfifo(folder / "pipe.stl")
    (folder / "short.stl").write_bytes(bytes(80) + struct.pack("<I", 4_000_000))
    text = TEXT.replace("<worldbody>", f"<asset>{ASSETS[case]}</asset><worldbody>")
    text = text.replace('<geom name="barrel"', '<geom type="mesh" mesh="m"/><geom name="barrel"')
    (folder / "robot.xml").write_text(text)
    with pytest.raises(InvalidInput):
        find_environment(ws, str(folder / "robot.xml"))
    assert not ws.runs.environment_dirs()


TEXTURES = {
    "a picture that unpacks to gigabytes": '<texture name="t" type="2d" file="bomb.png"/>',
    "a picture that is not there": '<texture name="t" type="2d" file="gone.png"/>',
    "a picture of somebody else": '<texture name="t" type="2d" file="../secret.png"/>',
    "one that takes hours to paint": '<texture name="t" builtin="checker" width="90000" height="90000"/>',
    "a cube of six": '<texture name="t" type="cube" fileright="bomb.png" fileleft="bomb.png"/>',
}


@pytest.mark.parametrize("case", TEXTURES)
def test_textures_are_left_out_unread(case: str, tmp_path: Path) -> None:
    picture_bomb(tmp_path / "bomb.png")
    asset = f'<asset>{TEXTURES[case]}<material name="painted" texture="t"/></asset><worldbody>'
    file = tmp_path / "robot.xml"
    file.write_text(TEXT.replace("<worldbody>", asset).replace('name="barrel"', 'name="barrel" material="painted"'))
    spec = describe_robot("robot", file)
    assert spec.robot is not None
    assert "texture" not in spec.robot.xml
    assert spec.morphology.torso == "trunk"


def test_entities_do_not_grow(tmp_path: Path) -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    file = tmp_path / "robot.xml"
    file.write_text(f'<!DOCTYPE m [<!ENTITY l0 "ha">{laughs}]>' + TEXT.replace('model="pony"', 'model="&l9;"'))
    try:
        spec = describe_robot("robot", file)
    except InvalidInput:
        return
    assert spec.robot is not None
    assert len(spec.robot.xml) < 100_000


OVERRIDES = {
    "nested without end": ("feet = " + "[" * 40_000 + "]" * 40_000, "nested too deeply"),
    "too large": ("# " + "x" * 100_001, "expected at most 100,000"),
    "a number that is none": ("healthy = [nan, 1.0]", "finite number"),
    "an angle that is none": ("[stance]\nfl_hip = inf", "finite number"),
    "no text": (b"\xff\xfe\x00", "is no TOML"),
}


@pytest.mark.parametrize("case", OVERRIDES)
def test_overrides_that_are_refused(case: str, tmp_path: Path) -> None:
    said, words = OVERRIDES[case]
    (tmp_path / "robot.xml").write_text(TEXT)
    (tmp_path / "robot.toml").write_bytes(said if isinstance(said, bytes) else said.encode())
    with pytest.raises(InvalidInput, match=words):
        describe_robot("robot", tmp_path / "robot.xml")

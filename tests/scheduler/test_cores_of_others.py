"""Another user of this machine can neither make p2p write where it should not, nor make it wait."""

import fcntl
import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from p2p.scheduler import cores, machine_queue

VICTIM, ATTACKER = 54_321, 54_322
"""Users of the kernel's: nobody has to add them to the machine's list."""
two_users = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two other users")


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory for everybody, as /tmp is, with a home for the victim beside it."""
    root = Path(tempfile.mkdtemp(prefix="p2p-users-"))
    root.chmod(0o755)
    for name, mode, owner in (("tmp", 0o1777, os.geteuid()), ("home", 0o755, VICTIM)):
        (root / name).mkdir()
        (root / name).chmod(mode)
        if os.geteuid() == 0:
            os.chown(root / name, owner, owner)
    monkeypatch.delenv(machine_queue.PLACE, raising=False)
    monkeypatch.setenv("HOME", str(root / "home"))
    monkeypatch.setattr(machine_queue, "TEMPORARY", root / "tmp")
    monkeypatch.setattr(machine_queue, "_home_place", lambda: root / "home/.cache/p2p/cores")
    yield root
    shutil.rmtree(root)


def as_user(uid: int, work: Callable[[], object]) -> object:
    """What `work` returns, or raises as text, in a process of that user's."""
    reader, writer = os.pipe()
    if child := os.fork():
        os.close(writer)
        with os.fdopen(reader) as answer:
            text = answer.read()
        os.waitpid(child, 0)
        return json.loads(text)
    try:
        if uid != os.geteuid():
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
        result = work()
    except Exception as error:
        result = f"{type(error).__name__}: {error}"
    os.write(writer, json.dumps(result).encode())
    os._exit(0)


def take() -> bool:
    """Own a core, and give up when it is not free at once."""
    return machine_queue.admit({"cores": 1}, "/the/job", cores.usable_cores(), lambda **_: None, lambda: True)


def trap(root: Path, owner: int) -> None:
    """What the attacker prepares: directories of his, full of links to the victim's."""
    lair = root / f"tmp/p2p-{owner}/cores"
    lair.mkdir(parents=True)
    (lair / "queue").symlink_to(root / "home/queue")
    for core in cores.usable_cores():
        (lair / f"core_{core}").symlink_to(root / "home/precious")


def precious(root: Path) -> str:
    (root / "home/precious").write_text("mine")
    (root / "home/queue").mkdir()
    return "precious"


@two_users
def test_a_place_that_somebody_else_made_is_left_to_him(place: Path) -> None:
    as_user(VICTIM, lambda: precious(place))
    as_user(ATTACKER, lambda: trap(place, VICTIM))
    found = as_user(VICTIM, lambda: [take(), str(machine_queue.directory())])
    assert found == [True, str(place / "home/.cache/p2p/cores")]
    assert (place / "home/precious").read_text() == "mine"
    assert list((place / "home/queue").iterdir()) == []


@two_users
def test_root_is_not_led_by_links_either(place: Path) -> None:
    os.chown(place / "home", 0, 0)
    precious(place)
    as_user(ATTACKER, lambda: trap(place, 0))
    assert as_user(0, take) is True
    assert (place / "home/precious").read_text() == "mine"


@two_users
def test_locks_in_a_place_of_somebody_else_hold_up_nobody(place: Path) -> None:
    lair = place / f"tmp/p2p-{VICTIM}/cores"
    lair.mkdir(parents=True)
    held = [(lair / f"core_{core}").open("w") for core in cores.usable_cores()]
    for file in held:
        fcntl.flock(file, fcntl.LOCK_EX)
    (lair / "queue").mkdir()
    for path in (lair.parent, lair, lair / "queue", *lair.glob("core_*")):
        os.chown(path, ATTACKER, ATTACKER)
        path.chmod(0o777)
    assert as_user(VICTIM, take) is True
    for file in held:
        file.close()


@two_users
@pytest.mark.parametrize("level", ["", "cores"])
def test_each_level_has_to_be_ours(place: Path, level: str) -> None:
    theirs = place / f"tmp/p2p-{VICTIM}"
    (theirs / "cores").mkdir(parents=True)
    for path in (theirs, theirs / "cores"):
        os.chown(path, VICTIM, VICTIM)
    os.chown(theirs / level, ATTACKER, ATTACKER)
    assert as_user(VICTIM, lambda: str(machine_queue.directory())) == str(place / "home/.cache/p2p/cores")


@two_users
def test_without_any_place_of_ours_the_reasons_are_told(place: Path) -> None:
    (place / f"tmp/p2p-{VICTIM}").mkdir()
    os.chown(place / f"tmp/p2p-{VICTIM}", ATTACKER, ATTACKER)
    os.chown(place / "home", ATTACKER, ATTACKER)
    said = str(as_user(VICTIM, take))
    assert f"p2p-{VICTIM} belongs to user {ATTACKER}" in said
    assert f"home belongs to user {ATTACKER}" in said
    assert machine_queue.PLACE in said


@two_users
def test_a_directory_that_others_can_replace_is_no_place_below_which_to_lock(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "open").mkdir()
    (place / "open").chmod(0o777)
    monkeypatch.setenv(machine_queue.PLACE, str(place / "open/cores"))
    assert "open can be written by others" in str(as_user(VICTIM, take))


def test_a_place_of_ours_is_taken_and_closed_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = tmp_path / "cores"
    mine.mkdir()
    mine.chmod(0o777)
    monkeypatch.setenv(machine_queue.PLACE, str(mine))
    assert machine_queue.directory() == mine
    assert stat.S_IMODE(mine.stat().st_mode) == 0o700


def test_a_place_reached_by_a_link_above_it_is_the_same_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setenv(machine_queue.PLACE, str(tmp_path / "link/cores"))
    machine_queue.directory()
    assert (tmp_path / "real/cores").is_dir()


def test_a_place_that_is_itself_a_link_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "cores").symlink_to(tmp_path / "real")
    monkeypatch.setenv(machine_queue.PLACE, str(tmp_path / "cores"))
    with pytest.raises(OSError, match="choose one with P2P_CORES_DIR"):
        machine_queue.directory()


def _symlink(path: Path, target: Path) -> None:
    path.symlink_to(target)


def _hard_link(path: Path, target: Path) -> None:
    path.hardlink_to(target)


def _fifo(path: Path, target: Path) -> None:
    del target
    os.mkfifo(path)


@pytest.mark.parametrize("what", [_symlink, _hard_link, _fifo])
def test_only_a_regular_file_without_other_names_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: Callable[[Path, Path], None]
) -> None:
    (tmp_path / "cores").mkdir()
    (tmp_path / "precious").write_text("mine")
    for core in cores.usable_cores():
        what(tmp_path / f"cores/core_{core}", tmp_path / "precious")
    monkeypatch.setenv(machine_queue.PLACE, str(tmp_path / "cores"))
    assert "Error: " in str(as_user(os.geteuid(), take))
    assert (tmp_path / "precious").read_text() == "mine"
    assert machine_queue.holders() == ()


@pytest.mark.skipif(sys.platform != "linux", reason="the list of open files is in /proc")
def test_a_look_leaves_no_descriptor_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(machine_queue.PLACE, str(tmp_path / "cores"))
    machine_queue.holders()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        machine_queue.holders()
    assert len(list(Path("/proc/self/fd").iterdir())) == before

"""Packages of a node come from a lock, by hash."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from p2p.scheduler.nodes import preparation


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "thing-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("thing.py", "x = 1\n")
        archive.writestr("thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n")
        archive.writestr("thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("thing-1.0.dist-info/RECORD", "")
    return path


def test_a_package_of_the_hash_in_the_lock_is_installed(tmp_path: Path, wheel: Path) -> None:
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (tmp_path / "node/packages").mkdir(parents=True)
    place = preparation._packages(tmp_path / "node", [f"thing @ {wheel.as_uri()} --hash=sha256:{digest}\n"], True)
    assert (Path(place) / "thing.py").is_file()


@pytest.mark.parametrize("given", ["", f" --hash=sha256:{'0' * 64}"], ids=["without a hash", "of another hash"])
def test_a_package_that_is_not_the_one_of_the_lock_is_refused(tmp_path: Path, wheel: Path, given: str) -> None:
    (tmp_path / "node/packages").mkdir(parents=True)
    with pytest.raises(RuntimeError, match=r"(?i)hash"):
        preparation._packages(tmp_path / "node", [f"thing @ {wheel.as_uri()}{given}\n"], True)
    assert list((tmp_path / "node").rglob("thing.py")) == []

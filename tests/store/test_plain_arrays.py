"""Arrays read without numpy are those that numpy wrote; whatever else a file holds reads as None."""

import random
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from p2p.store.arrays import save_arrays
from p2p.store.plain_arrays import PlainArray, read_arrays

CHANCE = np.random.default_rng(1)
WRITTEN: dict[str, NDArray[np.generic]] = {
    "floats": CHANCE.normal(size=(7, 3)),
    "singles": CHANCE.normal(size=(4, 2, 3)).astype(np.float32),
    "integers": np.array([-(2**62), 0, 7]),
    "small": np.array([[1, -2]], dtype=np.int32),
    "booleans": np.array([True, False, True]),
    "texts": np.array(["alive", "ü", ""]),
    "empty": np.zeros((5, 0)),
    "none": np.zeros(0),
    "scalar": np.array(3.5),
    "odd": np.array([np.nan, np.inf, -np.inf, -0.0]),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save_arrays(tmp_path / "a.npz", WRITTEN)
    return tmp_path / "a.npz"


@pytest.mark.parametrize("name", WRITTEN)
def test_an_array_is_the_one_that_was_written(path: Path, name: str) -> None:
    found = read_arrays(path, [name])
    assert found is not None
    assert found[name].shape == WRITTEN[name].shape
    assert np.array_equal(
        np.array(found[name].values).reshape(found[name].shape), WRITTEN[name], equal_nan=name == "odd"
    )


def test_columns_are_those_of_numpy(path: Path) -> None:
    found = read_arrays(path, ["singles", "floats", "empty"])
    assert found is not None
    flat = WRITTEN["singles"].reshape(4, 6)
    assert [list(column) for column in found["singles"].columns()] == [list(flat[:, place]) for place in range(6)]
    assert len(found["floats"].columns()) == 3
    assert found["empty"].columns() == []


def npy(value: NDArray[np.generic], **options: bool) -> bytes:
    file = BytesIO()
    np.lib.format.write_array(file, value, allow_pickle=True, **options)
    return file.getvalue()


def with_header(header: str, body: bytes = b"") -> bytes:
    text = header.encode("latin-1")
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + body


HOSTILE = {
    "nothing": b"",
    "magic": b"\x93NUMPY",
    "pickled": npy(np.array([{"a": 1}], dtype=object)),
    "fortran": npy(np.asfortranarray(np.ones((3, 2)))),
    "big endian": npy(np.ones(3, dtype=">f8")),
    "structured": npy(np.zeros(2, dtype=[("a", "<f8")])),
    "short": npy(np.ones(10))[:-8],
    "long": npy(np.ones(10)) + b"12345678",
    "torn": npy(np.ones(10))[:-3],
    "negative": with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1)}", bytes(8)),
    "huge": with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (10**12,)}"),
    "large": with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}"),
    "deep": with_header("(" * 5000 + ")" * 5000),
    "call": with_header("__import__('os').system('true')"),
    "list": with_header("[1, 2]"),
    "no text": with_header("{'descr': 7, 'fortran_order': False, 'shape': (1,)}"),
    "shape": with_header("{'descr': '<f8', 'fortran_order': False, 'shape': 7}"),
    "bool shape": with_header("{'descr': '<f8', 'fortran_order': False, 'shape': ('a',)}"),
    "no width": with_header("{'descr': '<U', 'fortran_order': False, 'shape': (1,)}", bytes(4)),
    "zero width": with_header("{'descr': '<U0', 'fortran_order': False, 'shape': (3,)}"),
    "negative width": with_header("{'descr': '<U-4', 'fortran_order': False, 'shape': (3,)}", bytes(16)),
    "surrogate": with_header("{'descr': '<U1', 'fortran_order': False, 'shape': (1,)}", b"\x00\xd8\x00\x00"),
    "keys": with_header("{'descr': '<f8'}"),
    "long header": with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (0,)" + " " * 20_000 + "}"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_p2p_does_not_write_reads_as_none(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", HOSTILE[kind])
    assert read_arrays(path, ["x"]) is None


def test_absent_files_names_and_links_read_as_none(path: Path, tmp_path: Path) -> None:
    assert read_arrays(tmp_path / "absent.npz", ["floats"]) is None
    assert read_arrays(path, ["floats", "unknown"]) is None
    (tmp_path / "text.npz").write_text("no archive")
    assert read_arrays(tmp_path / "text.npz", ["floats"]) is None
    assert read_arrays(tmp_path, ["floats"]) is None


def test_a_small_file_of_large_arrays_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("x.npy", "w", force_zip64=True) as file,
    ):
        file.write(with_header(f"{{'descr': '|b1', 'fortran_order': False, 'shape': ({300 << 20},)}}"))
        for _ in range(300):
            file.write(bytes(1 << 20))
    assert path.stat().st_size < 2 << 20
    assert read_arrays(path, ["x"]) is None


def test_no_broken_byte_raises(path: Path) -> None:
    whole, chance = path.read_bytes(), random.Random(3)
    for _ in range(300):
        broken = bytearray(whole)
        for _ in range(chance.choice((1, 5, 50))):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        path.write_bytes(bytes(broken[: chance.choice((len(broken), chance.randrange(len(broken))))]))
        found = read_arrays(path, list(WRITTEN))
        assert found is None or all(isinstance(value, PlainArray) for value in found.values())


def test_reading_needs_no_numpy(path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from p2p.store.plain_arrays import read_arrays; "
        "assert read_arrays(Path(sys.argv[1]), ['floats']) is not None; assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)

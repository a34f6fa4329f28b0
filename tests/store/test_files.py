import json
import os
import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from p2p.contracts.errors import StorageProblem
from p2p.contracts.metadata import EntityMetadata
from p2p.contracts.remedies import Remedy
from p2p.scheduler import supervisor
from p2p.store import files


def test_a_model_written_is_the_model_read(tmp_path: Path) -> None:
    metadata = EntityMetadata(alias="first", tags=("a", "b"))
    files.write_model(tmp_path / "deep" / "metadata.json", metadata)
    assert files.read_model(tmp_path / "deep" / "metadata.json", EntityMetadata) == metadata


@pytest.mark.parametrize("content", ["", "{", "[]", '{"alias": 3', '{"unknown": 1}'])
def test_a_broken_file_reads_as_absent(tmp_path: Path, content: str) -> None:
    path = tmp_path / "metadata.json"
    path.write_text(content)
    assert files.read_model(path, EntityMetadata) is None


def test_a_file_nested_too_deeply_to_parse_reads_as_broken(tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    path.write_text("[" * 100_000 + "\n{}\n")
    assert files.read_json(path) is None
    assert files.read_lines(path)[0] == [{}]
    assert supervisor.read(path) == {}


def test_readers_never_see_half_a_file_and_no_temporary_is_left(tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    files.write_json(path, {"n": 0, "padding": "x" * 20_000})

    def write(n: int) -> None:
        files.write_json(path, {"n": n, "padding": "x" * 20_000})

    with ThreadPoolExecutor(4) as pool:
        writes = [pool.submit(write, n) for n in range(100)]
        while not all(write.done() for write in writes):
            assert len(json.loads(path.read_bytes())["padding"]) == 20_000
    assert [p.name for p in tmp_path.iterdir()] == ["value.json"]


def test_a_full_disk_leaves_the_old_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    files.write_json(path, {"old": True})
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        import signal  # noqa: PLC0415  the child alone needs it

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            files.write_json(path, {"new": "x" * 100_000})
        except StorageProblem as error:
            os._exit(7 if "Free some space" in str(error) else 8)
        os._exit(9)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 7
    assert files.read_json(path) == {"old": True}
    assert len(list(tmp_path.iterdir())) == 1


def test_a_directory_that_cannot_be_made_is_a_storage_problem(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageProblem, match=Remedy.CHOOSE_RUNS_DIR.of()):
        files.write_text(tmp_path / "file" / "below" / "x.json", "{}")


def test_a_line_broken_by_a_crash_spoils_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    files.append_line(path, '{"n": 1}')
    with path.open("a") as file:
        file.write('{"n": 2, "cut o')
    files.append_line(path, '{"n": 3}')
    values, offset = files.read_lines(path)
    assert [value["n"] for value in values] == [1, 3]
    assert offset == path.stat().st_size


def test_lines_are_read_on_from_an_offset_and_never_by_half(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    files.append_line(path, '{"n": 1}')
    _, offset = files.read_lines(path)
    with path.open("a") as file:
        file.write('{"n": 2}\n{"n": 3')
    assert files.read_lines(path, offset) == ([{"n": 2}], offset + 9)

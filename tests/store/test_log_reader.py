"""Numbered logs, read from any number on; every answer is compared with one that reads the whole file."""

import json
import random
from pathlib import Path

import pytest

from p2p.store import files
from p2p.store.log_reader import log_after


def by_reading_all(path: Path, number: int, limit: int) -> tuple[list[object], int]:
    """What `log_after` answers, from the definition."""
    kept = []
    for text in path.read_bytes().split(b"\n")[:-1]:
        try:
            line = json.loads(text)
        except ValueError:
            continue
        newest = kept[-1]["seq"] if kept else 1
        if isinstance(line, dict) and isinstance(line.get("seq"), int) and line["seq"] >= newest:
            kept.append(line)
    after = [line for line in kept if line["seq"] > number]
    return after[:limit], kept[-1]["seq"] if kept else 0


def test_any_log_reads_as_by_reading_all_of_it_while_it_grows(tmp_path: Path) -> None:
    chance = random.Random(5)
    for case in range(20):
        path = tmp_path / f"{case}.jsonl"
        path.write_bytes(b"")
        seq = 0
        for _ in range(12):
            with path.open("ab") as file:
                for _ in range(chance.randrange(9)):
                    seq += chance.choice((1, 1, 1, 2, 0, -1))
                    whole = json.dumps({"seq": seq, "data": {"text": "é" * chance.randrange(40)}}).encode()
                    kind = chance.randrange(12)
                    file.write({0: b"{broken", 1: b"[1, 2]", 2: b'{"seq": "7"}', 3: b""}.get(kind, whole) + b"\n")
                if chance.random() < 0.4:
                    file.write(b'{"seq": ')  # cut off, as by a crash; the next writer ends it
                    assert log_after(path, 0, 1000) == by_reading_all(path, 0, 1000)
                    file.write(b"\n")
            for _ in range(4):
                number, limit = chance.randrange(-1, seq + 3), chance.randrange(1, 8)
                assert log_after(path, number, limit) == by_reading_all(path, number, limit)


def test_an_absent_log_is_empty(tmp_path: Path) -> None:
    assert log_after(tmp_path / "events.jsonl", 0, 10) == ([], 0)


def test_only_what_is_new_is_looked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "events.jsonl"
    for seq in range(1, 201):
        files.append_line(path, json.dumps({"seq": seq, "data": "x" * 200}), durable=False)
    log_after(path, 0, 1)
    places = []
    whole = files.read_blocks

    def counted(path: Path, offset: int = 0, end: int | None = None):
        for start, block in whole(path, offset, end):
            places.append((start, len(block)))
            yield start, block

    monkeypatch.setattr(files, "read_blocks", counted)
    files.append_line(path, json.dumps({"seq": 201}), durable=False)
    assert log_after(path, 199, 10)[0][-1] == {"seq": 201}
    assert sum(length for _, length in places) < 600


def test_a_log_in_place_of_another_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"seq": 1}\n{"seq": 2}\n')
    assert log_after(path, 0, 9)[1] == 2
    (tmp_path / "new").write_text('{"seq": 1, "new": true}\n{"seq": 2, "new": true}\n{"seq": 3, "new": true}\n')
    (tmp_path / "new").replace(path)
    assert log_after(path, 0, 1) == ([{"seq": 1, "new": True}], 3)
    path.write_text('{"seq": 1, "short": true}\n')
    assert log_after(path, 0, 9) == ([{"seq": 1, "short": True}], 1)


def test_another_log_under_the_same_inode_is_told_by_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"seq": 1, "at": "noon"}\n{"seq": 2}\n')
    assert log_after(path, 0, 9)[1] == 2
    with path.open("r+") as file:  # the same inode, as of a file that was deleted and made anew, and longer
        file.write('{"seq": 1, "at": "dusk"}\n{"seq": 2, "new": true}\n{"seq": 3}\n')
    assert log_after(path, 1, 9) == ([{"seq": 2, "new": True}, {"seq": 3}], 3)

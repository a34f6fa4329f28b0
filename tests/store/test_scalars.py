import json
import os
from pathlib import Path

from p2p.store import files
from p2p.store.scalars import read_scalars


def test_new_rows_are_read_on_and_evaluations_kept_apart(tmp_path: Path) -> None:
    path = tmp_path / "scalars.jsonl"
    assert read_scalars(path) == ([], [])
    files.append_line(path, '{"n": 1}')
    assert read_scalars(path) == ([{"n": 1}], [])
    files.append_line(path, '{"n": 2, "type": "eval"}')
    files.append_line(path, '{"n": 3}')
    assert read_scalars(path) == ([{"n": 1}, {"n": 3}], [{"n": 2, "type": "eval"}])


def test_only_what_is_new_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "scalars.jsonl"
    path.write_text("".join(f'{{"n": {n:100}}}\n' for n in range(9)))
    assert len(read_scalars(path)[0]) == 9
    with path.open("r+") as file:
        file.seek(200)
        file.write("#broken#")  # what was read is not looked at again
    files.append_line(path, '{"n": 9}')
    assert [row["n"] for row in read_scalars(path)[0]] == list(range(10))


def test_metrics_that_were_cut_and_grew_on_past_what_was_read_are_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "scalars.jsonl"
    path.write_text('{"n": 1}\n{"n": 2}\n')
    assert len(read_scalars(path)[0]) == 2
    os.truncate(path, 9)
    for n in (3, 4, 5):
        files.append_line(path, json.dumps({"n": n}))
    assert [row["n"] for row in read_scalars(path)[0]] == [1, 3, 4, 5]


def test_a_line_that_is_still_being_written_waits(tmp_path: Path) -> None:
    path = tmp_path / "scalars.jsonl"
    path.write_text('{"n": 1}\n{"n": ')
    assert read_scalars(path)[0] == [{"n": 1}]
    path.write_text('{"n": 1}\n{"n": 2}\n')
    assert [row["n"] for row in read_scalars(path)[0]] == [1, 2]


def test_the_metrics_of_a_training_that_begins_anew_replace_the_old_ones(tmp_path: Path) -> None:
    path = tmp_path / "scalars.jsonl"
    for rows in ([1, 2, 3], [4]):
        path.unlink(missing_ok=True)
        path.write_text("".join(json.dumps({"n": row}) + "\n" for row in rows))
        assert [row["n"] for row in read_scalars(path)[0]] == rows


def test_a_reader_may_keep_or_change_what_it_got(tmp_path: Path) -> None:
    path = tmp_path / "scalars.jsonl"
    path.write_text('{"n": 1}\n')
    read_scalars(path)[0].clear()
    assert read_scalars(path)[0] == [{"n": 1}]

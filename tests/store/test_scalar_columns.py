"""Metrics as columns; every answer is compared with one made by parsing the whole file with the standard library."""

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

from p2p.store import scalar_columns
from p2p.store.scalar_columns import PART, read_columns


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Training rows of the complete lines, by the standard library."""
    rows = []
    for text in path.read_bytes().split(b"\n")[:-1]:
        try:
            row = json.loads(text)
        except ValueError:
            continue
        if isinstance(row, dict) and row.get("type") != "eval" and type(row.get("global_step")) in (int, float):
            rows.append(row)
    return rows


def points(rows: list[dict[str, Any]], name: str) -> list[tuple[float, float]]:
    """Step and value of each row that has one; infinity for what is not finite."""
    found = []
    for row in rows:
        if type(value := row.get(name)) in (int, float):
            found.append((row["global_step"], float(value) if math.isfinite(value) else math.inf))
    return found


def kept_whole(path: Path, name: str, since: int | None = None) -> list[tuple[float, float]]:
    column = read_columns(path, [name], since).columns[name]
    return [(step, value) for step, value in zip(column.steps, column.values, strict=True) if not math.isnan(value)]


def random_row(chance: random.Random, step: int) -> dict[str, Any]:
    row: dict[str, Any] = {"global_step": step, "device": "cpu", "a": chance.gauss(0, 1), "b": chance.randrange(9)}
    kind = chance.randrange(30)
    if kind == 0:
        row["a"] = chance.choice((math.nan, math.inf, -math.inf, None, "text", True))
    if kind == 1:
        del row["b"]
    if kind == 2:
        row["late"] = chance.random()
    if kind == 3:
        row = {"type": "eval", "global_step": step, "mean_return": 1.5, "all_returns": [1, 2]}
    if kind == 4:
        del row["global_step"]
    return row


def write_random(path: Path, chance: random.Random, begin: int, count: int) -> None:
    with path.open("a") as file:
        for step in range(begin, begin + count):
            file.write("{cut off\n" if chance.random() < 0.01 else json.dumps(random_row(chance, 10 * step)) + "\n")


def test_every_value_of_a_short_file_is_kept_however_it_grows(tmp_path: Path) -> None:
    for case in range(12):
        chance = random.Random(case)
        path = tmp_path / f"{case}.jsonl"
        step = 1
        for _ in range(6):
            count = chance.choice((0, 1, 5, 63, 64, 65, 200))
            write_random(path, chance, step, count)
            step += count
            if chance.random() < 0.3:
                with path.open("a") as file:
                    file.write('{"global_step": 9')
                read_columns(path)
                with path.open("a") as file:
                    file.write("\n")
            rows = rows_of(path)
            table = read_columns(path)
            assert table.rows == len(rows)
            assert table.step == (rows[-1]["global_step"] if rows else 0)
            for name in table.names:
                assert kept_whole(path, name) == points(rows, name)
                first = table.columns[name].first
                assert first == next(iter(points(rows, name)))
            since = chance.randrange(10 * step)
            for name in table.names:
                later = [point for point in points(rows, name) if point[0] > since]
                assert kept_whole(path, name, since) == later
        assert set(table.names) <= {"a", "b", "late"}


def test_of_a_long_file_the_extremes_of_every_part_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scalar_columns, "WHOLE", 3 * PART)
    for case in range(12):
        chance = random.Random(100 + case)
        path = tmp_path / f"{case}.jsonl"
        step = 1
        for _ in range(5):
            count = chance.choice((40, 64, 128, 300))
            write_random(path, chance, step, count)
            step += count
            rows = rows_of(path)
            table = read_columns(path)
            if len(rows) <= 3 * PART:
                continue
            parts = len(rows) // PART
            for name, column in table.columns.items():
                assert kept_whole(path, name) == points(rows[parts * PART :], name)
                assert len(column.extremes.low) == parts
                for part in range(parts):
                    known = points(rows[part * PART : (part + 1) * PART], name)
                    finite = [(value, at) for at, value in known if math.isfinite(value)]
                    low, low_step, high, high_step = (numbers[part] for numbers in column.extremes)
                    if finite:
                        assert (low, high) == (min(finite)[0], max(finite)[0])
                        assert {(low, low_step), (high, high_step)} <= set(finite)
                    else:
                        assert (low, high) == (math.inf, -math.inf)
                        assert low_step == known[0][0] if known else math.isnan(low_step)


def test_evaluations_are_kept_without_the_returns_of_single_rollouts(tmp_path: Path) -> None:
    path = tmp_path / "scalars.jsonl"
    evaluations = [
        {"type": "eval", "global_step": 100 * n, "criteria": {"up": 0.5}, "all_returns": [1]} for n in (1, 2)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in evaluations))
    table = read_columns(path)
    assert table.evaluations == tuple({k: v for k, v in row.items() if k != "all_returns"} for row in evaluations)
    assert read_columns(path, since=100).evaluations == table.evaluations[1:]
    assert (table.rows, table.step, table.names) == (0, 0, ())


def test_only_the_columns_asked_for_are_returned(tmp_path: Path) -> None:
    path = tmp_path / "scalars.jsonl"
    path.write_text('{"global_step": 1, "a": 1, "b": 2}\n')
    assert set(read_columns(path, ["b", "unknown"]).columns) == {"b"}
    assert read_columns(path, []).columns == {}
    assert read_columns(path).names == ("a", "b")


def test_a_training_that_begins_anew_replaces_the_old_columns(tmp_path: Path) -> None:
    path = tmp_path / "scalars.jsonl"
    path.write_text('{"global_step": 1, "a": 1}\n{"global_step": 2, "a": 2}\n')
    assert kept_whole(path, "a") == [(1, 1), (2, 2)]
    path.unlink()
    (tmp_path / "other").write_text('{"global_step": 1, "b": 7}\n')
    (tmp_path / "other").replace(path)
    assert kept_whole(path, "b") == [(1, 7)]
    path.unlink()
    assert read_columns(path).rows == 0


def test_numbers_beyond_those_of_a_float_are_not_finite(tmp_path: Path) -> None:
    path = tmp_path / "scalars.jsonl"
    path.write_text(f'{{"global_step": 1, "a": 1}}\n{{"global_step": 2, "a": 1{"0" * 400}}}\n')
    assert kept_whole(path, "a") == [(1, 1), (2, math.inf)]


def test_what_nobody_asked_for_longest_is_forgotten_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = scalar_columns._Tables()
    monkeypatch.setattr(scalar_columns, "_TABLES", tables)
    monkeypatch.setattr(scalar_columns, "KEPT_BYTES", 5000)
    for name in "abc":
        path = tmp_path / name
        path.write_text("".join(f'{{"global_step": {n}, "x": {n}}}\n' for n in range(200)))
        read_columns(path)
    read_columns(tmp_path / "c")
    assert [path.name for path in tables._known] == ["c"]
    assert read_columns(tmp_path / "a").rows == 200

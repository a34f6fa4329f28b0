"""`p2p bench start`: what it costs to start p2p."""

import json
from pathlib import Path

import pytest

from p2p.cli import main
from p2p.contracts.errors import EnvironmentProblem
from p2p.lab.contracts.measurement import Spread, StartReport, StartRow
from p2p.lab.speed import start_up
from p2p.lab.speed.start_up import Start, measure_starts, starts, table


def test_sessions_are_shown_where_there_are_some() -> None:
    assert {start.name for start, _ in starts(True)} - {start.name for start, _ in starts(False)} == {
        "p2p show latest",
        "p2p show latest --json",
    }


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (Start("a command", ("-c", "raise SystemExit(3)")), "a command ended with 3"),
        (Start("a server", ("-c", ""), start_up.LISTING), "a server gave no answer"),
        (Start("a server", ("-c", start_up.BARE_SERVER), (("tools/call", {"name": "none"}),)), "gave no answer"),
    ],
)
def test_what_fails_is_not_measured(start: Start, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_up, "starts", lambda _: [(start, start_up.CODE)])
    with pytest.raises(EnvironmentProblem, match=said):
        measure_starts(tmp_path, 1, False, print)


def test_the_table_gives_each_start_a_row() -> None:
    row = StartRow(
        what="p2p list",
        against=start_up.LIBRARIES,
        seconds=Spread(median=0.2, low=0.1, high=0.3),
        ratio=Spread(median=2, low=1, high=3),
    )
    lines = table(StartReport(repetitions=8, rows=(row,))).splitlines()
    assert lines[2] == (
        "| p2p list | 0.20 s [0.10, 0.30] | `import typer, rich.console, rich.table` | 2.00 [1.00, 3.00] |"
    )


def measured(repetitions: int, place: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, float]:
    """What is started -> the lower end of its time as a multiple of that of its libraries."""
    assert main(["bench", "start", "--repetitions", str(repetitions), "--json", "--runs-dir", str(place)]) == 0
    return {row["what"]: row["ratio"]["low"] for row in json.loads(capsys.readouterr().out)["rows"]}


@pytest.mark.slow
@pytest.mark.nightly
def test_every_command_and_the_server_are_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = measured(1, tmp_path, capsys)
    assert set(rows) == {start.name for start, _ in starts(False)}
    assert min(rows.values()) > 0


@pytest.mark.nightly
def test_commands_and_the_server_start_in_a_small_multiple_of_their_libraries(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = measured(3, tmp_path, capsys)
    assert rows.pop("p2p-mcp, until its tools are listed") <= 1.3
    assert rows.pop("p2p-mcp, until a tool has answered") <= 2.2
    assert set(rows) == {"p2p --help", "p2p list", "p2p list --json"}
    assert max(rows.values()) <= 3.0, rows

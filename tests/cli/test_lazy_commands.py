import json
import subprocess
import sys

import pytest
import typer

from p2p.cli.app import Commands, app
from p2p.cli.lazy import LazyCommand, LazyGroup
from p2p.lab.commands import Benches, Measurements, bench, lab

ROWS = [*Commands.rows, *Measurements.rows]


def test_the_help_page_imports_no_command_no_service_and_no_pydantic() -> None:
    loaded = _modules_after(["--help"])
    assert not {name for name in loaded if name.split(".")[0] in ("pydantic", "pydantic_core", "mcp", "jinja2")}
    ours = {name for name in loaded if name.startswith("p2p.") and not name.startswith("p2p.cli")}
    assert ours == {
        *("p2p.config_location", "p2p.registry"),
        *("p2p.contracts", "p2p.contracts.errors", "p2p.contracts.remedies"),
    }
    called = {row.place.split(":")[0] for row in ROWS}
    assert not called & loaded


@pytest.mark.parametrize(("words", "own"), [(["bench", "--help"], "lab.commands"), (["envs", "--help"], "cli.catalog")])
def test_a_help_page_imports_its_own_command_alone(words: list[str], own: str) -> None:
    called = {row.place.split(":")[0] for row in ROWS}
    assert called & _modules_after(words) == {f"p2p.{own}"}


@pytest.mark.parametrize(("words", "own"), [(["list", "--json"], "listing"), (["show"], "show")])
def test_a_look_at_sessions_loads_what_reads_them_and_nothing_that_works(words: list[str], own: str) -> None:
    loaded = _modules_after(words)
    called = {row.place.split(":")[0] for row in ROWS}
    assert called & loaded == {f"p2p.cli.{own}"}
    packages = {name.split(".")[1] for name in loaded if name.startswith("p2p.")}
    assert not packages & {"benchmark", "envs", "inference", "judges", "lab", "prompts", "rewards", "session", "worker"}
    services = {name.split(".")[2] for name in loaded if name.startswith("p2p.service.")}
    assert not services & {"judging", "machines", "models", "pictures", "rewards", "sessions", "steps"}
    assert not {"p2p_mcp", "numpy", "paramiko", "jinja2"} & loaded


def test_a_short_command_spends_nothing_on_garbage_collection() -> None:
    code = """
import gc, sys
from p2p.cli import main
sys.argv = ["p2p", "list"]
before = gc.get_stats()
main()
full = [after["collections"] - then["collections"] for then, after in zip(before[1:], gc.get_stats()[1:])]
print("\\n", *full, len(gc.get_objects()), gc.get_freeze_count() > 10_000)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *full, left, frozen = done.stdout.splitlines()[-1].split()
    assert full == ["0", "0"]
    assert int(left) < 1_000, "objects that the interpreter's last collection would look through"
    assert frozen == "True"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.place)
def test_the_listed_help_is_the_first_paragraph_of_the_commands_own(row: LazyCommand) -> None:
    own = row.load().help or ""
    assert row.help == " ".join(own.split("\n\n")[0].split())


@pytest.mark.parametrize(("group", "its_app"), [(Commands, app), (Benches, bench), (Measurements, lab)])
def test_a_group_lists_its_rows_in_order(group: type[LazyGroup], its_app: typer.Typer) -> None:
    made = typer.main.get_group(its_app)
    assert list(made.commands) == [row.name for row in group.rows]


def _modules_after(words: list[str]) -> set[str]:
    """Names of the modules that a process has imported when it has run one command."""
    code = f"import json, sys; from p2p.cli import main; main({words!r}); print('\\n' + json.dumps([*sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))

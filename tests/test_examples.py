import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(FOLDER.glob("[0-9][0-9]_*.py"))
NOTEBOOK = FOLDER / "notebook.ipynb"
ELSEWHERE = {"04_claude_agent", "08_train_on_another_machine", "10_train_on_a_cluster"}
"""Run beside what they need: a scripted Claude in tests/mcp/agent, a real sshd and clusters in tests/scheduler."""
BY_THEMSELVES = [example for example in EXAMPLES if example.stem not in ELSEWHERE]


@pytest.mark.nightly
@pytest.mark.parametrize("example", BY_THEMSELVES, ids=lambda example: example.stem)
def test_an_example_runs_to_its_assertion(example: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(example), str(tmp_path / "runs")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_fits_a_screen_and_ends_in_an_assertion(example: Path) -> None:
    lines = example.read_text(encoding="utf-8").splitlines()
    assert len(lines) < 60
    assert lines[-1].startswith("assert ")


def test_every_example_is_named_in_the_documents() -> None:
    told = (FOLDER.parent / "docs" / "quickstart.md").read_text(encoding="utf-8")
    assert [path.name for path in (*EXAMPLES, NOTEBOOK) if f"examples/{path.name}" not in told] == []


SHOWN_AS_IN_A_NOTEBOOK = """
import ast, json, sys
shown = {}
for cell in json.loads(sys.stdin.read()):
    tree = ast.parse(cell)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), shown)
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), shown) if last else None
    if value is not None:
        print(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
"""


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.usefixtures("pictures")
def test_the_cells_of_the_notebook_run_and_a_session_is_shown_as_html(tmp_path: Path) -> None:
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    done = subprocess.run(
        [sys.executable, "-c", SHOWN_AS_IN_A_NOTEBOOK],
        input=json.dumps(["".join(cell["source"]) for cell in cells]),
        env=os.environ | {"P2P_RUNS_DIR": str(tmp_path / "runs")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "<video" in done.stdout
    assert "class BalancePole(RewardFunction):" in done.stdout


def test_the_notebook_is_kept_without_its_outputs() -> None:
    notebook = json.loads(NOTEBOOK.read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all((cell["outputs"], cell["execution_count"]) == ([], None) for cell in code)
    assert isinstance(ast.parse("".join(code[-1]["source"])).body[-1], ast.Assert)

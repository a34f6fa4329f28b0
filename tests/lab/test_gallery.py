"""The gallery reads robots of packages without importing them."""

import json
import shutil
from pathlib import Path

import pytest

from p2p.cli import main
from p2p.contracts.errors import InvalidInput
from p2p.lab.gallery.command import Gallery, Shown, Verdict, markdown
from p2p.lab.gallery.exhibits import EXAMPLES, EXHIBITS, Exhibit, find

PONY = Exhibit("pony", "ponies", "ponies/data/pony.xml")


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    root = tmp_path / "ponies"
    (root / "ponies" / "data").mkdir(parents=True)
    shutil.copy(EXAMPLES / "pony.xml", root / "ponies" / "data")
    (root / "ponies" / "__init__.py").write_text("raise RuntimeError('imported')")
    (root / "ponies-1.dist-info").mkdir()
    (root / "ponies-1.dist-info" / "METADATA").write_text("Name: ponies\nLicense-Expression: MIT\n\nLicense: other")
    (root / "ponies-1.dist-info" / "LICENSE").write_text("of the package")
    return tmp_path


def test_a_model_is_found_with_the_licence_nearest_to_it(packages: Path) -> None:
    found = find(PONY, packages)
    assert found.licence == "MIT"
    assert found.licence_file is not None
    assert found.licence_file.read_text() == "of the package"
    (packages / "ponies" / "ponies" / "data" / "LICENSE").write_text("of the model")
    nearer = find(PONY, packages).licence_file
    assert nearer is not None
    assert nearer.read_text() == "of the model"


def test_what_is_not_installed_says_what_to_do() -> None:
    with pytest.raises(InvalidInput, match="pip install --no-deps ponies"):
        find(PONY, None)


def test_the_command_describes_and_says_why_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = tmp_path / "gallery.md"
    document.write_text("<!-- gallery --><!-- /gallery -->")
    words = ["--runs-dir", str(tmp_path / "runs"), "--from", str(tmp_path), "--readme", str(document), "--json"]
    assert main(["lab", "gallery", "--only", "snake", "--only", "spot", *words]) == 0
    spot, snake = json.loads(capsys.readouterr().out)["robots"]
    assert "expected playground with the model of spot" in spot["refused"]
    assert snake["actions"] == 5
    assert "| snake |" in document.read_text()
    assert main(["lab", "gallery", "--only", "unicorn", *words]) == 2
    for sentence in next(exhibit.sentences for exhibit in EXHIBITS if exhibit.name == "snake"):
        assert main(["run", sentence, "--env", "snake", "--dry-run", "--runs-dir", str(tmp_path / "runs")]) == 0


def test_the_table_counts_sessions_of_each_sentence() -> None:
    def verdict(seed: int, outcome: str, rate: float | None, steps: int | None = 1000) -> Verdict:
        said = {"robot": "pony", "env_id": "pony-00000000", "sentence": "stand still", "total_timesteps": steps}
        return Verdict(**said, seed=seed, outcome=outcome, success_rate=rate, wall_s=60.4)

    verdicts = (verdict(1, "passed", 0.98), verdict(2, "max_iterations", 0.5), verdict(3, "error", None))
    table = markdown(Gallery(robots=(Shown(name="pony", package="ponies", licence="MIT", verdicts=verdicts),)))
    assert '"stand still": 1 of 3 (98%, 50%, -; 60 s, 60 s, 60 s; 1,000 steps)' in table
    mixed = (verdict(1, "passed", 1.0, None), verdict(2, "passed", 1.0))
    own = markdown(Gallery(robots=(Shown(name="pony", package="", licence="", verdicts=mixed),)))
    assert "p2p's own number of steps or 1,000 steps)" in own


def test_every_robot_has_a_name_of_its_own() -> None:
    assert len({exhibit.name for exhibit in EXHIBITS}) == len(EXHIBITS)

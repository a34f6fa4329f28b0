import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from shared_sessions import passed_session

from p2p.cli import main

pytestmark = pytest.mark.usefixtures("runs_dir")
Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "--format"),
        (["--format", "onyx"], "Unknown format 'onyx'. Did you mean 'onnx'? Known: onnx, sb3, torchscript"),
        (["--format", "sb3,onyx"], "Unknown format 'onyx'"),
        (["--format", ""], "--format is empty"),
        (["--format", "onnx", "--license", "my own"], "--license"),
        (["--format", "onnx"], "Unknown session 'latest'"),
        (["--format", "onnx", "--log", "tensorboard"], "give one of them at a time"),
    ],
)
def test_what_cannot_be_exported_exits_2_and_writes_nothing(
    words: list[str], said: str, runs_dir: Path, capsys: Capture
) -> None:
    assert main(["export", *words]) == 2
    assert said in capsys.readouterr().err
    assert not runs_dir.exists()
    assert main(["export", *words, "--json"]) == 2
    assert said in json.loads(capsys.readouterr().out)["error"]["message"]


@pytest.mark.parametrize(("begun", "offered"), [("", ["sb3", "onnx", "torchscript"]), ("o", ["onnx"])])
def test_the_shell_completes_formats(begun: str, offered: list[str]) -> None:
    line = f"p2p export --format {begun}"
    asked = {"_P2P_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": "3"}
    done = subprocess.run(
        [sys.executable, "-m", "p2p.cli"], env={**os.environ, **asked}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == offered


@pytest.mark.slow
@pytest.mark.parametrize(
    "formats", [("onnx",), pytest.param(("sb3,onnx", "torchscript"), marks=pytest.mark.nightly)], ids="".join
)
@pytest.mark.usefixtures("pictures")
def test_a_trained_policy_is_exported_and_replays_as_recorded(
    formats: tuple[str, ...],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    runs_dir: Path,
    capsys: Capture,
) -> None:
    shutil.copytree(passed_session(tmp_path_factory), runs_dir)
    folder = tmp_path / "policy"
    words = [word for name in formats for word in ("--format", name)]
    export = ["export", *words, "--output", str(folder), "--json"]

    assert main(export) == 0

    made = json.loads(capsys.readouterr().out)
    assert made["directory"] == str(folder)
    assert all(Path(path).exists() for path in made["files"])
    assert {Path(path).name for path in made["files"]} == {path.name for path in folder.iterdir()}
    assert (folder / "replay.mp4").exists()
    report = made["report"]
    assert report["episode"]["purpose"] == "report"
    for check in report["checks"]:
        assert check["max_difference"] <= 1e-5
        assert check["trained_return"] == pytest.approx(report["episode"]["trained_return"], rel=1e-3)
        assert check["gymnasium_return"] == pytest.approx(report["episode"]["gymnasium_return"], rel=1e-3)
    assert "**Verdict: " in (folder / "README.md").read_text()
    replay = subprocess.run([sys.executable, folder / "replay.py"], capture_output=True, text=True, check=True)
    assert "difference 0" in replay.stdout

    assert main(export) == 2
    assert "is not empty" in capsys.readouterr().out
    assert main(["export", "--format", "onnx", "--output", str(folder), "--overwrite"]) == 0
    assert "policy.onnx" in capsys.readouterr().out
    assert not (folder / "model.zip").exists()


@pytest.mark.nightly
def test_formats_are_exported_one_after_the_other(
    tmp_path_factory: pytest.TempPathFactory, runs_dir: Path, capsys: Capture
) -> None:
    shutil.copytree(passed_session(tmp_path_factory), runs_dir)
    for name, file in (("sb3", "model.zip"), ("onnx", "policy.onnx"), ("torchscript", "policy.pt")):
        assert main(["export", "--format", name]) == 0, f"{name}, after the formats before it"
        assert file in capsys.readouterr().out

import logging
import os
from pathlib import Path

import pytest

from p2p.cli import main
from p2p.contracts.errors import InvalidInput
from p2p.contracts.node import CheckLevel
from p2p.service.machines.setup import check_setup
from p2p.service.workspace import Workspace
from p2p.settings import Settings, adopt_config_file, api_key, keys_present

KEY = "sk-very-secret"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this process looks for its configuration file, which is not there yet."""
    for name in ("P2P_CONFIG", "P2P_MAX_JOBS", "MUJOCO_GL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "p2p" / "config.toml"
    path.parent.mkdir()
    return path


def write(path: Path, text: str, mode: int = 0o600) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


def test_without_a_file_settings_are_those_of_the_environment(config: Path) -> None:
    assert not config.exists()
    assert Settings.from_environment().max_jobs == 1


def test_the_file_says_what_the_environment_does_not(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(config, 'runs_dir = "~/trained"\nmax_parallel = 3\nmax_jobs = 2\n[keys]\nOPENAI_API_KEY = "' + KEY + '"\n')
    monkeypatch.setenv("P2P_MAX_JOBS", "4")
    monkeypatch.setenv("OPENAI_API_KEY", "")

    settings = Settings.from_environment()

    assert settings.runs_dir == Path.home() / "trained"
    assert (settings.max_parallel, settings.max_jobs) == (3, 4)
    assert keys_present() == {"ANTHROPIC_API_KEY": False, "GEMINI_API_KEY": False, "OPENAI_API_KEY": True}
    assert api_key("OPENAI_API_KEY") == KEY
    assert Settings.from_environment(Path("/elsewhere")).runs_dir == Path("/elsewhere")


def test_a_variable_that_names_another_file_is_followed(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(config, "max_jobs = 2")
    write(tmp_path / "other.toml", "max_jobs = 5")
    monkeypatch.setenv("P2P_CONFIG", str(tmp_path / "other.toml"))
    assert Settings.from_environment().max_jobs == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max_jobs = \nbackend = 1", r"config\.toml is not a TOML file: .*line 1.*move it away"),
        ("max_job = 2", r"Unknown setting in .*config\.toml: 'max_job'.*Did you mean 'max_jobs'"),
        ("max_jobs = 0", r"config\.toml, max_jobs=0 has a wrong value"),
        ('runs_dir = "runs"', r"would mean another place in every folder"),
        ("[keys]\nOPENAI_API_KEY = 17", r"config\.toml: keys\.OPENAI_API_KEY has a wrong value.*in quotes"),
        ("keys = 3", r"config\.toml: keys has a wrong value"),
        (b"\xff\xfe".decode("latin-1"), r"not a TOML file"),
    ],
)
def test_a_broken_file_is_refused_in_words(config: Path, text: str, message: str) -> None:
    write(config, text)
    with pytest.raises(InvalidInput, match=message):
        Settings.from_environment()


def test_a_refusal_does_not_show_a_key(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(config, f'[keys]\nOPENAI_API_KEY = ["{KEY}"]\n')
    assert main(["doctor"]) == InvalidInput.exit_code
    shown = capsys.readouterr()
    assert "OPENAI_API_KEY" in shown.err
    assert KEY not in shown.out + shown.err


def test_a_front_end_puts_the_file_under_the_environment(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(config, '[env]\nMUJOCO_GL = "egl"\nLANG = "C"\n')
    monkeypatch.setattr(os, "environ", {**os.environ, "LANG": "de"})
    adopt_config_file()
    assert os.environ["MUJOCO_GL"] == "egl"
    assert os.environ["LANG"] == "de"


@pytest.mark.skipif(os.name != "posix", reason="file modes are those of POSIX")
def test_keys_that_others_can_read_are_warned_of(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write(config, f'[keys]\nOPENAI_API_KEY = "{KEY}"\n', mode=0o644)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    with caplog.at_level(logging.WARNING):
        adopt_config_file()
    assert f"chmod 600 {config}" in caplog.text
    check = {check.name: check for check in check_setup(Workspace(Settings(runs_dir=tmp_path))).checks}["configuration"]
    assert check.level is CheckLevel.WARNING
    assert "chmod 600" in check.remedy

    config.chmod(0o600)
    caplog.clear()
    adopt_config_file()
    assert not caplog.records
    assert KEY not in caplog.text

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from p2p.contracts.errors import EnvironmentProblem, InvalidInput, StorageProblem
from p2p_mcp.cli import main
from p2p_mcp.install.change import apply, change_of, servers
from p2p_mcp.install.clients import CLIENTS, client_named, configuration, installed
from p2p_mcp.install.entry import this_installation
from p2p_mcp.install.machine import Machine

Capture = pytest.CaptureFixture[str]
KEY = "sk-very-secret"
OTHERS = {
    "claude-desktop": '{"globalShortcut": "Ctrl+Space", "mcpServers": {"files": {"command": "npx"}}}',
    "claude-code": '{\n\t"numStartups": 12,\n\t"mcpServers": {},\n\t"projects": {"/a": {"mcpServers": {"x": {}}}}\n}\n',
    "cursor": '{\n  "mcpServers": {\n    "files": {\n      "command": "npx"\n    }\n  }\n}',
    "vscode": '{\r\n    "servers": {\r\n        "b": {\r\n            "url": "http://ü"\r\n        }\r\n    }\r\n}\r\n',
    "gemini": '{\n  "theme": "GitHub",\n  "selectedAuthType": "gemini-api-key"\n}\n',
}
COMMENTED = {
    "vscode": '{\n    // shared with the team\n    "servers": {\n        "b": {"url": "http://b"},\n    }\n}\n',
    "gemini": '{\n  "theme": "GitHub", /* dark is hard to read */\n  "selectedAuthType": "gemini-api-key"\n}\n',
}
each_client = pytest.mark.parametrize("name", list(CLIENTS))


def file_of(name: str) -> Path:
    return configuration(client_named(name), Machine.this())


def with_others(name: str) -> Path:
    """A client that is installed and used."""
    path = file_of(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(OTHERS[name].encode())
    path.chmod(0o640)
    return path


def written(name: str) -> dict[str, Any]:
    found = servers(client_named(name), Machine.this())["p2p"]
    assert isinstance(found, dict)
    return found


@each_client
@pytest.mark.usefixtures("home")
def test_a_client_that_is_not_there_is_refused_and_nothing_is_written(name: str, capsys: Capture, home: Path) -> None:
    assert main(["install", name]) == EnvironmentProblem.exit_code
    assert f"{client_named(name).title} does not seem to be installed" in capsys.readouterr().err
    assert list(home.iterdir()) == []
    assert main(["install", name, "--force"]) == 0
    assert written(name)["command"]


@each_client
def test_the_server_is_written_with_absolute_paths_beside_what_was_there(
    name: str, home: Path, capsys: Capture
) -> None:
    path = with_others(name)

    assert main(["install", name, "--runs-dir", "trained", "--env", "MUJOCO_GL=egl"]) == 0

    entry = written(name)
    assert Path(entry["command"]).is_absolute()
    assert os.access(entry["command"], os.X_OK)
    assert entry["args"][-2:] == ["--runs-dir", str(Path.cwd() / "trained")]
    assert entry["env"] == {"MUJOCO_GL": "egl"}
    text, section = path.read_bytes().decode(), client_named(name).section
    kept = json.loads(text)
    del kept[section]["p2p"]
    assert kept == {section: {}, **json.loads(OTHERS[name])}
    assert text.count("\r\n") == ("\r" in OTHERS[name]) * text.count("\n")
    assert "\\u" not in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    [backup] = [file for file in path.parent.iterdir() if file.name.endswith(".bak")]
    assert backup.name.startswith(f"{path.name}.20")
    assert backup.read_bytes() == OTHERS[name].encode()
    shown = capsys.readouterr().out
    assert str(backup) in shown
    assert client_named(name).then in shown
    assert home in path.parents


@each_client
@pytest.mark.usefixtures("home")
def test_a_second_time_changes_nothing_and_uninstalling_leaves_the_others(name: str, capsys: Capture) -> None:
    path = with_others(name)
    before = servers(client_named(name), Machine.this())
    assert main(["install", name]) == 0
    once, files = path.read_bytes(), len(list(path.parent.iterdir()))

    assert main(["install", name]) == 0
    assert "already has 'p2p'" in capsys.readouterr().out
    assert (path.read_bytes(), len(list(path.parent.iterdir()))) == (once, files)

    assert main(["install", name, "--uninstall"]) == 0
    assert servers(client_named(name), Machine.this()) == before
    assert main(["install", name, "--uninstall"]) == 0
    assert "does not have 'p2p'" in capsys.readouterr().out


@each_client
@pytest.mark.usefixtures("home")
def test_a_dry_run_shows_the_entry_and_writes_nothing(name: str, capsys: Capture) -> None:
    path = with_others(name)
    assert main(["install", name, "--dry-run", "--env", f"GEMINI_API_KEY={KEY}", "--env", "LANG=C"]) == 0
    shown = capsys.readouterr().out
    assert "Nothing was written" in shown
    assert '"LANG": "C"' in shown
    assert "GEMINI_API_KEY" in shown
    assert KEY not in shown
    assert path.read_bytes() == OTHERS[name].encode()
    assert [file.name for file in path.parent.iterdir() if file.name.startswith(path.name)] == [path.name]


@each_client
@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("broken", ['{"mcpServers": {', "[1]", '{"mcpServers": [], "servers": 3}', "\xff"])
def test_a_broken_configuration_is_refused_and_stays_as_it_is(name: str, broken: str, capsys: Capture) -> None:
    path = with_others(name)
    path.write_bytes(broken.encode("latin-1"))
    for more in ([], ["--uninstall"], ["--dry-run"]):
        assert main(["install", name, *more]) == InvalidInput.exit_code
        assert f"{path} was not touched" in capsys.readouterr().err
    assert path.read_bytes() == broken.encode("latin-1")
    assert [file.name for file in path.parent.iterdir() if file.name.startswith(path.name)] == [path.name]


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(("name", "text"), [("cursor", '{"mcpServers": {}} // mine'), ("gemini", '{"theme": "a",}')])
def test_what_the_client_does_not_read_is_refused(name: str, text: str, capsys: Capture) -> None:
    with_others(name).write_text(text)
    assert main(["install", name]) == InvalidInput.exit_code
    assert "comments or commas that this client does not read" in capsys.readouterr().err


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("name", "text"), [*COMMENTED.items(), ("cursor", '{"mcpServers": {"a": {}, "a": {"command": "x"}}}')]
)
def test_a_file_that_cannot_be_kept_whole_is_left_alone_and_the_entry_is_shown(
    name: str, text: str, capsys: Capture
) -> None:
    path = with_others(name)
    path.write_text(text)
    for more in ([], ["--dry-run"], ["--env", f"GEMINI_API_KEY={KEY}"]):
        assert main(["install", name, *more]) == InvalidInput.exit_code
        told = capsys.readouterr().err
        assert f"{path} was not touched" in told
        assert f'Add this to its "{client_named(name).section}" yourself' in told
        assert '"--runs-dir"' in told
        assert KEY not in told
    assert path.read_text() == text
    assert [file.name for file in path.parent.iterdir() if file.name.startswith(path.name)] == [path.name]


@pytest.mark.usefixtures("home")
def test_another_entry_of_the_name_is_replaced_and_two_names_live_side_by_side(capsys: Capture) -> None:
    with_others("cursor")
    assert main(["install", "cursor"]) == 0
    assert main(["install", "cursor", "--env", "LANG=C"]) == 0
    assert "replaced 'p2p'" in capsys.readouterr().out
    assert written("cursor")["env"] == {"LANG": "C"}
    assert main(["install", "cursor", "--name", "p2p-lab"]) == 0
    assert list(servers(client_named("cursor"), Machine.this())) == ["files", "p2p", "p2p-lab"]


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["emacs"], "Unknown client 'emacs'"),
        (["cursor", "--name", "a b"], "cannot be called 'a b'"),
        (["cursor", "--env", "LANG"], "is not an assignment"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments: list[str], message: str, capsys: Capture) -> None:
    with_others("cursor")
    assert main(["install", *arguments]) == InvalidInput.exit_code
    assert message in capsys.readouterr().err


@pytest.mark.usefixtures("home")
def test_a_malformed_variable_is_not_repeated(capsys: Capture) -> None:
    with_others("cursor")
    assert main(["install", "cursor", "--env", f"A KEY={KEY}"]) == InvalidInput.exit_code
    assert KEY not in capsys.readouterr().err


def test_a_link_stays_a_link_and_its_target_is_written(home: Path) -> None:
    path = with_others("cursor")
    target = home / "dotfiles.json"
    path.rename(target)
    path.symlink_to(target)
    assert main(["install", "cursor"]) == 0
    assert path.is_symlink()
    assert "p2p" in json.loads(target.read_text())["mcpServers"]


def test_a_file_that_another_program_changes_meanwhile_is_left_to_it(machine: Machine) -> None:
    path = with_others("cursor")
    change = change_of(client_named("cursor"), machine, "p2p", this_installation(Path("runs"), {}))
    path.write_text("{}")
    with pytest.raises(InvalidInput, match="changed by another program"):
        apply(change)
    assert path.read_text() == "{}"


@pytest.mark.skipif(os.name != "posix", reason="a full disk is made of a limit of POSIX")
def test_a_file_that_cannot_be_written_stays_whole(home: Path, machine: Machine) -> None:
    (home / ".cursor").write_text("a file where a folder should be")
    change = change_of(client_named("claude-code"), machine, "p2p", this_installation(Path("runs"), {}))
    blocked = change.model_copy(update={"path": home / ".cursor" / "mcp.json"})
    with pytest.raises(StorageProblem, match="It is as it was"):
        apply(blocked)


@pytest.mark.parametrize(
    ("system", "name", "expected"),
    [
        ("linux", "claude-desktop", ".config/Claude/claude_desktop_config.json"),
        ("darwin", "claude-desktop", "Library/Application Support/Claude/claude_desktop_config.json"),
        ("win32", "claude-desktop", "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("linux", "vscode", ".config/Code/User/mcp.json"),
        ("darwin", "vscode", "Library/Application Support/Code/User/mcp.json"),
        ("win32", "vscode", "AppData/Roaming/Code/User/mcp.json"),
        *((system, "cursor", ".cursor/mcp.json") for system in ("linux", "darwin", "win32")),
        *((system, "gemini", ".gemini/settings.json") for system in ("linux", "darwin", "win32")),
        *((system, "claude-code", ".claude.json") for system in ("linux", "darwin", "win32")),
    ],
)
def test_each_system_keeps_a_configuration_in_its_own_place(
    system: str, name: str, expected: str, tmp_path: Path
) -> None:
    machine = Machine(system=system, home=tmp_path)
    assert configuration(client_named(name), machine) == tmp_path / expected
    assert not installed(client_named(name), machine)


def test_a_packaged_claude_desktop_is_written_to_where_it_looks(tmp_path: Path) -> None:
    packaged = tmp_path / "Local" / "Packages" / "Claude_abc" / "LocalCache" / "Roaming" / "Claude"
    packaged.mkdir(parents=True)
    (tmp_path / "Roaming" / "Claude").mkdir(parents=True)
    places = {"LOCALAPPDATA": str(tmp_path / "Local"), "APPDATA": str(tmp_path / "Roaming")}
    machine = Machine(system="win32", home=tmp_path, environment=places)
    assert configuration(client_named("claude-desktop"), machine).parent == packaged


def test_linux_follows_the_variable_for_configurations(tmp_path: Path) -> None:
    machine = Machine(system="linux", home=tmp_path, environment={"XDG_CONFIG_HOME": str(tmp_path / "elsewhere")})
    assert configuration(client_named("vscode"), machine) == tmp_path / "elsewhere" / "Code" / "User" / "mcp.json"


PROGRAM = """\
#!{python}
import json, pathlib, re, sys
words, path, section = sys.argv[1:], pathlib.Path({path!r}), {section!r}
lines = path.read_text().splitlines(keepends=True)
comments = [line for line in lines if line.lstrip().startswith("//")]
document = json.loads("".join(line for line in lines if line not in comments))
servers = document.setdefault(section, {{}})
if words[0] == "--add-mcp":
    entry = json.loads(words[1])
    servers[entry.pop("name")] = entry
else:
    assert words[0] == "mcp" and words[2:4] == ["--scope", "user"]
    if words[1] == "remove":
        del servers[words[4]]
    elif words[1] == "add-json":
        if words[4] in servers:
            sys.exit("MCP server " + words[4] + " already exists with " + words[5])
        servers[words[4]] = json.loads(words[5])
    else:
        flags, args = words[4 : words.index("--")], words[words.index("--") + 1 :]
        name, command = flags[-2:]
        env = dict(value.split("=", 1) for flag, value in zip(flags, flags[1:]) if flag == "-e")
        servers[name] = {{"command": command, "args": args, **({{"env": env}} if env else {{}})}}
path.write_text("".join(comments) + json.dumps(document))
"""
OWN = {"claude-code": "claude", "vscode": "code", "gemini": "gemini"}


@pytest.fixture(params=list(OWN))
def own(request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Path]:
    """A client, and a program that does what its own command does to its file."""
    name = str(request.param)
    program = home / "bin" / OWN[name]
    program.parent.mkdir()
    section = client_named(name).section
    program.write_text(PROGRAM.format(python=sys.executable, path=str(file_of(name)), section=section))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    return name, program


def test_a_client_is_asked_to_change_its_own_file_and_its_comments_stay(own: tuple[str, Path], capsys: Capture) -> None:
    name, program = own
    path = with_others(name)
    if name != "claude-code":
        path.write_text("// mine\n" + OTHERS[name])
    for more in ([], ["--env", f"GEMINI_API_KEY={KEY}"]):
        assert main(["install", name, *more]) == 0
    shown = capsys.readouterr().out
    calls = {
        "claude-code": ["mcp remove --scope user p2p", "mcp add-json --scope user p2p …"],
        "vscode": ["--add-mcp …"],
        "gemini": ["mcp remove --scope user p2p", "mcp add --scope user …"],
    }
    for call in calls[name]:
        assert f"by: {program} {call}" in shown
    assert KEY not in shown
    assert written(name)["env"] == {"GEMINI_API_KEY": KEY}
    assert written(name)["args"][-2] == "--runs-dir"
    assert path.read_text().startswith("// mine") == (name != "claude-code")
    assert len([file for file in path.parent.iterdir() if file.name.endswith(".bak")]) == 2
    if name == "vscode":  # it has no command that removes, and its file has a comment
        assert main(["install", name, "--uninstall"]) == InvalidInput.exit_code
        assert 'Remove "p2p" from its "servers" yourself' in capsys.readouterr().err
        path.write_text(path.read_text().removeprefix("// mine\n"))
    assert main(["install", name, "--uninstall"]) == 0
    assert "p2p" not in servers(client_named(name), Machine.this())


def test_a_refusal_of_a_client_is_told_without_what_it_was_given(own: tuple[str, Path], capsys: Capture) -> None:
    name, program = own
    with_others(name)
    program.write_text('#!/bin/sh\necho "cannot: $*" >&2\nexit 3\n')
    assert main(["install", name, "--env", f"GEMINI_API_KEY={KEY}"]) == EnvironmentProblem.exit_code
    shown = capsys.readouterr()
    assert "failed: cannot: " in shown.err
    assert "--file" in shown.err
    assert KEY not in shown.out + shown.err
    assert main(["install", name, "--file"]) == 0
    assert written(name)["command"]


def test_a_program_that_ends_well_and_writes_nothing_is_told_of(own: tuple[str, Path], capsys: Capture) -> None:
    name, program = own
    with_others(name)
    program.write_text("#!/bin/sh\nexit 0\n")
    assert main(["install", name]) == EnvironmentProblem.exit_code
    assert "it ended well, and" in capsys.readouterr().err

import json
import re
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

import p2p
from p2p_mcp import bundle
from p2p_mcp.cli import main
from p2p_mcp.docs import Offer, for_models, offer, reference
from p2p_mcp.install import probe
from p2p_mcp.install.clients import CLIENTS

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def read(name: str) -> Any:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def offered() -> Offer:
    return offer()


def test_the_reference_of_the_tools_is_what_the_server_says(offered: Offer) -> None:
    assert (ROOT / "docs" / "tools.md").read_text(encoding="utf-8") == reference(offered), "run: make docs"


def test_the_manifest_of_the_bundle_lists_every_tool_once(offered: Offer) -> None:
    manifest = bundle.manifest(PROJECT["project"], offered)
    assert manifest["version"] == p2p.__version__
    assert [tool["name"] for tool in manifest["tools"]] == [tool.name for tool in for_models(offered.tools)]
    assert manifest["server"]["type"] == "uv"
    used = set(re.findall(r"\$\{user_config\.(\w+)\}", json.dumps(manifest["server"])))
    assert used == set(manifest["user_config"])


def test_a_bundle_holds_a_server_that_answers(tmp_path: Path) -> None:
    assert bundle.main([str(ROOT), str(tmp_path / "bundle")]) == 0
    staged = tmp_path / "bundle"
    assert json.loads((staged / "manifest.json").read_text())["server"]["entry_point"] == "p2p_mcp/__main__.py"
    assert not list(staged.rglob("__pycache__"))
    answer = probe.ask(sys.executable, ["-P", "-m", "p2p_mcp"], {"PYTHONPATH": str(staged)}, timeout_s=120)
    assert answer.problem == ""
    assert answer.version == p2p.__version__


@pytest.mark.parametrize("arguments", [[], ["/nowhere", "staging"]])
def test_a_bundle_of_nothing_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert bundle.main(arguments) == 2
    assert capsys.readouterr().err


def test_every_file_of_the_packages_is_installed_with_them() -> None:
    """A file that is no module is left out of a wheel unless pyproject.toml names it."""
    named = PROJECT["tool"]["setuptools"]["package-data"]
    missing = [
        str(path.relative_to(ROOT))
        for package in ("p2p", "p2p_mcp")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
        if not any(fnmatch(path.relative_to(ROOT / package).as_posix(), pattern) for pattern in named[package])
    ]
    assert missing == []


def test_all_descriptions_of_the_server_tell_the_same_version_and_name() -> None:
    server = read("server.json")
    assert server["$schema"].endswith("/2025-12-11/server.schema.json")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", server["name"])
    assert len(server["description"]) <= 100
    assert server["version"] == read("gemini-extension.json")["version"] == p2p.__version__
    [package] = server["packages"]
    assert package["identifier"].endswith(f":{p2p.__version__}")
    assert f"<!-- mcp-name: {server['name']} -->" in README
    assert f'io.modelcontextprotocol.server.name="{server["name"]}"' in DOCKERFILE


def instructions() -> list[tuple[str, str]]:
    """The image's recipe as (instruction, argument), in order."""
    joined = re.sub(r"\\\n\s*", "", "\n".join(line for line in DOCKERFILE.splitlines() if not line.startswith("#")))
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in joined.splitlines() if line]


def test_the_image_is_built_from_files_that_are_there_and_runs_as_nobody_in_particular() -> None:
    steps = instructions()
    known = {"FROM", "LABEL", "RUN", "WORKDIR", "COPY", "USER", "ENV", "VOLUME", "ENTRYPOINT"}
    assert {name for name, _ in steps} == known
    assert steps[0][0] == "FROM"
    assert ":latest" not in steps[0][1]
    copied = [word for name, argument in steps if name == "COPY" for word in argument.split()[:-1]]
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert {f"!{name}" for name in copied} <= set((ROOT / ".dockerignore").read_text().split())
    names = [name for name, _ in steps]
    assert dict(steps)["USER"] not in ("root", "0")
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert json.loads(dict(steps)["ENTRYPOINT"]) == ["p2p-mcp"]
    assert dict(steps)["VOLUME"] == "/runs"


@pytest.mark.parametrize("name", ["examples/mcp.json", "gemini-extension.json"])
def test_an_example_of_a_configuration_starts_the_installed_script(name: str) -> None:
    entry = read(name)["mcpServers"]["p2p"]
    assert entry["command"].endswith(".venv/bin/p2p-mcp")
    assert entry["args"][0] == "--runs-dir"
    assert PROJECT["project"]["scripts"]["p2p-mcp"] == "p2p_mcp.cli:main"


def test_the_readme_names_every_client_and_lines_that_are_understood(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = re.findall(r"^\.venv/bin/p2p-mcp install (.+)$", README, re.MULTILINE)
    assert set(named) == set(CLIENTS)
    for line in named:
        assert main(["install", *line.split(), "--dry-run", "--force"]) == 0
    assert capsys.readouterr().out.count("Nothing was written") == len(CLIENTS)
    assert list(home.iterdir()) == []

import json
import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

import p2p
from p2p_mcp import bundle, registry
from p2p_mcp.cli import main
from p2p_mcp.docs import Offer, for_models, offer, reference
from p2p_mcp.install import probe
from p2p_mcp.install.clients import CLIENTS

ROOT = Path(__file__).parents[3]
CLIENTS_PAGE = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
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


def project(tmp_path: Path, urls: str) -> Path:
    """A checkout's pyproject.toml with these urls."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(text.replace("[project.scripts]", f"{urls}[project.scripts]"))
    return tmp_path


def test_the_entry_of_the_registry_names_the_account_of_the_repository(tmp_path: Path) -> None:
    root = project(tmp_path, '[project.urls]\nRepository = "https://github.com/Some-Lab/p2p"\n')
    assert registry.main([str(root), str(tmp_path / "dist" / "server.json")]) == 0
    server = json.loads((tmp_path / "dist" / "server.json").read_text())
    assert server["name"] == "io.github.Some-Lab/p2p-mcp"
    assert len(server["description"]) <= 100
    assert server["version"] == read("gemini-extension.json")["version"] == p2p.__version__
    assert [package["identifier"] for package in server["packages"]] == [
        "p2p-mcp[train]",
        f"ghcr.io/some-lab/p2p-mcp:{p2p.__version__}",
    ]


@pytest.mark.parametrize("urls", ["", '[project.urls]\nRepository = "https://example.org/p2p"\n'])
def test_an_entry_without_a_known_owner_is_refused_and_not_written(
    tmp_path: Path, urls: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert registry.main([str(project(tmp_path, urls)), str(tmp_path / "server.json")]) == 2
    assert "Repository" in capsys.readouterr().err
    assert not (tmp_path / "server.json").exists()


def test_no_file_holds_a_placeholder_for_the_owner_or_installs_the_stranger_called_p2p() -> None:
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    install = re.compile(r"""(pip|pipx|uv tool) install (-\S+ )*['"]?p2p(?![-\w])|uvx ['"]?p2p(?![-\w])""")
    for name in filter(None, files):
        path = ROOT / name
        if path == Path(__file__) or path.suffix in (".webp", ".png", ".jpg", ".npz") or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        assert not install.search(text), name
        assert not re.search(r"io\.github\.OWNER|ghcr\.io/OWNER", text), name


def test_the_distribution_has_the_name_that_messages_tell() -> None:
    assert PROJECT["project"]["name"] == p2p.DISTRIBUTION


def test_every_extra_has_packages_behind_it_that_the_code_imports() -> None:
    """An extra that nothing imports promises what is not there."""
    imported = {"torch": "torch", "stable-baselines3": "stable_baselines3", "google-genai": "google.genai"}
    source = "\n".join(
        path.read_text(encoding="utf-8") for package in ("p2p", "p2p_mcp") for path in (ROOT / package).rglob("*.py")
    )
    for extra, requirements in PROJECT["project"]["optional-dependencies"].items():
        if extra in ("dev", "all"):
            continue
        for requirement in requirements:
            name = re.match(r"[\w-]+", requirement)[0]
            if name != p2p.DISTRIBUTION:
                module = {**imported, "pillow": "PIL"}.get(name, name)
                assert re.search(rf"(import|from|[\"']) ?{re.escape(module)}", source), f"{extra}: {name}"


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


def test_the_page_of_clients_names_every_client_and_lines_that_are_understood(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = re.findall(r"^\.venv/bin/p2p-mcp install (.+)$", CLIENTS_PAGE, re.MULTILINE)
    assert set(named) == set(CLIENTS)
    for line in named:
        assert main(["install", *line.split(), "--dry-run", "--force"]) == 0
    assert capsys.readouterr().out.count("Nothing was written") == len(CLIENTS)
    assert list(home.iterdir()) == []


def test_the_lock_has_a_hash_for_each_package_and_every_package_of_a_training() -> None:
    text = (ROOT / "requirements" / "train.lock").read_text(encoding="utf-8")
    assert "://" not in text  # no index: whoever installs chooses it
    entries = re.split(r"\n(?=\S)", text.strip())
    assert all("--hash=sha256:" in entry for entry in entries)
    locked = {re.match(r"[\w.-]+", entry)[0].lower() for entry in entries}
    wanted = [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["train"]]
    assert {re.match(r"[\w.-]+", requirement)[0].lower() for requirement in wanted} <= locked

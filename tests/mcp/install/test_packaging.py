import fcntl
import json
import os
import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import p2p
from p2p_mcp import bundle, registry
from p2p_mcp.cli import main
from p2p_mcp.docs import Offer, for_models, offer, reference
from p2p_mcp.install import bundle_start, server_probe
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
    assert json.loads((staged / "manifest.json").read_text())["server"]["entry_point"] == "start.py"
    assert {"start.py", *bundle_start.LOCKS} <= {str(path.relative_to(staged)) for path in staged.rglob("*")}
    assert not list(staged.rglob("__pycache__"))
    answer = server_probe.ask(sys.executable, ["-P", "-m", "p2p_mcp"], {"PYTHONPATH": str(staged)}, timeout_s=120)
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


LOCKS = sorted([*(ROOT / "requirements").glob("*.lock"), *(ROOT / "p2p/scheduler/nodes/locks").glob("*.lock")])
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]


def entries(lock: Path) -> list[str]:
    return re.split(r"\n(?=\S)", lock.read_text(encoding="utf-8").strip())


def needed(*extras: str) -> list[Requirement]:
    """What extras ask for, those of the extras that they include as well."""
    found = []
    for requirement in (Requirement(line) for extra in extras for line in EXTRAS[extra]):
        ours = requirement.name == PROJECT["project"]["name"]
        found += needed(*requirement.extras) if ours else [requirement]
    return found


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_every_package_of_a_lock_has_one_version_and_hashes(lock: Path) -> None:
    assert "://" not in lock.read_text(encoding="utf-8")  # no index: whoever installs chooses it
    for entry in entries(lock):
        assert re.match(r"[a-z0-9._-]+==[^ ]+( ; [^\n]+)? \\\n(    --hash=sha256:[0-9a-f]{64}( \\\n|$))+$", entry), (
            entry
        )


def test_all_locks_agree_on_the_versions() -> None:
    whole = [ROOT / "requirements" / f"{name}.lock" for name in ("dev", "torch", "docs")]
    everything = {entry.split(" \\")[0] for file in whole for entry in entries(file)}
    versions = {line.split(" ;")[0] for line in everything}
    for lock in LOCKS:
        if lock.stem == "ray":  # for an environment of its own
            continue
        assert {entry.split()[0].removesuffix("+cpu") for entry in entries(lock)} <= versions, lock


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [
        ("requirements/build.lock", [Requirement(line) for line in PROJECT["build-system"]["requires"]]),
        ("requirements/train.lock", [*map(Requirement, PROJECT["project"]["dependencies"]), *needed("train")]),
        ("requirements/dev.lock", [*map(Requirement, PROJECT["project"]["dependencies"]), *needed("dev")]),
        ("requirements/ray.lock", needed("ray")),
        ("p2p/scheduler/nodes/locks/train.lock", [Requirement("pydantic"), *needed("train")]),
        ("p2p/scheduler/nodes/locks/sb3.lock", [Requirement("pydantic"), *needed("sb3")]),
        ("p2p/scheduler/nodes/locks/onnx.lock", [Requirement("pydantic"), *needed("onnx")]),
    ],
)
def test_a_lock_has_all_that_pyproject_asks_for(lock: str, wanted: list[Requirement]) -> None:
    locked: dict[str, list[str]] = {}
    files = [ROOT / lock, *([ROOT / "requirements/torch.lock"] if "dev" in lock else [])]
    for entry in (entry for file in files for entry in entries(file)):
        name, _, version = entry.split()[0].partition("==")
        locked.setdefault(name, []).append(version)
    for requirement in wanted:
        assert locked.get(canonicalize_name(requirement.name)), f"{requirement} is not in {lock}: run `make lock`"
        assert all(requirement.specifier.contains(version) for version in locked[canonicalize_name(requirement.name)])


def test_whatever_is_installed_comes_from_a_lock() -> None:
    """By hash, without what a build would bring; the command that makes the locks is left out."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    lines = [
        line for line in makefile.splitlines() if "pip install" in line and "lock" not in line and "uv" not in line
    ]
    assert [line for line in lines if not line.startswith("PIP :=") and "libfaketime" not in line] == []
    assert "LOCKED := $(PIP) --no-deps --require-hashes" in makefile
    for line in re.findall(r"pip install (?:.*\\\n)*.*", DOCKERFILE):
        assert "--no-deps" in line
        assert "--require-hashes" in line or "--no-build-isolation" in line


FAKE_UV = """\
#!{python}
import json, os, sys
from pathlib import Path
words = sys.argv[1:]
with Path({log!r}).open("a") as log:
    print(json.dumps(words), file=log)
print("noise on stdout")
if words[0] == "venv":
    python = Path(words[1]) / "bin/python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\\necho server: $@\\n")
    python.chmod(0o755)
sys.exit(int(os.environ.get("FAILS_AT") == words[0]))
"""


def test_a_bundle_installs_by_hash_when_it_is_started_first_and_becomes_the_server(tmp_path: Path) -> None:
    bundle.stage(ROOT, staged := tmp_path / "bundle")
    uv, log = tmp_path / "uv", tmp_path / "log"
    uv.write_text(FAKE_UV.format(python=sys.executable, log=str(log)))
    uv.chmod(0o755)

    def start(**more: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, str(staged / "start.py"), "--runs-dir", "/there"]
        return subprocess.run(
            words, env={"UV": str(uv), "PATH": "/usr/bin:/bin", **more}, capture_output=True, text=True
        )

    failed = start(FAILS_AT="pip")
    assert failed.returncode == 4
    assert "could not install" in failed.stderr
    assert start().stdout == "server: -m p2p_mcp --runs-dir /there\n"
    calls = [json.loads(line) for line in log.read_text().splitlines()]
    sync = next(call for call in calls if call[:2] == ["pip", "sync"])
    assert {"--require-hashes", "--no-build", *bundle_start.LOCKS} <= set(sync)
    own = next(call for call in calls if call[:2] == ["pip", "install"])
    assert {"--no-deps", "--no-build-isolation"} <= set(own)

    log.unlink()
    assert start().stdout.startswith("server:")
    assert not log.exists()  # it is installed
    (staged / "requirements/train.lock").write_text("changed")
    start()
    assert log.exists()


def test_a_lock_that_somebody_else_holds_does_not_keep_a_bundle_from_starting_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle.stage(ROOT, staged := tmp_path / "bundle")
    lock = staged / ".venv.lock"
    lock.touch(mode=0o644)  # of an earlier version: whoever can open it can hold it
    monkeypatch.setattr(bundle_start, "PATIENCE_S", 0.05)
    monkeypatch.setattr(bundle_start, "__file__", str(staged / "start.py"))
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert bundle_start.main([]) == 4
    assert f"process {os.getpid()}" in capsys.readouterr().err
    assert lock.stat().st_mode & 0o777 == 0o600

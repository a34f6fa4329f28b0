"""Choose anew every version that p2p is installed with, and write them down with their hashes.

    python requirements/lock.py UV [--keep]     UV is the program; --keep changes no version that still fits

All files but ray.lock come from one choice, so that they agree with one another:

    train.lock  p2p with what a training needs: `make demo`, the image, the bundle for Claude Desktop
    dev.lock    p2p with every extra and every tool of its development, torch left out: the tests, CI
    torch.lock  torch as package indexes have it: on Linux with NVIDIA's libraries, about 3 GB
    torch_cpu.lock  the build for processors alone, for machines whose pip is told where to find it
    build.lock  what builds p2p itself
    docs.lock   what makes the site of the documents
    ray.lock    the extra "ray", for an environment of its own: its tests
    ../p2p/scheduler/nodes/locks/<extra>.lock   what a node needs; they travel to it with the package

They name no index: whoever installs chooses it.
"""

import hashlib
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
PROJECT = HERE.parent / "pyproject.toml"
NODE_LOCKS = HERE.parent / "p2p/scheduler/nodes/locks"
NODE_EXTRAS = ("train", "sb3", "onnx")
NODE_BASE = ("pydantic",)
"""Of the packages that p2p always needs, those that a worker needs too; the others are for its doors."""
TORCH = re.compile(r"(torch|triton)==|nvidia-|cuda-")
OPTIONS = (
    *("pip", "compile", "--universal", "--generate-hashes", "--no-emit-index-url", "--no-emit-find-links"),
    *("--no-header", "--no-annotate", "--python-version", "3.11", "--quiet"),
)


def main(uv: str, *flags: str) -> None:
    """Write all files."""
    everything, torch = HERE / "dev.lock", HERE / "torch.lock"
    with tempfile.TemporaryDirectory() as folder:
        chosen = Path(folder) / "all.txt"
        if "--keep" in flags:
            chosen.write_text(everything.read_text() + torch.read_text())
        compiled(uv, str(PROJECT), "--extra", "dev", "--output-file", str(chosen))
        entries = re.findall(r"^\S.*\n(?:\s+.*\n)*", chosen.read_text(), re.MULTILINE)
        agreeing = ("--constraint", str(chosen))
        everything.write_text("".join(entry for entry in entries if not TORCH.match(entry)))
        torch.write_text("".join(entry for entry in entries if TORCH.match(entry)))
        write_cpu_build(next(entry.split()[0] for entry in entries if entry.startswith("torch==")))
        train = compiled(uv, str(PROJECT), "--extra", "train", *agreeing)
        (HERE / "train.lock").write_text(train)
        build = tomllib.loads(PROJECT.read_text())["build-system"]["requires"]
        (HERE / "build.lock").write_text(compiled(uv, "-", *agreeing, asked=build))
        (HERE / "docs.lock").write_text(compiled(uv, "--group", f"{PROJECT}:docs", *agreeing))
        write_ray("--keep" in flags, uv)
        for extra in NODE_EXTRAS:
            locked = compiled(uv, "-", *agreeing, asked=needed_on_a_node(extra))
            (NODE_LOCKS / f"{extra}.lock").write_text(locked)


def compiled(uv: str, *words: str, asked: list[str] | None = None) -> str:
    """A lock file; `asked` are requirements for the source "-"."""
    said = "\n".join(asked) if asked is not None else None
    return subprocess.run([uv, *OPTIONS, *words], input=said, stdout=subprocess.PIPE, text=True, check=True).stdout


def needed_on_a_node(extra: str) -> list[str]:
    """Requirements of a worker with an extra, those of the extras that it includes as well."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    wanted = [line for line in project["dependencies"] if re.split(r"[^\w.-]", line)[0] in NODE_BASE]
    for line in project["optional-dependencies"][extra]:
        included = re.match(rf"{re.escape(project['name'])}\[(\w+)\]", line)
        wanted += needed_on_a_node(included[1]) if included else [line]
    return wanted


def write_ray(keep: bool, uv: str) -> None:
    """Lock Ray, whose versions need not agree with ours: nothing of it is loaded into p2p."""
    if not keep:
        (HERE / "ray.lock").unlink(missing_ok=True)
    asked = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]["ray"]
    compiled(uv, "-", "--output-file", str(HERE / "ray.lock"), asked=asked)


def write_cpu_build(requirement: str) -> None:
    """Lock the build of torch that pip finds here, where it is one for processors alone."""
    with tempfile.TemporaryDirectory() as folder:
        words = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, requirement)
        subprocess.run(words, check=True)
        [wheel] = Path(folder).iterdir()
        if "+cpu" in wheel.name:
            found = hashlib.sha256(wheel.read_bytes()).hexdigest()
            (HERE / "torch_cpu.lock").write_text(f"{requirement}+cpu \\\n    --hash=sha256:{found}\n")
        else:
            print(f"pip finds no build of {requirement} for processors alone: torch_cpu.lock stays as it is")


if __name__ == "__main__":
    main(*sys.argv[1:])

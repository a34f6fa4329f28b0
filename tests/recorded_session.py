"""A session's directory in a form that is the same whenever, wherever and by whichever process it was made."""

import hashlib
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np

SESSION_ID = "session_20260101_000000_0badcafe"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)")
MEASURED = {
    *("pid", "child", "began", "host", "package_version", "p2p_version", "version", "updated_at"),
    *("training_time_s", "elapsed_time_s", "elapsed_time", "rollout_time", "train_time", "duration_ms"),
    *("steps_per_second", "sps", "microseconds_per_step", "microseconds_per_call", "time_share", "remaining_s"),
    *("memory_mb", "peak_memory_mb", "cores", "code_hash"),
}
"""Keys whose values differ between two runs of the same thing, or between two machines."""
NOT_COMPARED = re.compile(
    r"(^|/)(film|\.tmp|__pycache__)(/|$)|/videos/\.?eval_|/checkpoints/\d+/(model\.zip|vecnormalize\.pkl)$"
)
"""What is made after the verdict while nobody waits, and temporary files."""


def processor() -> str:
    """What the last digits of a training depend on: the processor, and the library that computes."""
    models = re.findall(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    # one name of a model stands for processors that round differently: so some arithmetic says which it is
    digest = hashlib.sha256()
    for kind in (np.float32, np.float64):
        numbers = np.random.default_rng(0).normal(size=(64, 64)).astype(kind)
        for found in (numbers @ numbers, numbers[:1] @ numbers, np.tanh(numbers), np.exp(numbers), numbers.sum(axis=1)):
            digest.update(found.tobytes())
    return f"{models[0] if models else 'unknown'}, numpy {np.__version__}, arithmetic {digest.hexdigest()[:12]}"


def normalised(value: Any, root: Path) -> Any:
    """A JSON value without clocks, process numbers, places and speeds."""
    if isinstance(value, dict):
        return {
            key: type(kept)() if key in MEASURED and isinstance(kept, int | float | str) else normalised(kept, root)
            for key, kept in value.items()
        }
    if isinstance(value, list):
        return [normalised(item, root) for item in value]
    if isinstance(value, str):
        return TIME.sub("2026-01-01T00:00:00.000+00:00", value.replace(str(root), "RUNS").replace(sys.executable, "PY"))
    return value


def tree(session: Path) -> list[str]:
    """Every file of a session, in order."""
    found = (str(path.relative_to(session)) for path in session.rglob("*") if path.is_file())
    return sorted(name for name in found if not NOT_COMPARED.search(name))


def texts(session: Path) -> dict[str, str]:
    """The normalised text of each file of a session that is one, by its name."""
    found = {}
    for name in tree(session):
        text = _normalised_text(session / name, session.parent)
        if text is not None:
            found[name] = text
    return found


def _normalised_text(path: Path, root: Path) -> str | None:
    if path.suffix == ".json":
        return json.dumps(normalised(json.loads(path.read_text()), root), indent=1, ensure_ascii=False) + "\n"
    if path.suffix == ".jsonl":
        lines = [normalised(json.loads(line), root) for line in path.read_text().splitlines()]
        if path.name == "events.jsonl":
            lines = _in_order_of_runs(lines)
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    return path.read_text() if path.suffix == ".py" else None


def _in_order_of_runs(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Runs train beside one another: which of them reaches a checkpoint first is chance."""
    ordered: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    for event in [*events, {"event": ""}]:
        if event["event"] == "checkpoint.judged":
            waiting.append(event)
            continue
        ordered += sorted(waiting, key=lambda judged: (judged["data"]["run_id"], judged["data"]["step"]))
        waiting = []
        ordered.append(event)
    return [{**event, "seq": number} for number, event in enumerate(ordered[:-1], start=1)]


def save(session: Path, place: Path) -> None:
    """Keep a session as text: the names of all its files, and what the readable ones hold; equal ones once."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    (place / "tree.txt").write_text("".join(f"{name}\n" for name in tree(session)))
    (place / "processor.txt").write_text(processor() + "\n")
    keep_texts(texts(session), place)


def keep_texts(found: dict[str, str], place: Path) -> None:
    """Write each text to `files/`, and the names of those that equal an earlier one to `equal.json`."""
    first: dict[str, str] = {}
    equal = {}
    for name, text in found.items():
        if first.setdefault(text, name) != name:
            equal[name] = first[text]
            continue
        path = place / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (place / "equal.json").write_text(json.dumps(equal, indent=1) + "\n")


def kept_texts(place: Path) -> dict[str, str]:
    """The text of every file that `keep_texts` was given, by its name."""
    files = place / "files"
    kept = {str(path.relative_to(files)): path.read_text() for path in files.rglob("*") if path.is_file()}
    return kept | {name: kept[first] for name, first in json.loads((place / "equal.json").read_text()).items()}


def lay_out(place: Path, runs_dir: Path) -> str:
    """Make a runs directory of what `save` kept; files that are no text are there and empty. Returns the id."""
    session = runs_dir / SESSION_ID
    for name in (place / "tree.txt").read_text().splitlines():
        path = session / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for name, text in kept_texts(place).items():
        (session / name).write_text(text)
    return SESSION_ID

"""Two sessions of the same sentence: a recorded one, and one that did better and was trained otherwise."""

import json
import shutil
from pathlib import Path

RECORDED = Path(__file__).parent / "session/recorded/session/files"
FIRST = "session_20260101_000000_0badcafe"
SECOND = "session_20260101_000001_0badcafe"


def copy_of(recorded: Path, runs: Path, name: str) -> Path:
    """A session with the files of another one, under its own name."""
    place = runs / name
    shutil.copytree(recorded, place)
    session = place / "session.json"
    session.write_text(session.read_text().replace(FIRST, name))
    return place


def better(place: Path) -> None:
    """Have the judged rollouts of a session's second iteration meet its first criterion."""
    path = place / "iter_2/judgment.json"
    judgment = json.loads(path.read_text())
    judgment |= {"success_rate": 0.5, "success_low": 0.2, "success_high": 0.8, "intent_score": 0.6}
    judgment["criteria"][0] |= {"value": 0.9, "met_share": 0.5}
    path.write_text(json.dumps(judgment))


def otherwise(place: Path) -> None:
    """Have the second iteration of a session be trained at another learning rate, with a reward that has a comment."""
    path = place / "iter_2/draft.json"
    draft = json.loads(path.read_text())
    draft["config_changes"]["learning_rate"] = 0.001
    draft["source"] = f"# another one\n{draft['source']}"
    path.write_text(json.dumps(draft))

import getpass
import json
import re
import shutil
from html.parser import HTMLParser

import pytest
from suite_runs import LONG, SHORT, pole_runs

from p2p import redaction
from p2p.analysis.failure_causes import failure_cause
from p2p.cli import main
from p2p.contracts.suite import CaseResult, Outcome
from p2p.contracts.suite_page import Cause
from p2p.redaction import for_others

KEY = "sk-ant-api03-not-a-real-key-0123456789"


@pytest.fixture
def runs(tmp_path_factory, tmp_path):
    """A copy of the runs directory with both runs of the suite."""
    shutil.copytree(pole_runs(tmp_path_factory) / "runs", tmp_path / "runs")
    return tmp_path / "runs"


class Outline(HTMLParser):
    """What a page loads and shows."""

    def __init__(self):
        super().__init__()
        self.tags = []
        self.sources = []
        self.articles = []
        self.videos = []

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        self.tags.append(tag)
        self.sources += [told[name] for name in ("src", "href", "poster", "data", "action") if told.get(name)]
        if tag == "article":
            self.articles.append((told["id"], told["class"]))
        if tag == "video":
            self.videos.append(told["src"])


def outline(text):
    found = Outline()
    found.feed(text)
    return found


@pytest.mark.slow
def test_the_page_shows_every_case_with_video_and_loads_nothing(runs, tmp_path, capsys):
    file = tmp_path / "page.html"
    assert main(["benchmark", "page", LONG, "--runs-dir", str(runs), "--output", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["page"] == str(file)
    text = file.read_text()
    found = outline(text)
    assert found.articles == [("balance", "all"), ("strict", "none")]
    assert "script" not in found.tags
    assert all(source.startswith("data:") for source in found.sources)
    assert [source.partition(";")[0] for source in found.videos] == ["data:video/mp4"] * 2
    assert "url(" not in text
    assert "10 of 10" in text
    assert Cause.EXAM_CRITERION in text
    assert "50 %" in text  # passed the exam
    assert "prefers-color-scheme: dark" in text


@pytest.mark.slow
def test_videos_lie_beside_the_page_where_that_is_asked(runs, tmp_path):
    file = tmp_path / "out" / "index.html"
    words = ["benchmark", "page", LONG, "--runs-dir", str(runs), "--output", str(file), "--videos", "beside"]
    assert main(words) == 0
    sources = outline(file.read_text()).videos
    assert sources == ["index_videos/balance.mp4", "index_videos/strict.mp4"]
    assert all((file.parent / source).read_bytes()[4:8] == b"ftyp" for source in sources)


@pytest.mark.slow
def test_the_page_holds_no_key_path_or_user_name(runs, tmp_path, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setattr(redaction, "getuser", lambda: "alicia")
    redaction._names.cache_clear()
    status = runs / f"{SHORT}-strict-seed-1" / "status.json"
    error = f"File /home/alicia/work/reward_fn.py, line 3: key {KEY} of alicia refused <script>alert(1)</script>"
    told = json.loads(status.read_text()) | {
        "status": "error",
        "error": error,
        "updated_at": "2030-01-01T00:00:00+00:00",
    }
    status.write_text(json.dumps(told))
    file = tmp_path / "page.html"
    assert main(["benchmark", "page", SHORT, "--runs-dir", str(runs), "--output", str(file)]) == 0
    redaction._names.cache_clear()
    text = file.read_text()
    words = re.sub(r'"data:[^"]*"', "", text)
    assert "crashed" in words
    assert "reward_fn.py, line 3: key [ANTHROPIC_API_KEY]" in words
    assert "script" not in outline(text).tags
    for secret in (KEY, "alicia", "/home", str(runs), str(tmp_path), "/tmp"):
        assert secret not in words
    if len(getpass.getuser()) > 4:
        assert getpass.getuser() not in words


@pytest.mark.slow
def test_as_markdown_it_has_a_row_for_each_session_and_no_video(runs, tmp_path):
    status = runs / f"{LONG}-balance-seed-1" / "status.json"
    told = {"status": "error", "error": "<b>a | b</b>", "updated_at": "2030-01-01T00:00:00+00:00"}
    status.write_text(json.dumps(told))
    file = tmp_path / "run.md"
    assert main(["benchmark", "page", LONG, "--runs-dir", str(runs), "--output", str(file)]) == 0
    text = file.read_text()
    results = [json.loads(line) for line in (runs / "benchmark" / LONG / "results.jsonl").read_text().splitlines()]
    _, _, cases = text.partition("## Cases")
    head, _, *rows = (line for line in cases.splitlines() if line.startswith("|"))
    assert len(rows) == len(results)
    assert {len(re.split(r"(?<!\\)\|", row)) for row in rows} == {len(head.split("|"))}, "what errors say ends no cell"
    assert r"&lt;b&gt;a \| b&lt;/b&gt;" in cases
    assert "video" not in text


@pytest.mark.slow
def test_a_page_is_a_file_of_a_run_that_has_begun(runs, tmp_path, capsys):
    assert main(["benchmark", "page", LONG, "--runs-dir", str(runs), "--output", str(tmp_path)]) == 2
    assert main(["benchmark", "page", "nobody", "--runs-dir", str(runs)]) == 2
    assert "nobody" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("File /usr/lib/python3.11/x.py, line 2", "File x.py, line 2"),
        (r"C:\Users\bob\runs\a.txt is gone", "a.txt is gone"),
        ("~/runs/a.json", "a.json"),
        ("0.5 m/s at 3/4 of the steps", "0.5 m/s at 3/4 of the steps"),
        ("see https://example.org/a/b", "see https://example.org/a/b"),
    ],
)
def test_of_a_path_the_last_part_is_kept(text, cleaned):
    assert for_others(text) == cleaned


@pytest.mark.parametrize(
    ("outcome", "cause"),
    [
        (Outcome.NOT_TRAINED, Cause.NOT_TRAINED),
        (Outcome.CRASHED, Cause.CRASHED),
        (Outcome.CAPPED, Cause.CAPPED),
        (Outcome.TIMED_OUT, Cause.TIMED_OUT),
        (Outcome.CANCELLED, Cause.CANCELLED),
        (Outcome.SKIPPED, Cause.SKIPPED),
        (Outcome.OPEN, Cause.OPEN),
        (Outcome.NOT_PASSED, Cause.NO_POLICY),
        (Outcome.PASSED, Cause.AWAITS_EXAM),
    ],
)
def test_an_end_without_an_exam_has_a_cause_of_its_own(outcome, cause):
    result = CaseResult(
        case="a", seed=1, session_id="x-a-seed-1", outcome=outcome, passed_itself=outcome is Outcome.PASSED
    )
    assert failure_cause(result, None, has_exam=True).cause is cause

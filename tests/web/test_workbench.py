"""The workbench, the comparison and the labels as pages, before any script runs."""

import json
import re
from html import unescape
from pathlib import Path

import pytest
from asking import EXAMPLES, Asking

from p2p.web.pages.reward_text import ELEMENTS, formula, highlighted
from p2p.web.visitors import Keys

SESSION = EXAMPLES["session_id"]


def text_of(body: bytes) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body.decode())).split())


@pytest.mark.parametrize(
    "address",
    [f"/e2e/{SESSION}/iterations/1", f"/e2e/{SESSION}/compare/1/2", "/label", "/label?annotator=ada"],
)
def test_a_page_holds_no_script_or_style_of_its_own(web: Asking, address: str) -> None:
    answer = web("GET", address)
    assert answer.status == 200
    page = answer.body.decode()
    assert re.findall(r"<script(?![^>]*\ssrc=)", page) == []
    assert re.findall(r"\sstyle=|\son\w+=", page) == []


def test_the_workbench_says_what_each_criterion_came_to(web: Asking) -> None:
    page = text_of(web("GET", f"/e2e/{SESSION}/iterations/1").body)
    assert "✗ missed Keeps the pole up 0.162 [0.148, 0.178] needs ≥ 0.99; met by 0%" in page


def test_every_judged_rollout_is_a_dot_on_each_criterions_axis(web: Asking) -> None:
    judgment = web("GET", f"/api/sessions/{SESSION}/iterations/1/judgment.json").data
    strips = re.findall(r'<svg class="strip".*?</svg>', web("GET", f"/e2e/{SESSION}/iterations/1").body.decode(), re.S)
    assert len(strips) == len(judgment["criteria"])
    assert {strip.count("<circle") for strip in strips} == {judgment["n_rollouts"]}


def test_readers_are_given_the_addresses_of_videos_and_rows_whole(web: Asking, keys: Keys, seeded: Path) -> None:
    report = seeded / SESSION / "iter_1/report"
    checkpoint = json.loads((report / "evaluation.json").read_text())["checkpoint"]
    (report / "trajectories").mkdir(exist_ok=True)
    (report / f"trajectories/trajectory_{checkpoint}_median.npz").write_bytes(b"rows")
    reader = {"authorization": f"Bearer {keys.reader_token}"}
    shown = [web("GET", f"/e2e/{SESSION}/iterations/1", headers).body.decode() for headers in (None, reader)]
    own, theirs = (re.findall(r'\s(?:src|data-trace|data-video)="([^"]*)"', page) for page in shown)
    assert f"/api/sessions/{SESSION}/iterations/1/trace/median" in own
    assert set(theirs) == set(own)


def test_an_iteration_without_recordings_says_what_will_be_there(web: Asking) -> None:
    assert "No rollout is recorded yet" in text_of(web("GET", f"/e2e/{SESSION}/iterations/2").body)


def test_a_comparison_shows_the_changed_lines_of_both_sources(web: Asking) -> None:
    page = web("GET", f"/e2e/{SESSION}/compare/1/2").body.decode()
    assert "<ins>" in page
    assert "Iterations 1 and 2" in text_of(page.encode())


def test_an_address_may_name_both_iterations_in_its_query(web: Asking) -> None:
    answer = web("GET", f"/e2e/{SESSION}/compare?a=1&b=2&row=57&label=p10")
    assert (answer.status, answer.headers["location"]) == (303, f"/e2e/{SESSION}/compare/1/2?row=57&label=p10")


@pytest.mark.parametrize("address", [f"/e2e/{SESSION}/iterations/9", "/e2e/nobody/iterations/1", "/label?session=no"])
def test_what_there_is_not_is_a_page_that_says_so(web: Asking, address: str) -> None:
    answer = web("GET", address)
    assert answer.status == 404
    assert answer.headers["content-type"].startswith("text/html")


def test_what_judges_gave_is_nowhere_in_the_page_of_a_person_who_labels(web: Asking, seeded: Path) -> None:
    judgment = web("GET", f"/api/sessions/{SESSION}/iterations/1/judgment.json").data
    (seeded / SESSION / "iter_1/report/videos/report_median.mp4").write_bytes(b"a video")
    page = web("GET", "/label?annotator=ada").body.decode()
    assert 'data-rollout="median"' in page
    for rollout in judgment["rollouts"]:
        assert f"{rollout['intent_score']:.4g}" not in re.sub(r'data-score="[^"]*"', "", page) or (
            rollout["intent_score"] in (0, 1)
        )
    assert "judge" not in text_of(page.encode()).lower()


@pytest.mark.parametrize(
    "latex",
    [
        r"\text{<img src=x onerror=alert(1)>}",
        r"x <script>alert(1)</script>",
        r"\text{&lt;img src=x onerror=alert(1)&gt;}",
        r"\href{javascript:alert(1)}{r}",
        r"\mathrm{</math><form action=/api/trash>}",
        r"\color{red; background: url(x)}{r}",
        r"\frac{",
    ],
)
def test_a_formula_of_a_model_is_a_formula_or_the_text_of_one(latex: str) -> None:
    tags = re.findall(r"<\s*/?\s*([\w-]+)", formula(latex))
    assert set(tags) <= {"code"} | set(ELEMENTS)
    assert not re.search(r"<[^>]*(href|style|on\w+)=", formula(latex))


def test_a_formula_is_drawn() -> None:
    assert "<mfrac>" in formula(r"r = \frac{v_x^2}{2} + \mathrm{tol}(a; 0.8)")
    assert "&amp;" not in formula("r = a + b")


def test_a_source_of_a_model_stays_text() -> None:
    assert "<script" not in highlighted('x = "</pre><script>alert(1)</script>"')

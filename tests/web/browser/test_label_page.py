"""Labels by keyboard alone, blind."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from browsing import Filming, Site

SESSIONS = 7
"""With three recorded rollouts each."""


def test_twenty_rollouts_are_labelled_by_keyboard_and_blind(
    site: Callable[[Path], Site], filming: Filming, tmp_path: Path
) -> None:
    filmed = filming("HalfCheetah-v5")
    runs = tmp_path / "runs"
    for number in range(SESSIONS):
        place = runs / f"session_20260101_00000{number}_0badcafe"
        shutil.copytree(filmed.runs_dir / filmed.session_id, place)
        for report in place.glob("iter_2/report"):
            shutil.rmtree(report)  # each is judged once
        session = place / "session.json"
        session.write_text(session.read_text().replace(filmed.session_id, place.name))
    page = site(runs).open("/label")
    page.keyboard.type("ada")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-labelling]")
    shown = []
    begun = time.process_time()
    for number in range(20):
        page.wait_for_function(f"() => document.querySelector('[data-progress]').textContent === '{number + 1}'")
        text = page.content().lower()
        assert "judge" not in text.replace("judged by", "")
        assert "intent_score" not in text
        shown.append(page.get_attribute("[data-labelling] video", "src"))
        page.keyboard.press(str(1 + number % 5))
    page.wait_for_selector("body[data-ended]")
    assert time.process_time() - begun < 60
    assert len(set(shown)) == 20
    result = " ".join(page.inner_text("[data-result]").split())
    assert "Rollouts that both scored 20" in result
    assert "kappa" in result
    page.goto(page.url)  # what is left
    page.wait_for_selector("[data-labelling]")
    assert page.inner_text("[data-progress]") == "1"
    page.keyboard.press("5")
    page.wait_for_selector("body[data-ended]")


def test_a_score_can_be_taken_back(site: Callable[[Path], Site], filming: Filming, tmp_path: Path) -> None:
    filmed = filming("HalfCheetah-v5")
    runs = tmp_path / "runs"
    shutil.copytree(filmed.runs_dir, runs)
    page = site(runs).open("/label?annotator=ada&n=3")
    page.wait_for_selector("[data-labelling]")
    first = page.get_attribute("[data-labelling] video", "src")
    page.keyboard.press("1")
    page.wait_for_function("() => document.querySelector('[data-progress]').textContent === '2'")
    page.keyboard.press("u")
    assert page.get_attribute("[data-labelling] video", "src") == first
    page.keyboard.press("4")
    page.wait_for_function("() => document.querySelector('[data-progress]').textContent === '2'")
    found = page.evaluate("async () => (await (await fetch('/api/labels')).json()).labels")
    assert [label["score"] for label in found] == [0.75]

"""Pages that follow what happens, and pages without scripts."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from asking import EXAMPLES
from browsing import Filming, Site

SESSION = EXAMPLES["session_id"]
PLAY = """async () => {
  window.mine = document.querySelector("main video");
  await window.mine.play();
  window.began = window.mine.currentTime;
}"""
PLAYS = """() => [
  window.mine === document.querySelector("main video"),
  !window.mine.paused && window.mine.currentTime !== window.began,
]"""


def test_what_happens_is_shown_while_somebody_types_and_nothing_of_theirs_is_lost(
    site: Callable[[Path], Site], filming: Filming, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    shutil.copytree(filming("HalfCheetah-v5").runs_dir, runs)
    page = site(runs).open(f"/e2e/{SESSION}")
    page.evaluate(PLAY)
    page.locator("summary", has_text="Change the cap").click()
    page.locator("#alias").fill("half a na")
    log = runs / SESSION / "events.jsonl"
    last = json.loads(log.read_text().splitlines()[-1])
    added = {**last, "seq": last["seq"] + 1, "event": "guardrail.warning", "data": {"message": "seen at once"}}
    page.wait_for_timeout(1_500)  # until the stream has told what is there
    with log.open("a") as lines:
        lines.write(json.dumps(added) + "\n")
    page.wait_for_selector("text=seen at once")
    assert page.locator("#alias").input_value() == "half a na"
    assert page.evaluate("() => document.activeElement.id") == "alias"
    assert page.evaluate(PLAYS) == [True, True]
    assert page.locator("#dollars").is_visible()


def test_without_scripts_a_session_is_found_starred_deleted_and_restored(
    site: Callable[[Path], Site], seeded: Path
) -> None:
    page = site(seeded).open("/e2e", width=390, scripts=False)
    page.get_by_role("button", name="Dark theme").click()
    page.wait_for_selector("html[data-theme=dark]")
    page.locator("button[name=starred]").first.click()
    page.wait_for_selector("button[aria-pressed=true]")
    page.locator("[data-open]").first.click()
    page.wait_for_selector("svg.chart")
    page.get_by_role("button", name="Move to the trash").click()
    page.get_by_role("link", name="Trash", exact=True).click()
    page.get_by_role("button", name="Restore").click()
    page.get_by_role("link", name="Sessions", exact=True).click()
    page.wait_for_selector(f"#{SESSION}")

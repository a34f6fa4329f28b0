"""Pages that follow what happens, and pages without scripts."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from asking import EXAMPLES
from browsing import Filming, Site
from test_server import TOKEN, Server

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


def append_event(log: Path, said: str) -> None:
    """What a driver does when something has happened."""
    last = json.loads(log.read_text().splitlines()[-1])
    added = {**last, "seq": last["seq"] + 1, "event": "guardrail.warning", "data": {"message": said}}
    with log.open("a") as lines:
        lines.write(json.dumps(added) + "\n")


def test_a_server_that_goes_and_comes_is_told_of_and_no_event_is_missed_or_doubled(
    site: Callable[[Path], Site], filming: Filming, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    shutil.copytree(filming("HalfCheetah-v5").runs_dir, runs)
    log = runs / SESSION / "events.jsonl"
    here = site(runs)
    page = here.open(f"/e2e/{SESSION}")
    page.wait_for_timeout(1_500)  # until the stream has told what is there
    append_event(log, "before it went")
    page.wait_for_selector("text=before it went")
    assert not page.locator("#stale").is_visible()
    here.server.kill()
    page.wait_for_selector("#stale >> text=/Connection lost.* [0-9]+ s old/")
    append_event(log, "while nobody answered")
    here.server = Server(runs, here.server.port)
    page.wait_for_selector("#stale >> text=open the address that it printed")
    here.tab(page.context).goto(here.address(f"/monitor?token={TOKEN}"))  # a start gives browsers a new cookie
    page.wait_for_selector("text=while nobody answered")
    page.wait_for_selector("#stale", state="hidden")
    append_event(log, "after it came")
    page.wait_for_selector("text=after it came")
    for said in ("before it went", "while nobody answered", "after it came"):
        assert page.get_by_text(said).count() == 1
    here.problems.clear()  # the browser tells of the server that was gone


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

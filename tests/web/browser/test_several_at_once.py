"""Several sessions or iterations at once, what a person prefers and scores, and videos in lists."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from asking import EXAMPLES
from browsing import Filming, Site
from filmed import READ_PICTURE

SESSION = EXAMPLES["session_id"]
OTHER = "session_20260101_000001_0badcafe"


def two_sessions(filming: Filming, place: Path) -> Path:
    """A runs directory with a filmed session twice."""
    filmed = filming("HalfCheetah-v5")
    runs = place / "runs"
    shutil.copytree(filmed.runs_dir, runs)
    shutil.copytree(runs / SESSION, runs / OTHER)
    session = runs / OTHER / "session.json"
    session.write_text(session.read_text().replace(SESSION, OTHER))
    return runs


def test_sessions_are_selected_by_keys_and_tagged_starred_and_thrown_away_together(
    site: Callable[[Path], Site], filming: Filming, tmp_path: Path
) -> None:
    page = site(two_sessions(filming, tmp_path)).open("/e2e")
    assert not page.locator("#selected").is_visible()
    for key in "jxjx":
        page.keyboard.press(key)
    assert page.locator("[data-select]:checked").count() == 2
    page.locator("#selected-tag").fill("pair")
    page.get_by_role("button", name="Add the tag").click()
    page.wait_for_selector(".tag >> text=pair")
    assert page.locator(".tag", has_text="pair").count() == 2
    page.locator("[data-select]").first.check()
    page.get_by_role("button", name="★ Star", exact=True).click()
    page.wait_for_selector("button[aria-pressed=true]")
    assert page.locator("button[aria-pressed=true]").count() == 1
    for box in page.locator("[data-select]").all():
        box.check()
    page.locator("#selected").get_by_role("button", name="Move to the trash").click()
    page.wait_for_selector("text=No session yet")


def test_a_video_plays_under_a_resting_pointer_and_not_for_who_asks_for_less_motion(
    site: Callable[[Path], Site], filming: Filming
) -> None:
    here = site(filming("HalfCheetah-v5").runs_dir)
    for still, expected in ((False, 1), (True, 0)):
        page = here.open("/e2e", still=still)
        page.evaluate(PICTURE, f"/api/sessions/{SESSION}/iterations/1/videos/report_median.mp4")
        page.hover("img[data-video]")
        if expected:
            page.wait_for_function("() => document.querySelector('video.thumb')?.paused === false")
            assert page.evaluate("() => document.querySelector('video.thumb').muted")
            page.mouse.move(900, 800)
            page.wait_for_selector("img[data-video]")
        page.wait_for_timeout(300)
        assert page.locator("video.thumb").count() == 0


PICTURE = """(address) => {
  const picture = document.createElement("img");
  Object.assign(picture, { className: "thumb", width: 56, height: 40, alt: "" });
  picture.dataset.video = address;
  document.body.prepend(picture);
}"""
"""Recorded sessions have no pictures. Outside what the page keeps as the server has it, which would take it away."""


def test_two_iterations_are_compared_by_c_and_one_preferred_by_its_key(
    site: Callable[[Path], Site], filming: Filming, tmp_path: Path
) -> None:
    here = site(two_sessions(filming, tmp_path))
    page = here.open(f"/e2e/{SESSION}")
    for key in "jxjx":
        page.keyboard.press(key)
    page.keyboard.press("c")
    page.wait_for_url("**/compare/1/2")
    page.wait_for_selector("body[data-ready]")
    page.keyboard.press("2")
    assert page.evaluate("() => document.activeElement.id") == "reason"
    page.keyboard.type("it lands on its feet")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=A person prefers iteration 2")
    assert page.get_by_text("it lands on its feet").count() == 1


def test_two_sessions_are_compared_by_c_and_play_on_one_clock(
    site: Callable[[Path], Site], filming: Filming, tmp_path: Path
) -> None:
    here = site(two_sessions(filming, tmp_path))
    page = here.open("/e2e")
    for key in "jxjx":
        page.keyboard.press(key)
    page.keyboard.press("c")
    page.wait_for_url("**/compare/session_*/session_*")
    page.wait_for_selector("body[data-ready]")
    videos = page.locator("[data-clips] video")
    assert {videos.nth(n).get_attribute("src").split("/")[3] for n in (0, 1)} == {SESSION, OTHER}
    page.locator("h1").click()
    page.keyboard.press("Shift+ArrowRight")
    page.wait_for_function("() => [...document.querySelectorAll('video')].every(v => !v.seeking && v.currentTime > 0)")
    page.wait_for_timeout(100)
    assert [videos.nth(n).evaluate(READ_PICTURE) for n in (0, 1)] == [10, 10]
    page.wait_for_function("() => new URL(location.href).searchParams.get('row') === '10'")
    shared = here.open(page.url.partition(f":{here.server.port}")[2])
    shared.wait_for_selector("body[data-ready]")
    assert shared.locator("[data-clock]").get_attribute("data-row") == "10"
    assert shared.locator("[data-clips] > .clip").nth(1).get_attribute("data-clip") == "b.median"


def test_a_rollout_is_scored_by_a_key_in_the_workbench(
    site: Callable[[Path], Site], filming: Filming, tmp_path: Path
) -> None:
    page = site(two_sessions(filming, tmp_path)).open(f"/e2e/{SESSION}/iterations/1?label=p10")
    page.wait_for_selector("body[data-ready]")
    page.locator("#annotator").fill("ada")
    page.locator("h1").click()
    page.keyboard.press("4")
    page.wait_for_selector("text=p10 saved: 0.75")
    assert scores_of(page) == [("p10", 0.75, "ada")]
    page.reload()
    page.wait_for_selector("body[data-ready]")
    page.keyboard.press("1")
    page.wait_for_selector("text=p10 saved: 0")
    assert scores_of(page) == [("p10", 0.0, "ada")], "one score of a person, and the name is remembered"


def scores_of(page: Any) -> list[tuple[str, float, str]]:
    found = page.evaluate("async () => (await (await fetch('/api/labels')).json()).labels")
    return [(one["rollout"], one["score"], one["annotator"]) for one in found]

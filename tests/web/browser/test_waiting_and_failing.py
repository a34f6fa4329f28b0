"""What a page shows while something is on its way, cannot be had, or cannot be played."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from browsing import Filming, Site
from PIL import Image

ANIMATED = """() => [...document.querySelectorAll("[data-terms], [data-feature-chart]")].map(
  (host) => [host.childElementCount, getComputedStyle(host).animationName, host.offsetHeight])"""


def test_charts_that_are_on_their_way_have_their_place_and_say_so(
    site: Callable[[Path], Site], filming: Filming
) -> None:
    filmed = filming("HalfCheetah-v5")
    here = site(filmed.runs_dir)
    page = here.open("/label")
    held: list[Any] = []
    page.route("**/trace/**", lambda route: held.append(route))
    page.goto(here.address(f"/e2e/{filmed.session_id}/iterations/1?label=median"))
    deadline = time.monotonic() + 60
    while not held and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    waiting = page.evaluate(ANIMATED)
    assert {(children, animation) for children, animation, _ in waiting} == {(0, "waits")}
    before = [height for _, _, height in waiting]
    assert min(before) >= 100
    for route in held:
        route.continue_()
    page.wait_for_selector("body[data-ready]")
    shown = page.evaluate(ANIMATED)
    assert all(children > 0 and animation == "none" for children, animation, _ in shown)


def test_rows_that_cannot_be_had_are_told_with_the_reason(site: Callable[[Path], Site], filming: Filming) -> None:
    filmed = filming("HalfCheetah-v5")
    here = site(filmed.runs_dir)
    page = here.open("/label")
    gone = '{"type": "StorageProblem", "status": 503, "detail": "The disk does not answer."}'
    page.route(
        "**/trace/**", lambda route: route.fulfill(status=503, content_type="application/problem+json", body=gone)
    )
    page.goto(here.address(f"/e2e/{filmed.session_id}/iterations/1?label=median"))
    page.wait_for_selector("[role=alert] >> text=The disk does not answer.")
    assert page.locator("#criteria-title").is_visible(), "the rest of the page is there"
    here.problems.clear()  # the browser tells of the refusal


def test_a_browser_that_cannot_play_the_video_shows_the_contact_sheet(
    site: Callable[[Path], Site], filming: Filming, tmp_path: Path
) -> None:
    filmed = filming("HalfCheetah-v5")
    runs = tmp_path / "runs"
    shutil.copytree(filmed.runs_dir, runs)
    for number in (1, 2):
        Image.new("RGB", (640, 320), "grey").save(runs / filmed.session_id / f"iter_{number}/contact_sheet.jpg")
    here = site(runs)
    page = here.open(f"/e2e/{filmed.session_id}")
    assert page.locator("main video[data-sheet]").count() == 1, "this one plays it"
    address = page.get_attribute("main video", "src").partition("?")[0]
    page.route(
        f"**{address}**", lambda route: route.fulfill(status=200, content_type="video/mp4", body=b"of another kind")
    )
    page.evaluate("() => { const v = document.querySelector('main video'); v.preload = 'auto'; v.load(); }")
    page.wait_for_selector("text=This browser cannot play the video")
    assert page.locator("img.picture").get_attribute("alt").startswith("Contact sheet")
    page.wait_for_function("() => document.querySelector('img.picture').naturalWidth === 640")

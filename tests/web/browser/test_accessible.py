"""Every page: axe finds nothing, nothing scrolls sideways, every control is reached by keys, nothing moves unasked."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from asking import EXAMPLES
from browsing import NODE_MODULES, Filming, Site
from filmed import RECORDED
from made_up_sessions import copy_of
from made_up_suites import begun, end, suite_of

from p2p.contracts.session import SessionStatus
from p2p.service.sessions.keeping import delete_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

AXE = NODE_MODULES / "axe-core/axe.min.js"
SESSION = EXAMPLES["session_id"]
OTHER = "session_20260101_000002_0badcafe"
SUITE_RUN = "poles"
PAGES = (
    "/e2e",
    "/e2e?q=nothing-is-called-so",
    "/e2e/new?prompt=run+forward&env_id=HalfCheetah-v5&author=builtin",
    f"/e2e/{SESSION}",
    f"/e2e/{SESSION}/events/3",
    f"/e2e/{SESSION}/iterations/1?with=p10",
    f"/e2e/{SESSION}/compare/1/2",
    f"/compare/{SESSION}/{OTHER}",
    f"/label?session={SESSION}",
    f"/label?session={SESSION}&annotator=ada",
    "/benchmark",
    f"/benchmark/{SUITE_RUN}",
    "/monitor",
    "/trash",
    "/settings",
    "/e2e/no-such-session",
)
WITH_CLOCK = ("/iterations/", "/compare/")
VIOLATIONS = """async () => (await axe.run(document)).violations.map(
  one => `${one.id}: ${one.nodes.map(node => node.html.slice(0, 200)).join(" | ")}`)"""
SIDEWAYS = "() => Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)"


@pytest.fixture(scope="module")
def whole(browser: Any, filming: Filming, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server over a runs directory in which every page has something to show."""
    runs = tmp_path_factory.mktemp("whole") / "runs"
    shutil.copytree(filming("HalfCheetah-v5").runs_dir, runs)
    ws = Workspace(Settings(runs_dir=runs))
    copy_of(runs / SESSION, runs, OTHER)
    thrown_away = "session_20260101_000001_0badcafe"
    shutil.copytree(RECORDED, runs / thrown_away)
    session = runs / thrown_away / "session.json"
    session.write_text(session.read_text().replace(SESSION, thrown_away))
    delete_session(ws, thrown_away)
    suite = suite_of(3)
    _, run = begun(ws, suite)
    end(ws, suite, run, suite.cases[0].name, SessionStatus.PASSED)
    end(ws, suite, run, suite.cases[1].name, SessionStatus.MAX_ITERATIONS)
    opened = Site(browser, runs)
    yield opened
    opened.close()


def arrive(page: Any, site: Site, path: str) -> None:
    page.goto(site.address(path))
    if any(part in path for part in WITH_CLOCK):
        page.wait_for_selector("body[data-ready]")


def test_axe_finds_nothing_on_any_page_in_light_and_dark(whole: Site) -> None:
    page = whole.open("/e2e")
    axe = AXE.read_text()
    found = {}
    for path in PAGES:
        arrive(page, whole, path)
        page.evaluate(axe)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            if violations := page.evaluate(VIOLATIONS):
                found[f"{path} {scheme}"] = violations
    assert found == {}
    # the last page is one that there is not, and browsers tell of that
    assert [one for one in whole.problems if "404" not in one] == []


@pytest.mark.parametrize("width", [390, 640], ids=["phone", "200 % zoom of 1280"])
def test_no_page_scrolls_sideways(whole: Site, width: int) -> None:
    page = whole.open("/e2e", width=width)
    found = {}
    for path in PAGES:
        arrive(page, whole, path)
        if beyond := page.evaluate(SIDEWAYS):
            found[path] = beyond
    assert found == {}


WANTED = """() => {
  const seen = (one) => one.checkVisibility() && one.tabIndex >= 0 && !one.disabled;
  const controls = document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary");
  window.left = new Set([...controls].filter(seen));
  for (const one of window.left) if (one.type === "radio" && !one.checked) window.left.delete(one); // arrows choose
  document.addEventListener("focusin", (event) => window.left.delete(event.target));
  return window.left.size;
}"""


@pytest.mark.parametrize("path", ["/e2e", f"/e2e/{SESSION}", f"/e2e/{SESSION}/iterations/1?with=p10", "/trash"])
def test_every_control_is_reached_by_the_tab_key(whole: Site, path: str) -> None:
    page = whole.open("/e2e")
    arrive(page, whole, path)
    n = page.evaluate(WANTED)
    assert n > 5
    for _ in range(n + 25):  # parts that scroll are stops too
        page.keyboard.press("Tab")
    assert page.evaluate("() => [...window.left].map((one) => one.outerHTML.slice(0, 200))") == []


MOVES = """() => [...document.querySelectorAll("video")].filter((video) => !video.paused || video.autoplay).length
  + document.getAnimations().length"""


def test_nothing_moves_by_itself_for_who_asks_for_less_motion(whole: Site) -> None:
    page = whole.open("/e2e", still=True)
    for path in ("/e2e", f"/e2e/{SESSION}", f"/e2e/{SESSION}/iterations/1", f"/label?session={SESSION}&annotator=ada"):
        arrive(page, whole, path)
        page.wait_for_timeout(400)
        assert page.evaluate(MOVES) == 0, path

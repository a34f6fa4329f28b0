"""A training from its form to its videos, in one page that is never reloaded."""

from collections.abc import Callable
from pathlib import Path

import pytest
from browsing import Site

FORM = "/e2e/new?prompt=keep+the+pole+balanced&env_id=InvertedPendulum-v5&author=builtin"
SMALL = {"#max_iterations": "1", "#n_seeds": "1", "#total_timesteps": "12000"}
BUSY = """async (address) => {
  const answer = await fetch(`${address}/delete`, { method: "POST", body: new URLSearchParams() });
  return [answer.status, await answer.text()];
}"""


@pytest.fixture
def with_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("P2P_RENDERER", raising=False)


@pytest.mark.usefixtures("with_pictures")
def test_a_training_is_followed_from_its_form_to_its_videos_without_a_reload(
    site: Callable[[Path], Site], tmp_path: Path
) -> None:
    here = site(tmp_path / "runs")
    page = here.open(FORM)
    assert page.locator("input[name^=threshold_]").count() > 0, "criteria are there before it starts"
    assert not list((tmp_path / "runs").glob("session_*"))
    for field, value in SMALL.items():
        page.locator(field).fill(value)
    page.locator("summary", has_text="Advanced").click()
    page.locator("#n_report_rollouts").fill("10")
    page.wait_for_url(lambda url: "n_report_rollouts=10" in url)
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(lambda url: "/e2e/session_" in url)
    address = page.url
    page.evaluate("() => { window.mine = 1; }")
    status, text = page.evaluate(BUSY, address)
    assert status == 409
    assert "cannot be deleted" in text
    here.problems.clear()  # the browser tells of the refusal
    log = here.tab(page.context)
    page.wait_for_selector("main progress[aria-label^='Steps of']")
    log.goto(here.address("/monitor"))
    log.locator("[data-open]").first.click()
    log.wait_for_selector("[data-log]")
    page.wait_for_selector("p2p-figure[data-checkpoint]")
    page.wait_for_selector("text=Score on selection rollouts")
    page.wait_for_selector("text=Training return")
    page.wait_for_selector("h2:has-text('criteria') >> xpath=../..//table")
    page.wait_for_selector("main video")
    assert page.evaluate("() => window.mine") == 1, "never reloaded"
    assert page.url == address

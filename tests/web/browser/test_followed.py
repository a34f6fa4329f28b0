"""A training from its form to its videos, in one page that is never reloaded."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import Site

from p2p.contracts.job import JobSpec, JobState
from p2p.scheduler.backends.local import LocalBackend
from p2p.scheduler.resources import cores

FORM = "/e2e/new?prompt=keep+the+pole+balanced&env_id=InvertedPendulum-v5&author=builtin"
SMALL = {"#max_iterations": "1", "#n_seeds": "1", "#total_timesteps": "12000"}
BUSY = """async (address) => {
  const answer = await fetch(`${address}/delete`, { method: "POST", body: new URLSearchParams() });
  return [answer.status, await answer.text()];
}"""


@pytest.fixture
def with_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("P2P_RENDERER", raising=False)


def start(page: Any) -> str:
    """Fill in the form of a small training and send it; the address of its session."""
    assert page.locator("input[name^=threshold_]").count() > 0, "criteria are there before it starts"
    for field, value in SMALL.items():
        page.locator(field).fill(value)
    page.locator("summary", has_text="Advanced").click()
    page.locator("#n_report_rollouts").fill("10")
    page.wait_for_url(lambda url: "n_report_rollouts=10" in url)
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(lambda url: "/e2e/session_" in url)
    return str(page.url)


@pytest.fixture
def taken(tmp_path: Path) -> Iterator[Path]:
    """A job that has every core of the machine."""
    job = tmp_path / "somebody_else"
    LocalBackend().submit(JobSpec(argv=("sleep", "600"), cores=cores()), job)
    wait_until_it_runs(job)
    yield job
    LocalBackend().cancel(job)


def wait_until_it_runs(job: Path) -> None:
    for _ in range(600):
        if LocalBackend().status(job).state is JobState.RUNNING:
            return
        time.sleep(0.1)
    pytest.fail("it never ran")


def test_a_session_that_waits_says_for_what_and_its_place_in_line(
    site: Callable[[Path], Site], tmp_path: Path, taken: Path
) -> None:
    here = site(tmp_path / "runs")
    page = here.open(FORM)
    address = start(page)
    page.wait_for_selector("text=/waits for .* 1 in line/")
    assert taken.name in page.inner_text("main")
    monitor = here.tab(page.context)
    monitor.goto(here.address("/monitor"))
    monitor.wait_for_selector("td[data-label=place] >> text=1")
    assert address.rpartition("/")[2] in monitor.inner_text("main")
    page.get_by_role("button", name="Stop").click()
    page.wait_for_selector("button:has-text('Resume')")


@pytest.mark.usefixtures("with_pictures")
def test_a_training_is_followed_from_its_form_to_its_videos_without_a_reload(
    site: Callable[[Path], Site], tmp_path: Path
) -> None:
    here = site(tmp_path / "runs")
    page = here.open(FORM)
    assert not list((tmp_path / "runs").glob("session_*"))
    address = start(page)
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

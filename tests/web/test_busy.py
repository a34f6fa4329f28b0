"""What is at work is not thrown away: 409 with the reason and the way out, by every door of the pages and the API."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from asking import EXAMPLES, Asking
from test_pages import form

from p2p.contracts.job import JobSpec
from p2p.service.workspace import Workspace
from p2p.store.clock import now

SESSION = EXAMPLES["session_id"]
HERE = f"/api/sessions/{SESSION}"


@pytest.fixture
def at_work(web: Asking) -> Iterator[Workspace]:
    """The session has a driver that lives."""
    ws: Workspace = web.app.state.workspace
    driver = ws.record(SESSION).driver_dir
    shutil.rmtree(driver)
    ws.background.submit(JobSpec(argv=("sleep", "120")), driver)
    yield ws
    if driver.exists():
        ws.background.cancel(driver)


def test_a_session_at_work_is_neither_deleted_nor_purged_until_it_was_stopped(
    web: Asking, at_work: Workspace, seeded: Path
) -> None:
    refused = web("DELETE", HERE)
    assert (refused.status, refused.data["type"]) == (409, "Busy")
    assert "cannot be deleted" in refused.data["detail"]
    assert refused.data["next"][0]["request"] == f"POST {HERE}/stop"
    status, text = form(web, f"/e2e/{SESSION}/delete", "")
    assert status == 409
    assert "cannot be deleted" in text
    status, text = form(web, "/e2e/selected", f"action=trash&session={SESSION}")
    assert status == 409
    assert "Done with 0 of 1" in text

    at_work.record(SESSION).update_metadata(deleted_at=now())  # by hand, while it works
    refused = web("DELETE", f"/api/trash/{SESSION}")
    assert (refused.status, refused.data["type"]) == (409, "Busy")
    assert "cannot be removed" in refused.data["detail"]
    status, text = form(web, f"/trash/{SESSION}/purge", f"typed={SESSION}")
    assert status == 409
    assert "cannot be removed" in text
    assert (seeded / SESSION / "session.json").exists()

    in_the_trash = web("POST", f"{HERE}/stop")  # the way out leads over the list
    assert in_the_trash.data["next"][0]["request"] == f"POST {HERE}/restore"
    assert web("POST", f"{HERE}/restore").status == 200
    assert web("POST", f"{HERE}/stop").data["stopped"] is True
    assert web("DELETE", HERE).status == 200
    assert web("DELETE", f"/api/trash/{SESSION}").status == 204
    assert not (seeded / SESSION).exists()


def test_purging_asks_for_the_name_and_keeps_everything_for_another_one(web: Asking, seeded: Path) -> None:
    assert web("DELETE", HERE).status == 200
    for typed in ("", "yes", SESSION[:-1]):
        status, _ = form(web, f"/trash/{SESSION}/purge", f"typed={typed}")
        assert status == 422
        assert (seeded / SESSION / "session.json").exists()
    assert form(web, f"/trash/{SESSION}/purge", f"typed={SESSION}")[0] == 303
    assert not (seeded / SESSION).exists()

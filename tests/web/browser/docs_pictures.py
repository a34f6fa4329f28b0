"""The pictures of docs/web.md, of a session that there is: `P2P_BROWSER=… python docs_pictures.py RUNS_DIR SESSION N`.

N is an iteration with recorded rollouts. For the monitor a small session is trained in the runs directory meanwhile,
and thrown away.
"""

import io
import os
import sys
import tempfile
import time
from pathlib import Path

from browsing import Site
from conftest import browser_path
from PIL import Image
from playwright.sync_api import sync_playwright

from p2p.contracts.session import NewSession
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.driving import start_session, stop_session
from p2p.service.sessions.keeping import delete_session, purge_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

DOCS = Path(__file__).parents[3] / "docs"
WIDTH = 1280
HEIGHTS = {"session": 1150, "workbench": 1000, "monitor": 520}
POLE = NewSession(
    prompt="keep the pole balanced", env_id="InvertedPendulum-v5", n_seeds=3, config={"total_timesteps": 400_000}
)
SCALE = 0.75
"""Of a picture, so that a page of documentation loads quickly."""


def main(runs_dir: Path, session: str, iteration: str) -> None:
    """Write one picture of each page."""
    here = f"/e2e/{session}"
    addresses = {
        "session": here,
        "workbench": f"{here}/iterations/{iteration}?label=median&with=p10&row=120",
        "monitor": "/monitor",
    }
    os.environ["P2P_CORES_DIR"] = tempfile.mkdtemp()  # nobody else's trainings in the picture
    ws = Workspace(Settings(runs_dir=runs_dir))
    name = create_session(ws, POLE).session_id
    start_session(ws, name)
    while not any(run.step for run in view_session(ws, name).runs):
        time.sleep(0.5)
    try:
        _write(runs_dir, addresses)
    finally:
        stop_session(ws, name)
        delete_session(ws, name)
        purge_session(ws, name)


def _write(runs_dir: Path, addresses: dict[str, str]) -> None:
    with sync_playwright() as driver:
        options = ["--no-sandbox", "--disable-gpu", "--headless=shell"]
        browser = driver.chromium.launch(executable_path=browser_path(), args=options)
        site = Site(browser, runs_dir)
        try:
            for name, address in addresses.items():
                page = site.open(address, width=WIDTH)
                if name == "workbench":
                    page.wait_for_selector("body[data-ready]")
                page.set_viewport_size({"width": WIDTH, "height": HEIGHTS[name]})
                page.wait_for_timeout(1500)
                picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
                small = picture.resize((round(picture.width * SCALE), round(picture.height * SCALE)), Image.LANCZOS)
                small.save(DOCS / f"web_{name}.webp", quality=82, method=6)
        finally:
            site.close()
            browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

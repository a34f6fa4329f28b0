"""A real browser in front of a real server: `make test-external`. Apart from the other tests, whose event loops
Playwright's would stop."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import Filming, Site
from filmed import Filmed, film

EXTERNAL = Path(__file__).parents[3] / ".external/browser/chromium"
"""Where @sparticuz/chromium unpacks itself when `make test-external` runs."""


collect_ignore_glob = [] if os.environ.get("P2P_EXTERNAL") else ["test_*.py"]


def browser_path() -> str | None:
    """A Chromium that plays H.264: P2P_BROWSER, chromium, google-chrome, or that of `make test-external`."""
    if named := os.environ.get("P2P_BROWSER"):
        return named
    found = shutil.which("chromium") or shutil.which("google-chrome")
    return found or (str(EXTERNAL) if EXTERNAL.exists() else None)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = browser_path()
    if path is None:
        pytest.fail("There is no browser that plays H.264: set P2P_BROWSER, or install chromium.")
    folder = Path(path).parent
    # a browser that was unpacked has its libraries and fonts beside it
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": os.pathsep.join([str(folder), os.environ.get("LD_LIBRARY_PATH", "")]),
    }
    if (fonts := folder / "fonts").is_dir():  # without any it ends at a character that needs another one
        settings = tmp_path_factory.mktemp("fonts") / "fonts.conf"
        settings.write_text(
            '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">'
            f"<fontconfig><dir>{fonts}</dir><cachedir>{settings.parent}</cachedir></fontconfig>"
        )
        environment["FONTCONFIG_FILE"] = str(settings)
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - `make test` reads this file, and needs none

    with sync_playwright() as driver:
        arguments = ["--no-sandbox", "--disable-gpu", "--headless=shell"]
        opened = driver.chromium.launch(executable_path=path, args=arguments, env=environment)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def filming(tmp_path_factory: pytest.TempPathFactory) -> Filming:
    """A filmed session of an environment; each is made once."""
    made: dict[str, Filmed] = {}

    def of(env_id: str) -> Filmed:
        if env_id not in made:
            made[env_id] = film(tmp_path_factory.mktemp("filmed") / "runs", env_id)
        return made[env_id]

    return of


@pytest.fixture
def site(browser: Any) -> Iterator[Callable[[Path], Site]]:
    """Starts a server over a runs directory; at the end the browser must have complained of nothing."""
    started: list[Site] = []

    def start(runs_dir: Path) -> Site:
        started.append(Site(browser, runs_dir))
        return started[-1]

    yield start
    for one in started:
        one.close()
    assert [problem for one in started for problem in one.problems] == []

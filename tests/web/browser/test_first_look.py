"""From the command to the list: `p2p web --open`, whose browser is one of these tests."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from test_scale import many_sessions

SESSIONS = 30
PATIENCE_S = 60.0
WITHIN_S = 2.0
"""By night, on an idle machine, from the command to the list [s]."""


@pytest.mark.parametrize("within_s", [None, pytest.param(WITHIN_S, marks=pytest.mark.nightly)])
def test_the_command_opens_the_list(within_s: float | None, browser: Any, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    many_sessions(runs, SESSIONS)
    opened = tmp_path / "opened"
    stand_in = tmp_path / "browser"
    stand_in.write_text(f'#!/bin/sh\necho "$1" > {opened}.new && mv {opened}.new {opened}\n')
    stand_in.chmod(0o755)
    command = [sys.executable, "-m", "p2p.cli", "web", "--open", "--port", "0", "--runs-dir", str(runs)]
    page = browser.new_page()
    begun = time.monotonic()
    with subprocess.Popen(
        command, env={**os.environ, "BROWSER": str(stand_in)}, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            while not opened.exists():
                assert server.poll() is None, "the server has ended"
                assert time.monotonic() - begun < PATIENCE_S
                time.sleep(0.01)
            address = opened.read_text().strip()
            page.goto(address)
            page.wait_for_selector(".sessions > li")
            took = time.monotonic() - begun
            print(f"the list is shown {took:.2f} s after the command")
            assert page.locator(".sessions > li").count() == SESSIONS
            assert "token" not in page.url, "what opens the door does not stay in the history"
            page.context.clear_cookies()
            assert page.goto(address).status == 401, "the address works once"
        finally:
            server.terminate()
            page.close()
    assert within_s is None or took <= within_s

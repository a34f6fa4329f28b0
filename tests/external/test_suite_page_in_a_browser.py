import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import HERE, INSTALLED, NODE
from suite_runs import LONG, pole_runs

from p2p.service.suites.page import write_page
from p2p.service.workspace import Workspace
from p2p.settings import Settings


def test_a_page_opens_from_a_file_wide_and_on_a_phone_in_light_and_dark(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, browser_environment: dict[str, str]
) -> None:
    ws = Workspace(Settings.from_environment(pole_runs(tmp_path_factory) / "runs"))
    page = write_page(ws, LONG, tmp_path / "page.html")
    script = INSTALLED / "open_page.mjs"  # modules are looked up from where a script lies
    script.write_text((HERE / "open_page.mjs").read_text())
    screenshots = os.environ.get("P2P_SCREENSHOTS", str(tmp_path))
    words = [str(NODE), str(script), str(page), screenshots]
    result = subprocess.run(words, capture_output=True, text=True, timeout=120, env=browser_environment)
    assert result.returncode == 0, result.stdout + result.stderr
    shown = json.loads(result.stdout.strip().splitlines()[-1])
    assert len(shown) == 4
    for look in shown.values():
        assert look["requests"] == [f"file://{page}"]
        assert look["problems"] == []
        assert look["overflow"] == 0
        assert (look["cases"], look["failed"]) == (2, 1)
        assert look["duration"] == pytest.approx(2.0, abs=0.2)
    assert shown["1200 light"]["paper"] != shown["1200 dark"]["paper"]

import re
from pathlib import Path

import pytest
from conftest import Node

SUITE = "@modelcontextprotocol/conformance/dist/index.js"


@pytest.mark.parametrize(
    ("selection", "least"),
    [
        (("--requirements", "2025-11-25"), 80),
        (("--requirements", "2026-07-28"), 190),  # the ten scenarios of the Tasks extension among them
        pytest.param(("--suite", "all"), 230, marks=pytest.mark.nightly),
    ],
)
def test_the_official_conformance_suite_passes(
    node: Node, conformance_url: str, tmp_path: Path, selection: tuple[str, str], least: int
) -> None:
    arguments = ("server", "--url", conformance_url, *selection, "--output-dir", str(tmp_path))
    result = node(SUITE, *arguments, timeout_s=180)
    failed = re.findall(r"^✗ .*$", result.stdout, re.MULTILINE)
    assert not failed
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    total = re.search(r"Total: (\d+) passed, 0 failed", result.stdout)
    assert total is not None
    assert int(total.group(1)) >= least

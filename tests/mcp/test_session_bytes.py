"""The measurement of what a session gives a model to read."""

import sys
from pathlib import Path

import pytest
from session_bytes import Reading, Server, jpeg_size, table

SHEET = Path(__file__).parents[2] / "docs" / "contact_sheet.jpg"


def test_a_token_is_four_bytes_of_text_and_a_picture_counts_by_its_pixels() -> None:
    assert Reading("a", 4000, 640).tokens == 1640
    assert table([Reading("a", 4000, 640), Reading("b", 400)]).splitlines()[2:] == [
        "| a | 4,000 | 1,640 |",
        "| b | 400 | 100 |",
        "| **the whole session** | 4,400 | 1,740 |",
    ]


def test_the_size_of_a_picture_is_read_from_its_frame() -> None:
    width, height = jpeg_size(SHEET.read_bytes())
    assert 300 < height < width < 3000
    with pytest.raises(ValueError, match="no JPEG"):
        jpeg_size(b"\x89PNG\r\n\x1a\n" + bytes(40))


def test_a_real_server_is_measured_over_its_pipes(tmp_path: Path) -> None:
    server = Server([sys.executable, "-m", "p2p_mcp", "--runs-dir", str(tmp_path)])
    try:
        server.tools()
        server.call("describe_environment", env_id="InvertedPendulum-v5")
        with pytest.raises(RuntimeError, match="write_reward"):
            server.call("write_reward", session_id="nobody")
    finally:
        server.close()
    listed, described = server.readings
    assert listed.what.startswith("the list of ")
    assert 20_000 < listed.text_bytes < 60_000
    assert described.text_bytes > 500

"""Numbers of steps as people write them."""

import pytest
import typer
from typer.testing import CliRunner

from p2p.cli.app import app
from p2p.cli.config import read_config
from p2p.cli.counts import steps


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("300000", 300_000),
        ("1e6", 1_000_000),
        ("2.5e5", 250_000),
        ("1E+6", 1_000_000),
        ("1_000_000", 1_000_000),
        ("1,000,000", 1_000_000),
        ("1M", 1_000_000),
        ("0.3m", 300_000),
        (" 300 k ", 300_000),
        (250_000, 250_000),
    ],
)
def test_a_number_of_steps_is_read_as_it_is_written(text, count):
    assert steps(text) == count


@pytest.mark.parametrize(
    "text", ["", "abc", "0", "-5", "1.5", "1,5", "12,34", "1e-3", "nan", "inf", "1e99", "1MM", "9" * 99]
)
def test_what_is_no_number_of_steps_is_refused_with_examples(text):
    with pytest.raises(typer.BadParameter, match=r"such as 300000, 300_000, 3e5 or 0\.3M; got"):
        steps(text)


def test_the_command_line_and_set_take_them(tmp_path):
    words = ["run", "keep the pole balanced", "--env", "InvertedPendulum-v5", "--dry-run", "--runs-dir", str(tmp_path)]
    assert "total_timesteps=1000000" in CliRunner().invoke(app, [*words, "--timesteps", "1e6"]).output
    refused = CliRunner().invoke(app, [*words, "--timesteps", "many"])
    assert refused.exit_code == 2
    assert read_config(None, ["total_timesteps= 2M"], None) == {"total_timesteps": 2_000_000}

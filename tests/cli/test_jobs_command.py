"""`p2p jobs`."""

import json

from typer.testing import CliRunner

from p2p.cli.app import app
from p2p.contracts.errors import UnknownName


def test_without_jobs_it_says_so(tmp_path):
    found = CliRunner().invoke(app, ["jobs", "--runs-dir", str(tmp_path)])
    assert found.exit_code == 0
    assert "No background jobs in" in found.output
    found = CliRunner().invoke(app, ["jobs", "--runs-dir", str(tmp_path), "--json"])
    assert json.loads(found.stdout) == {"jobs": []}


def test_an_unknown_job_is_refused(tmp_path):
    found = CliRunner().invoke(app, ["jobs", "job_1", "--cancel", "--runs-dir", str(tmp_path)])
    assert isinstance(found.exception, UnknownName)

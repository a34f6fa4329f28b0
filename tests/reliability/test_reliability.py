"""The campaigns of `make reliability`: each once in `make test`, and for some seconds in `make nightly`."""

from pathlib import Path

import pytest
from campaigns import CAMPAIGNS, Campaign
from findings import HEAD, Findings
from job_machine import job_machine
from run import BEGIN, END, write_row

QUICK = {name: campaign for name, campaign in CAMPAIGNS.items() if campaign.quick and name != "job_machine"}
AT_EACH_CHANGE = {"killed_processes", "killed_writes", "clock_jumps", "two_servers"}
"""Campaigns that are cheap enough for it; the others run at night."""
# a server that is replaced while its client works is in tests/mcp/test_client_without_key.py
ONCE = [
    pytest.param(campaign, 1, id=name, marks=[pytest.mark.nightly] * (name not in AT_EACH_CHANGE))
    for name, campaign in QUICK.items()
    if name != "server_kills"
]
AGAIN = [
    pytest.param(campaign, campaign.quick, id=f"{name}-again", marks=pytest.mark.nightly)
    for name, campaign in QUICK.items()
    if campaign.quick > 1
]


@pytest.mark.slow
@pytest.mark.parametrize(("campaign", "count"), ONCE + AGAIN)
def test_faults_lose_nothing_and_are_told(campaign: Campaign, count: int, tmp_path: Path) -> None:
    findings = campaign.conduct(count, tmp_path / "runs")
    if findings.skipped:
        pytest.skip(findings.skipped)
    assert findings.done
    late = [
        name for name in findings.wrong if name.startswith("later than")
    ]  # the machine may be busy with other tests
    assert [case for case in findings.failures if not case.startswith(tuple(late))] == []


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, pytest.param(5, marks=pytest.mark.nightly)])
def test_random_histories_of_jobs_go_as_the_model_says(count: int, tmp_path: Path) -> None:
    assert job_machine(count, tmp_path / "runs", steps=20).failures == []


def test_the_row_of_a_campaign_replaces_the_one_before_and_no_other(tmp_path: Path) -> None:
    document = tmp_path / "README.md"
    document.write_text(f"before\n{BEGIN}\n{END}\nafter\n")
    first, second, *_ = CAMPAIGNS.values()
    write_row(document, second, Findings(done={"kills": 1}, wrong={"lost": ["a job"]}))
    write_row(document, first, Findings(skipped="no room"))
    write_row(document, second, Findings(done={"kills": 2}, wrong={"lost": []}, times_s={"ready": [0.5, 2.0]}))
    rows = [
        f"| {first.title} | not tried: no room | | |",
        f"| {second.title} | 2 kills | 0 lost | ready 1.2 s, 2.0 s |",
    ]
    assert document.read_text() == "\n".join(["before", BEGIN, HEAD, *rows, END, "after", ""])

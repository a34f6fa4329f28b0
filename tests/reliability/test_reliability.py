"""The campaigns of `make reliability`, each for some seconds."""

from pathlib import Path

import pytest
from campaigns import CAMPAIGNS, Campaign
from findings import HEAD, Findings
from job_machine import job_machine
from run import BEGIN, END, write_row

QUICK = {name: campaign for name, campaign in CAMPAIGNS.items() if campaign.quick and name != "job_machine"}


@pytest.mark.slow
@pytest.mark.parametrize("campaign", QUICK.values(), ids=QUICK)
def test_faults_lose_nothing_and_are_told(campaign: Campaign, tmp_path: Path) -> None:
    findings = campaign.conduct(campaign.quick, tmp_path / "runs")
    if findings.skipped:
        pytest.skip(findings.skipped)
    assert findings.done
    late = [
        name for name in findings.wrong if name.startswith("later than")
    ]  # the machine may be busy with other tests
    assert [case for case in findings.failures if not case.startswith(tuple(late))] == []


@pytest.mark.slow
def test_random_histories_of_jobs_go_as_the_model_says(tmp_path: Path) -> None:
    assert job_machine(5, tmp_path / "runs", steps=20).failures == []


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

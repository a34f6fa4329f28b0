"""What tools say is to be called next."""

import pytest

from p2p.contracts.background import JobKind, JobView
from p2p.contracts.job import JobState
from p2p_mcp.views.next_steps import after_job


def job(step: int, state: JobState = JobState.RUNNING) -> JobView:
    return JobView(
        job_id="job_1",
        kind=JobKind.TRAINING,
        session_id="a",
        iteration=1,
        state=state,
        queue_position=None,
        step=step,
        total=1000,
        eta_s=None,
        runs=(),
        error=None,
        created_at="2026-01-01T00:00:00+00:00",
    )


@pytest.mark.parametrize(("step", "evaluated"), [(0, False), (999, False), (1000, True)])
def test_a_job_that_has_made_all_its_steps_is_said_to_be_evaluated(step: int, evaluated: bool) -> None:
    assert ("evaluated for the judgment" in after_job(job(step))) is evaluated
    assert "judge_videos" in after_job(job(1000, JobState.COMPLETED))

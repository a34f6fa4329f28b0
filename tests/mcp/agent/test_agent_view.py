import io

import pytest
from rich.console import Console

from p2p.contracts.agent import (
    AgentEnding,
    AgentEvent,
    AgentLimits,
    AgentReport,
    EventKind,
    JobProgress,
    Spending,
)
from p2p.contracts.job import JobState
from p2p.contracts.session import SessionStatus
from p2p_mcp.agent.view import AgentView, ending_lines

SPENT = Spending(turns=3, tokens=41_200, dollars=0.317, seconds=90, job_steps={"job_a": 1000})


def job(step: int, state: JobState = JobState.RUNNING, position: int | None = None) -> AgentEvent:
    progress = JobProgress(job_id="job_a", iteration=2, state=state, queue_position=position, step=step, total=1000)
    return AgentEvent(kind=EventKind.JOB, job=progress, spending=SPENT)


def shown(*events: AgentEvent, terminal: bool = False) -> str:
    file = io.StringIO()
    with AgentView(Console(file=file, force_terminal=terminal, width=200), AgentLimits()) as view:
        for event in events:
            view.show(event)
    return file.getvalue()


def test_words_come_as_they_are_and_the_next_event_begins_a_line() -> None:
    words = [AgentEvent(kind=EventKind.TEXT, text=piece) for piece in ("I wri", "te [a] reward.")]
    assert shown(*words, AgentEvent(kind=EventKind.TOOL, text="get_job(x)")) == "I write [a] reward.\n→ get_job(x)\n"


def test_a_turn_shows_what_is_spent_of_every_cap() -> None:
    line = shown(AgentEvent(kind=EventKind.TURN, spending=SPENT))
    for part in ("3/60", "41,200/3,000,000 tokens", "$0.32/$10", "1.5/240 min", "1,000/20,000,000 steps"):
        assert part in line
    unknown = SPENT.model_copy(update={"dollars": None})
    assert "price unknown" in shown(AgentEvent(kind=EventKind.TURN, spending=unknown))


def test_in_a_log_a_training_is_a_line_for_each_tenth_of_it() -> None:
    lines = shown(*(job(step) for step in range(0, 1000, 10)), job(1000, JobState.COMPLETED)).splitlines()
    assert 10 <= len(lines) <= 12
    assert "iteration 2 completed: 1,000/1,000 steps" in lines[-1]


@pytest.mark.parametrize("terminal", [True, False])
def test_a_job_that_waits_says_its_place_in_line(terminal: bool) -> None:
    assert "job_a waits, number 2 in line" in shown(job(0, JobState.QUEUED, 2), terminal=terminal)


def test_the_end_says_why_what_it_cost_and_how_to_go_on() -> None:
    report = AgentReport(
        ending=AgentEnding.INTERRUPTED,
        reason="Interrupted.",
        model="claude-a",
        session_id="session_1",
        transcript_id="session_1",
        status=SessionStatus.PENDING,
        iterations=1,
        best_score=0.4,
        running_jobs=("job_a",),
        spending=SPENT,
        limits=AgentLimits(),
        summary="",
    )
    text = "\n".join(ending_lines(report))
    for part in (
        "interrupted: Interrupted.",
        "best score 0.4",
        "still at work: job_a",
        "p2p agent --resume session_1",
    ):
        assert part in text

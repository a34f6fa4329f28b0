"""A report on a finished session, with the numbers it rests on."""

import json

from pydantic import Field

from p2p.agents.history import SessionHistory, tag_history
from p2p.agents.model.asking import Role, RoleQuestion
from p2p.contracts.base import Contract
from p2p.contracts.intent import Intent
from p2p.contracts.protocols import Attempt
from p2p.contracts.session import SessionAnalysis
from p2p.prompts import render
from p2p.store.sessions import SessionRecord

MAX_RECORD = 40_000


class AnalystReport(Contract):
    """What a model makes of a session."""

    analysis: str = Field(min_length=1, max_length=8000)
    """In Markdown: what was tried, what worked, what did not."""
    key_findings: tuple[str, ...] = Field(min_length=1, max_length=8)
    """Each with the number it rests on."""
    recommendations: tuple[str, ...] = Field(default=(), max_length=8)


def analyze(role: Role, record: SessionRecord, intent: Intent, attempts: tuple[Attempt, ...]) -> SessionAnalysis:
    """Have a model write the report.

    Raises:
        ModelProblem: the model gave no answer that could be used.
    """
    history = SessionHistory(record, attempts)
    numbers = {
        "scores": history.scores(),
        "strategy": history.strategy(),
        "failure_tags": dict(tag_history(attempts)),
        "lineage": history.lineage.model_dump(mode="json"),
        "diagnoses": {attempt.number: attempt.judgment.diagnosis for attempt in attempts},
    }
    text = json.dumps(numbers, default=str)[:MAX_RECORD]
    system = render("session_analyzer", intent=intent, record=text)
    report = role.ask(RoleQuestion(system, f"Write the report on: {intent.prompt}"), AnalystReport)
    return SessionAnalysis(
        session_id=record.session_id,
        iterations=len(attempts),
        analysis=report.analysis,
        key_findings=report.key_findings,
        recommendations=report.recommendations,
        written_by=role.name,
    )

"""Suites and runs of them whose sessions have ended in some way, without training anything."""

from p2p.contracts.intent import Category, Comparison, Criterion, Intent, Predicate, Statistic
from p2p.contracts.session import EventName, Session, SessionStatus
from p2p.contracts.suite import Case, NewSuiteRun, Stage, Suite, SuiteRun
from p2p.service.suites.plan import stages_of
from p2p.service.suites.running import request_of, session_request
from p2p.service.workspace import Workspace
from p2p.store.clock import now
from p2p.store.suites import SuiteRunRecord, SuiteRuns

POLE = "keep the pole balanced"
SECRET = "CANARY-of-the-exam"


def exam(threshold: float = 0.9, secret: str = SECRET) -> Intent:
    upright = Predicate(
        statistic=Statistic.MAX,
        feature="pole_angle",
        absolute=True,
        comparison=Comparison.AT_MOST,
        threshold=threshold,
        unit="rad",
        margin=0.5,
    )
    criterion = Criterion(
        key="pole_up", title=secret, description=secret, category=Category.STABILITY, predicate=upright
    )
    return Intent(prompt=POLE, env_id="InvertedPendulum-v5", criteria=(criterion,))


def suite_of(n: int, *stages: Stage, **fields: object) -> Suite:
    """Suite of n cases, the first half easy."""
    cases = tuple(
        Case(
            name=f"case-{number}",
            env_id="InvertedPendulum-v5",
            prompt=POLE,
            difficulty="easy" if 2 * number < n else "hard",
            exam=exam(),
        )
        for number in range(n)
    )
    return Suite.model_validate({"name": "poles", "seeds": (1,), "cases": cases, "stages": stages} | fields)


def begun(ws: Workspace, suite: Suite, asked: NewSuiteRun | None = None) -> tuple[SuiteRunRecord, SuiteRun]:
    """Run that nothing drives."""
    record = SuiteRuns(ws.runs.path).run(suite.name)
    run = request_of(suite, asked)
    record.save_suite(suite)
    record.save_run(run)
    return record, run


def end(ws: Workspace, suite: Suite, run: SuiteRun, case: str, status: SessionStatus, seconds: float = 10.0) -> str:
    """Have the session of a case be there and have ended."""
    sitting = next(one for stage in stages_of(suite, run) for one in stage.sittings if one.case.name == case)
    request = session_request(suite, run, sitting)
    session = ws.runs.session(sitting.session_id)
    session.events.emit(EventName.SESSION_STARTED)
    session.save_session(Session(**request.model_dump(), session_id=sitting.session_id, created_at=now()))
    session.set_status(status, "why" if status is SessionStatus.ERROR else None)
    if seconds > 60:  # at work since then
        begin = session.events.read()[0].model_copy(update={"timestamp": "2026-01-01T00:00:00.000+00:00"})
        session.events.emit(EventName.SESSION_COMPLETED)
        last = session.events.read()[-1].model_copy(update={"timestamp": "2026-01-01T00:05:00.000+00:00"})
        path = session.path / "events.jsonl"
        path.write_text(f"{begin.model_dump_json()}\n{last.model_dump_json()}\n")
    return sitting.session_id

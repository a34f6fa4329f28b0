"""What it costs to look at a run of a suite with many sessions; they are made up, and nothing is trained."""

import time
from collections.abc import Callable

from p2p.contracts.base import Contract
from p2p.contracts.judgment import Judgment, Provenance, RolloutScore, Verdict
from p2p.contracts.session import EventName, Session, SessionStatus
from p2p.contracts.suite import Case, NewSuiteRun, Selection, Suite
from p2p.service.suites.plan import stages_of
from p2p.service.suites.results import list_suite_runs, opened, read_results, view_suite_run
from p2p.service.suites.running import request_of, resume_suite_run, session_request, stop_suite_run
from p2p.service.workspace import Workspace
from p2p.store.clock import now
from p2p.store.suites import SuiteRunRecord, SuiteRuns

ENVIRONMENTS = ("Ant-v5", "HalfCheetah-v5", "Humanoid-v5", "Hopper-v5", "Swimmer-v5")
JUDGMENT = Judgment(
    verdict=Verdict.FAILED,
    intent_score=0.4,
    pass_threshold=0.8,
    success_rate=0.0,
    success_low=0.0,
    success_high=0.1,
    n_rollouts=50,
    criteria=(),
    rollouts=tuple(
        RolloutScore(seed=seed, episode_return=1.0, label=None, intent_score=0.4, success=False, values={"moves": 0.4})
        for seed in range(50)
    ),
    diagnosis="It falls.",
    provenance=Provenance(judge="code", code_hash="0" * 16),
)


class ListingReport(Contract):
    """Seconds of each look, of a process that has loaded what it needs."""

    n_sessions: int
    first_s: float
    """The first look, which reads every session."""
    list_s: float
    """As `p2p benchmark list`, from then on."""
    show_s: float
    filter_s: float
    """A look at the cases of one environment alone."""
    resume_s: float
    """Until the driver of the run has been started."""


def measure_listing(ws: Workspace, n_cases: int, seeds: int) -> ListingReport:
    """Make a run in an empty runs directory, all but one of whose sessions have ended, and look at it."""
    cases = tuple(
        Case(name=f"case-{number}", env_id=ENVIRONMENTS[number % len(ENVIRONMENTS)], prompt="walk forward")
        for number in range(n_cases)
    )
    suite = Suite(name="listing", seeds=tuple(range(seeds)), cases=cases)
    run = request_of(suite, NewSuiteRun())
    record = SuiteRuns(ws.runs.path).run(run.name)
    record.save_suite(suite)
    record.save_run(run)
    sittings = [sitting for stage in stages_of(suite, run) for sitting in stage.sittings]
    for sitting in sittings[:-1]:
        session = ws.runs.session(sitting.session_id)
        session.events.emit(EventName.SESSION_STARTED)
        asked = session_request(suite, run, sitting)
        session.save_session(Session(**asked.model_dump(), session_id=sitting.session_id, created_at=now()))
        session.iteration(1).save_judgment(JUDGMENT)
        session.events.emit(EventName.SESSION_COMPLETED)
        session.set_status(SessionStatus.MAX_ITERATIONS)
    first_s = _seconds(lambda: _write_results(ws, record))
    one = run.model_copy(update={"only": Selection(env_id=ENVIRONMENTS[:1])})
    list_s = _seconds(lambda: list_suite_runs(ws))
    show_s = _seconds(lambda: view_suite_run(ws, run.name))
    filter_s = _seconds(lambda: (record.save_run(one), view_suite_run(ws, run.name)))
    record.save_run(run)
    resume_s = _seconds(lambda: resume_suite_run(ws, run.name))
    report = ListingReport(
        n_sessions=len(sittings),
        first_s=first_s,
        list_s=list_s,
        show_s=show_s,
        filter_s=filter_s,
        resume_s=resume_s,
    )
    stop_suite_run(ws, run.name)
    return report


def table(report: ListingReport) -> str:
    """The report in Markdown."""
    names = ("the first look, which reads each session", "list", "show", "filter", "resume")
    values = (report.first_s, report.list_s, report.show_s, report.filter_s, report.resume_s)
    rows = [f"| {name} | {value:.2f} s |" for name, value in zip(names, values, strict=True)]
    return "\n".join([f"| a run of {report.n_sessions} sessions | |", "|---|---|", *rows])


def _write_results(ws: Workspace, record: SuiteRunRecord) -> None:
    suite, run = opened(record)
    record.save_results(tuple(read_results(ws, record, suite, stages_of(suite, run)).values()))


def _seconds(look: Callable[[], object]) -> float:
    begun = time.perf_counter()
    look()
    return round(time.perf_counter() - begun, 3)

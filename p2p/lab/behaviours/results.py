"""What came of a run of the grammar: sentence by sentence, with the cause of each "no"."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

from p2p.analysis.failure_causes import failure_cause
from p2p.analysis.intervals import wilson_interval
from p2p.contracts.intent import needed, number
from p2p.contracts.judgment import Judgment
from p2p.contracts.suite import Case, CaseResult, Outcome, Selection, Suite, SuiteRun
from p2p.contracts.training import RunSummary
from p2p.lab.contracts.behaviours import (
    BehaviourResult,
    BehavioursReport,
    GroupResult,
    Learning,
    Missed,
    ProcessorTimes,
    SessionResult,
    Share,
)
from p2p.lab.records import BehavioursRecord
from p2p.rewards.templates import TEMPLATES
from p2p.rewards.templates.body_table import BODIES
from p2p.service.suites.exams import best_judgment
from p2p.service.suites.plan import stages_of
from p2p.service.suites.results import opened, read_results
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.suites import SuiteRuns

WATCHED_SHARE = 0.9
"""Of the time at work: from here on the processor time is taken for whole."""


def report(ws: Workspace, name: str, env_ids: Collection[str] = (), skills: Collection[str] = ()) -> BehavioursReport:
    """What came of a run so far, over everything that was ever begun under its name.

    Args:
        ws: The workspace.
        name: Of the run.
        env_ids: Robots that are meant; none means all.
        skills: The same.

    Raises:
        UnknownName: there is no such run.
    """
    record = SuiteRuns(ws.runs.path).known(name)
    suite, run = opened(record)
    seeds = tuple(sorted({*suite.seeds, *run.seeds}))
    whole = run.model_copy(update={"only": Selection(), "seeds": seeds})
    found = read_results(ws, record, suite, stages_of(suite, whole))
    times = BehavioursRecord(record.path).read_processor_times()
    meant = [
        case
        for case in suite.cases
        if (not env_ids or case.env_id in env_ids) and (not skills or case.category in skills)
    ]
    begun: dict[str, list[SessionResult]] = {}
    for result in found.values():
        if result.status:
            begun.setdefault(result.case, []).append(_session(ws, result, times))
    results = [behaviour(case, begun[case.name]) for case in meant if case.name in begun]
    results.sort(key=lambda one: (_place(one.env_id, BODIES), _place(one.skill, TEMPLATES), one.case))
    return report_of(suite, run, len(meant), results)


def report_of(suite: Suite, run: SuiteRun, known: int, results: Sequence[BehaviourResult]) -> BehavioursReport:
    """A report with its totals.

    Args:
        suite: Of all sentences.
        run: What was asked for last.
        known: Sentences that are meant.
        results: Of those that have begun.
    """
    sessions = [session for one in results for session in one.sessions]
    causes = Counter(
        str(one.cause) if one.learning is None else f"{one.cause}; return: {one.learning}"
        for one in sessions
        if one.outcome.ended and one.cause is not None
    )
    return BehavioursReport(
        run=run.name,
        digest=suite.digest,
        versions=run.versions,
        known=known,
        seeds=tuple(sorted({session.seed for session in sessions})),
        max_iterations=suite.budget.max_iterations or run.system.max_iterations,
        total_timesteps=suite.budget.total_timesteps,
        trainings=run.system.n_seeds,
        results=tuple(results),
        robots=_groups(results, lambda one: one.env_id),
        skills=_groups(results, lambda one: one.skill),
        total=_group("all", results),
        causes=dict(causes.most_common()),
    )


def behaviour(case: Case, sessions: Sequence[SessionResult]) -> BehaviourResult:
    """Result of one sentence."""
    return BehaviourResult(
        case=case.name,
        env_id=case.env_id,
        sentence=case.prompt,
        skill=case.category,
        share=_share(sessions),
        sessions=tuple(sorted(sessions, key=lambda one: one.seed)),
    )


def session_result(
    result: CaseResult, judgment: Judgment | None, summary: RunSummary | None, times: ProcessorTimes
) -> SessionResult:
    """Result of one session with the cause of a "no".

    Args:
        result: Of the session in its suite.
        judgment: Of the policy it hands in; None without one.
        summary: Of the training of that policy; None without one.
        times: Processor times that were measured.
    """
    cause = failure_cause(result, judgment, has_exam=False)
    failed = cause is not None and result.outcome.ended
    processor_s = times.seconds.get(result.session_id)
    return SessionResult(
        session_id=result.session_id,
        seed=result.seed,
        outcome=result.outcome,
        passed=result.outcome is Outcome.PASSED,
        iterations=result.iterations,
        steps=result.steps,
        seconds=result.seconds,
        processor_s=processor_s,
        watched_whole=times.watched_s.get(result.session_id, 0.0) >= WATCHED_SHARE * result.seconds,
        cause=cause.cause if cause is not None else None,
        detail=cause.detail if cause is not None else "",
        missed=most_missed(judgment) if failed else None,
        learning=learning(summary) if failed else None,
    )


def most_missed(judgment: Judgment | None) -> Missed | None:
    """The required criterion that was met in the fewest rollouts; None where each was met often enough."""
    missed = [one for one in judgment.criteria if one.required and not one.met] if judgment is not None else []
    if not missed:
        return None
    worst = min(missed, key=lambda one: (one.met_share, one.score))
    return Missed(
        title=worst.title,
        measured=number(worst.value, worst.unit),
        needed=needed(worst.comparison, worst.threshold, worst.upper, worst.unit),
        met_share=worst.met_share,
    )


def learning(summary: RunSummary | None) -> Learning | None:
    """How the return moved over the last third of a training, by its own numbers."""
    if summary is None:
        return None
    plateau = summary.dynamics.get("plateau")
    if plateau is None:
        return Learning.UNKNOWN
    if plateau:
        return Learning.PLATEAU
    return Learning.RISING if summary.dynamics.get("return_slope", 0.0) > 0 else Learning.FALLING


def _session(ws: Workspace, result: CaseResult, times: ProcessorTimes) -> SessionResult:
    session = ws.runs.session(result.session_id)
    judged = best_judgment(session) if result.outcome.ended else None
    if judged is None:
        return session_result(result, None, None, times)
    number_, judgment = judged
    summary = None
    if judgment.run_id is not None:
        summary = IterationRecord(session.iteration(number_).path / judgment.run_id).read_summary()
    return session_result(result, judgment, summary, times)


def _place(name: str, order: Iterable[str]) -> int:
    """Where a name stands in an order; behind it where it is not in it."""
    names = [*order]
    return names.index(name) if name in names else len(names)


def _share(sessions: Iterable[SessionResult]) -> Share:
    ended = [one for one in sessions if one.outcome.ended]
    passed = sum(one.passed for one in ended)
    low, high = wilson_interval(passed, len(ended)) if ended else (None, None)
    return Share(passed=passed, of=len(ended), low=low, high=high)


def _groups(results: Sequence[BehaviourResult], key: Callable[[BehaviourResult], str]) -> tuple[GroupResult, ...]:
    names = dict.fromkeys(map(key, results))
    return tuple(_group(name, [one for one in results if key(one) == name]) for name in names)


def _group(name: str, results: Sequence[BehaviourResult]) -> GroupResult:
    ended = [one for one in results if one.share.of]
    return GroupResult(
        name=name,
        sentences=len(ended),
        always=sum(one.share.passed == one.share.of for one in ended),
        never=sum(one.share.passed == 0 for one in ended),
        share=_share(session for one in results for session in one.sessions),
    )

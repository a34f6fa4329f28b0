"""Judges compared with the exams of one run, on what was recorded: nothing is simulated, and no model is asked."""

from collections.abc import Mapping

from p2p.analysis.judge_comparison import (
    JudgedPolicy,
    JudgeVerdict,
    agreement_of,
    differences_of,
    notes_of,
)
from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Intent
from p2p.contracts.judgment import FULL_SCORE, MET_SHARE_NEEDED, Judgment, Verdict
from p2p.contracts.suite import CaseResult
from p2p.contracts.suite_comparison import JudgeComparison
from p2p.registry import naming_extras
from p2p.service.suites.comparing import read_run
from p2p.service.suites.exams import best_judgment
from p2p.service.workspace import Workspace

OWN = "own verdict"
"""Of the session, whoever took part in it."""
MEASURED = "measured"
"""The session's own criteria, measured again on its report rollouts."""
EXAM_CRITERIA = "exam criteria"
"""The exam's criteria on the report rollouts: how far other rollouts of the same policy agree."""
WRITTEN = "written code"
"""Functions that a model wrote to judge by."""
EYES = "eyes"
ROLES = {EYES: ("vision_judge",), WRITTEN: ("judge_author",), OWN: ("vision_judge", "judge_author")}
"""Roles of models whose calls a judge makes."""


def compare_judges(ws: Workspace, name: str) -> JudgeComparison:
    """Compare every judge that took part in a run's sessions with the exams of their policies.

    Raises:
        UnknownName: there is no such run.
        InvalidInput: no policy of it has sat an exam.
        MissingExtra: numpy is not installed.
    """
    read = read_run(ws, name)
    policies = []
    dollars: dict[str, float] = {}
    for result in read.results:
        exam, sat = read.suite.exam_of(result.case), result.exam
        if exam is None or sat is None or not sat.n_rollouts or sat.problem:
            continue
        if verdicts := _verdicts(ws, exam, result, read.suite.pass_threshold):
            policies.append(JudgedPolicy(result.case, sat.passed, verdicts))
            for judge, roles in ROLES.items():
                spent = sum(result.dollars.get(role, 0.0) for role in roles)
                dollars[judge] = dollars.get(judge, 0.0) + spent
    if not policies:
        raise InvalidInput(f"No policy of {name} has sat an exam: there is nothing to compare judges with.")
    order = (OWN, MEASURED, WRITTEN, EYES, EXAM_CRITERIA)
    judges = [judge for judge in order if any(judge in policy.verdicts for policy in policies)]
    return JudgeComparison(
        run=name,
        suite=read.suite.name,
        version=read.suite.version,
        digest=read.suite.digest,
        judges=tuple(agreement_of(judge, policies, dollars.get(judge, 0.0)) for judge in judges),
        differences=differences_of(judges, policies),
        notes=notes_of(policies),
    )


def _verdicts(ws: Workspace, exam: Intent, result: CaseResult, pass_threshold: float) -> Mapping[str, JudgeVerdict]:
    """Verdict of every judge on the policy of a session, from its files alone."""
    with naming_extras():
        from p2p.judges.code import CodeJudge  # noqa: PLC0415 - numpy, which the service starts without
    session = ws.record(result.session_id)
    judged = best_judgment(session)
    if judged is None:
        return {}
    number, judgment = judged
    report = session.iteration(number).report.path
    judge = CodeJudge()
    verdicts = {
        OWN: _of(judgment),
        MEASURED: _of(judge.judge_report(session.read_criteria(), report, pass_threshold)),
        EXAM_CRITERIA: _of(judge.judge_report(exam, report, pass_threshold)),
    }
    if judgment.observation is not None:
        seen = judgment.observation
        content = seen.is_what_was_meant and not seen.suspected_exploit.strip()
        verdicts[EYES] = JudgeVerdict(content, seen.score)
    scores = [score for finding in judgment.by_written_code for score in finding.scores]
    if scores:
        met = sum(score >= FULL_SCORE for score in scores) / len(scores)
        verdicts[WRITTEN] = JudgeVerdict(met >= MET_SHARE_NEEDED, sum(scores) / len(scores))
    return verdicts


def _of(judgment: Judgment) -> JudgeVerdict:
    decided = judgment.verdict is not Verdict.NO_VERDICT
    return JudgeVerdict(judgment.passed if decided else None, judgment.intent_score)

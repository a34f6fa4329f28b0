"""Judge functions written by a model: once per session, tried before use, called only in the worker."""

from typing import TYPE_CHECKING

from p2p.contracts.intent import Intent
from p2p.contracts.judgment import CodeFinding, Decomposition, JudgeCode, JudgeFunction, Judgment, RolloutFinding
from p2p.judges import synthesis
from p2p.registry import naming_extras
from p2p.rewards.part_features import names_for_code
from p2p.service.jobs.worker_jobs import completed, run_to_end
from p2p.service.judging.judge_trials import known_motions_file, problems_of
from p2p.service.models.session_models import session_models
from p2p.service.training.environments import environment_of
from p2p.service.training.plan import session_for
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.job_records import KnownMotionsRecord
from p2p.store.sessions import SessionRecord

if TYPE_CHECKING:
    from p2p.judges.author import JudgeAuthor

ROLE = "judge_author"
"""Under which its calls are counted in the session's ledger."""
UNPLANNED = Decomposition(measurable=True, reason="")


def write_judge_code(ws: Workspace, session_id: str) -> JudgeCode | None:
    """Write functions for the criteria without a predicate, once per session.

    Returns:
        The functions; None where the session names no model for it, or nothing is left to measure.

    Raises:
        ModelProblem: the model gives no answer that can be used.
        BudgetExceeded: it would cost more than the session may.
    """
    record = ws.record(session_id)
    session = record.read_session()
    intent = record.read_criteria()
    if (known := record.read_judge_code()) is not None or not session.judge_author or intent is None:
        return known
    author = _judge_author(ws, record, intent)
    functions = tuple(author.write(c) for c in synthesis.unseen(intent) if c.predicate is None)
    code = JudgeCode(written_by=session.judge_author, functions=functions)
    record.save_judge_code(code)
    return code


def mend_judge_code(ws: Workspace, record: SessionRecord, iteration: IterationRecord) -> None:
    """Ask the author once to repair each function that fails on the judged rollouts."""
    code = write_judge_code(ws, record.session_id)
    intent = record.read_criteria()
    if code is None or intent is None or not record.read_session().judge_author:
        return
    functions = {function.key: function for function in code.functions}
    for key, function in functions.items():
        by_author = function.source and not function.written_by
        if not by_author or not isinstance(problem := call_on_report(ws, iteration, function), str):
            continue
        criterion = next(criterion for criterion in intent.criteria if criterion.key == key)
        author = _judge_author(ws, record, intent, iteration)
        functions[key] = author.repair(criterion, function, problem)
    mended = tuple(functions.values())
    if mended != code.functions:
        record.save_judge_code(code.model_copy(update={"functions": mended}))


def judge_by_functions(
    ws: Workspace, record: SessionRecord, iteration: IterationRecord, intent: Intent | None
) -> Judgment:
    """Judge by predicates, and by functions for the criteria without one."""
    threshold = session_for(record, iteration.number).pass_threshold
    code = record.read_judge_code()
    if intent is None or code is None or not code.usable or iteration.report.read_evaluation() is None:
        with naming_extras():
            from p2p.judges.code import CodeJudge  # noqa: PLC0415 - numpy, which the service starts without
        return CodeJudge().judge_report(intent, iteration.report.path, threshold)
    from p2p.judges import generated  # noqa: PLC0415 - numpy, which the service starts without

    said = {function.key: call_on_report(ws, iteration, function) for function in code.usable}
    failed = {key: words for key, words in said.items() if isinstance(words, str)}
    findings = {key: found for key, found in said.items() if not isinstance(found, str)}
    judgment = generated.judge_report(intent, iteration.report.path, threshold, findings)
    hashes = "+".join([judgment.provenance.code_hash, *(function.code_hash for function in code.usable)])
    lines = [f"The code for {key} failed, and does not count: {words}" for key, words in failed.items()]
    provenance = judgment.provenance.model_copy(update={"code_hash": hashes, "fallback": " ".join(lines)[:500]})
    found = tuple(
        CodeFinding(
            key=function.key,
            written_by=function.written_by or code.written_by,
            code_hash=function.code_hash,
            scores=tuple(finding.score for finding in findings.get(function.key, ())),
            worst=min(findings.get(function.key, ()), key=lambda finding: finding.score, default=None),
            problem=failed.get(function.key, ""),
        )
        for function in code.usable
    )
    return judgment.model_copy(
        update={
            "provenance": provenance,
            "diagnosis": "\n".join([judgment.diagnosis, *lines]),
            "by_written_code": found,
        }
    )


def call_on_report(
    ws: Workspace, iteration: IterationRecord, function: JudgeFunction
) -> tuple[RolloutFinding, ...] | str:
    """Scores of a function on the report rollouts, or the reason why it has none; called once."""
    from p2p.judges import generated  # noqa: PLC0415 - numpy, which the service starts without

    directory = iteration.judged_dir(function.key, function.code_hash)
    if not completed(ws.backend, directory):
        generated.prepare_report(directory, function.source, iteration.report.path)
        run_to_end(ws.backend, "call", directory)
    return generated.read(directory)


def _judge_author(
    ws: Workspace, record: SessionRecord, intent: Intent, iteration: IterationRecord | None = None
) -> "JudgeAuthor":
    """Author of judge functions; with an iteration, also tries them on its report rollouts."""
    from p2p.judges.author import JudgeAuthor  # noqa: PLC0415 - jinja2, which the service starts without

    session = record.read_session()
    patience_s = ws.settings.model_patience_s
    silence_s = ws.settings.model_silence_s
    models = session_models(record, patience_s, silence_s, session.judge_author)
    spec = environment_of(ws, session, intent)
    names = (*spec.feature_names, *sorted(names_for_code(spec)))
    known = known_motions_file(ws, KnownMotionsRecord(record.known_motions_dir), spec)

    def validate(source: str) -> list[str]:
        found = problems_of(ws, source, names, known)
        if not found and iteration is not None:
            said = call_on_report(ws, iteration, JudgeFunction(key="trial", decomposition=UNPLANNED, source=source))
            found = [said] if isinstance(said, str) else []
        return found

    return JudgeAuthor(models.for_role(ROLE), spec, intent, validate)

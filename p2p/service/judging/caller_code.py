"""Judge functions written by the caller: tried like generated ones, and stored with their author."""

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.intent import Criterion
from p2p.contracts.judgment import (
    Decomposition,
    JudgeCode,
    JudgeCodeReport,
    JudgeCodeTask,
    JudgeFunction,
    KnownMotion,
)
from p2p.contracts.remedies import Remedy
from p2p.rewards.part_features import names_for_code
from p2p.service.jobs.worker_jobs import run_to_end
from p2p.service.judging.judge_code import call_on_report, write_judge_code
from p2p.service.judging.judge_trials import known_motions_file
from p2p.service.training.environments import environment_of
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.iterations import IterationRecord
from p2p.store.job_records import KnownMotionsRecord
from p2p.store.sessions import SessionRecord

CALLER = "calling_agent"


def judge_code_task(ws: Workspace, session_id: str) -> JudgeCodeTask:
    """Task for a caller who writes a judge function: features, rules, and existing functions.

    Where the session names a model that writes them, it has written them now.

    Raises:
        UnknownName: there is no such session.
        ModelProblem: that model gives no answer that can be used.
        BudgetExceeded: it would cost more than the session may.
    """
    record = ws.record(session_id)
    from p2p.judges.author import rules  # noqa: PLC0415 - jinja2, which the service starts without

    code = write_judge_code(ws, session_id)
    return JudgeCodeTask(
        session_id=session_id,
        to_measure=_to_measure(record),
        rules=rules(environment_of(ws, record.read_session(), record.read_criteria())),
        functions=code.functions if code is not None else (),
    )


def submit_judge_code(
    ws: Workspace, session_id: str, key: str, source: str, reasoning: str = "", model: str = ""
) -> JudgeCodeReport:
    """Try a judge function; if it is usable, judge the session by it.

    It is tried in its confined process: on made-up rollouts, on known motions of the robot, and on the newest
    report rollouts, of which nothing is told but whether it fails. What is judged by stands from the first
    judgment on: then only a function that fails on rollouts can be replaced.

    Args:
        session_id: Whose.
        key: Of the criterion it measures.
        source: Python with `judge(features) -> {"score", "evidence"}`.
        reasoning: How it measures, for the record.
        model: The name of the caller's model, for the record.

    Raises:
        UnknownName: there is no such session or criterion.
        InvalidInput: the criterion has a predicate, or what is judged by is settled.
    """
    record = ws.record(session_id)
    with record.exclusive():
        intent = record.read_criteria()
        known_keys = {criterion.key: criterion for criterion in intent.criteria} if intent is not None else {}
        if key not in known_keys:
            raise UnknownName("criterion", key, known_keys)
        if known_keys[key].predicate is not None:
            open_ones = ", ".join(criterion.key for criterion in _to_measure(record)) or "none"
            raise InvalidInput(f"{key} is measured by its predicate. Without a predicate: {open_ones}.")
        code = record.read_judge_code()
        judged = [each.number for each in record.iteration_records() if each.read_judgment() is not None]
        newest = _with_rollouts(record) if judged else None
        present = next((each for each in code.usable if each.key == key), None) if code is not None else None
        failing = newest is not None and present is not None and _problem(ws, newest, present) is not None
        if judged and not failing:
            raise InvalidInput(
                f"Iteration {judged[0]} of {session_id} is judged already. A judge function that works is not replaced "
                "after that, so that all iterations are judged by the same one. To judge by another, create another "
                f"session: {Remedy.CREATE.of()}"
            )
        written_by = f"{CALLER} {model}".strip()
        plan = Decomposition(measurable=True, reason=reasoning[:2000])
        function = JudgeFunction(key=key, decomposition=plan, source=source, written_by=written_by)
        problems, known = _on_trial(ws, record, function)
        if not problems:
            code = code or JudgeCode(written_by=CALLER, functions=())
            others = tuple(each for each in code.functions if each.key != function.key)
            record.save_judge_code(code.model_copy(update={"functions": (*others, function)}))
    return JudgeCodeReport(
        session_id=session_id,
        key=key,
        accepted=not problems,
        errors=tuple(problems),
        code_hash=function.code_hash,
        known_motions=known,
    )


def _problem(ws: Workspace, iteration: IterationRecord, function: JudgeFunction) -> str | None:
    """Why a function fails on the report rollouts of an iteration; None if it scores them."""
    said = call_on_report(ws, iteration, function)
    return said if isinstance(said, str) else None


def _on_trial(
    ws: Workspace, record: SessionRecord, function: JudgeFunction
) -> tuple[list[str], tuple[KnownMotion, ...]]:
    """Problems found in a trial of a function, and the known motions it scores highest."""
    from p2p.judges import generated  # noqa: PLC0415 - numpy, which the service starts without

    spec = environment_of(ws, record.read_session(), record.read_criteria())
    names = (*spec.feature_names, *sorted(names_for_code(spec)))
    clips = KnownMotionsRecord(record.known_motions_dir)
    motions = known_motions_file(ws, clips, spec)
    directory = ws.runs.trial_dir()
    try:
        generated.prepare_trial(directory, function.source, names, motions)
        run_to_end(ws.backend, "call", directory)
        problems = generated.problems_of(directory)
        made = clips.read_clips() if motions is not None else None
        known = generated.on_known_motions(directory, made) if made is not None else ()
    finally:
        files.discard(directory)
    newest = _with_rollouts(record)
    if not problems and newest is not None and (problem := _problem(ws, newest, function)) is not None:
        problems = [problem]
    return problems, known


def _with_rollouts(record: SessionRecord) -> IterationRecord | None:
    """Newest iteration with report rollouts."""
    iterations = record.iteration_records()
    return next((each for each in iterations[::-1] if each.report.read_evaluation() is not None), None)


def _to_measure(record: SessionRecord) -> tuple[Criterion, ...]:
    intent = record.read_criteria()
    return tuple(one for one in intent.criteria if one.predicate is None) if intent is not None else ()

"""Judge an iteration by measured predicates and by judge functions."""

from p2p.contracts.errors import InvalidInput
from p2p.contracts.judgment import Judgment, Verdict
from p2p.contracts.remedies import Remedy
from p2p.judges import synthesis
from p2p.registry import naming_extras
from p2p.service.judging.judge_code import judge_by_functions
from p2p.service.training.aggregation import ended_early
from p2p.service.training.environments import environment_of
from p2p.service.training.plan import session_for
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord

EARLIER_CRITERIA = "the criteria as they were before they were made stricter"


def rejudge(ws: Workspace, session_id: str, number: int, prompt: str | None = None) -> Judgment:
    """Judge the recorded rollouts again, by the session's criteria or those of another sentence.

    Nothing is simulated and nothing is overwritten.

    Raises:
        InvalidInput: there is no such iteration, or it has no recorded report rollouts.
        UnknownPhrase: `prompt` is not understood.
    """
    record = ws.record(session_id)
    session = record.read_session()
    iteration = ws.iteration_begun(session_id, number)
    if iteration.report.read_evaluation() is None:
        judge = Remedy.JUDGE.of(session=session_id, iteration=number)
        raise InvalidInput(f"Iteration {number} of {session_id} has no report rollouts yet. Judge it first: {judge}")
    if prompt is None:
        return judge_by_code(ws, record, iteration)
    intent = ws.author(session.author).elicit(prompt, environment_of(ws, session, record.read_criteria()))
    threshold = session_for(record, number).pass_threshold
    with naming_extras():
        from p2p.judges.code import CodeJudge  # noqa: PLC0415 - numpy, which the service starts without
    return CodeJudge().judge_report(intent, iteration.report.path, threshold)


def judge_by_code(ws: Workspace, record: SessionRecord, iteration: IterationRecord) -> Judgment:
    """Judge by all that is measured: the session's criteria, then, unless they fail it, every earlier version.

    Every way to a verdict goes through here.
    """
    judgment = annotated(iteration, judge_by_functions(ws, record, iteration, record.read_criteria()))
    if judgment.verdict is not Verdict.FAILED:
        for change in record.read_tightenings():
            earlier = judge_by_functions(ws, record, iteration, change.before)
            if earlier.verdict is Verdict.FAILED:
                said = f"{earlier.diagnosis}\nThat is by criteria before they were made stricter."
                return synthesis.veto(judgment, EARLIER_CRITERIA, earlier.model_copy(update={"diagnosis": said}))
    return judgment


def annotated(iteration: IterationRecord, judgment: Judgment) -> Judgment:
    """Judgment with a note in front if its checkpoint was chosen in an unusual way.

    Told are a run that was cancelled, failed or lost before its end, and a checkpoint that eyes chose.
    """
    aggregation = iteration.read_aggregation()
    if aggregation is None:
        return judgment
    notes = []
    if aggregation.by_checkpoints:
        name = aggregation.best_run_id
        results = {result.run_id: result for config in aggregation.configs.values() for result in config.per_seed}
        judged = results[name].model_copy(update={"best_checkpoint": aggregation.best_checkpoint})
        notes.append(ended_early(IterationRecord(iteration.path / name), judged))
    if aggregation.looks:
        found = "accepted it" if any(look.accepted for look in aggregation.looks) else "accepted none"
        notes.append(
            f"After an earlier veto eyes looked at {len(aggregation.looks)} of the best checkpoints, and {found}: "
            f"judged is {aggregation.best_run_id} at step {aggregation.best_checkpoint:,}."
        )
    told = [note for note in notes if note and note not in judgment.diagnosis]
    return judgment.model_copy(update={"diagnosis": " ".join([*told, judgment.diagnosis])}) if told else judgment

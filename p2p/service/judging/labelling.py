"""People's scores of rollouts, compared with the judges."""

from pydantic import ValidationError

from p2p.analysis.agreement import agreement
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.judgment import Label, Labels
from p2p.contracts.remedies import Remedy
from p2p.service.pictures.picturing import best_of
from p2p.service.workspace import Workspace
from p2p.store.clock import now
from p2p.store.iterations import IterationRecord

PASS_THRESHOLD = 0.8
"""For labels of many sessions, whose own thresholds may differ."""


def label_rollout(
    ws: Workspace,
    session_id: str,
    score: float,
    annotator: str,
    rollout: str = "median",
    iteration: int | None = None,
    comment: str = "",
) -> Labels:
    """Save a person's score of a recorded rollout, replacing that person's earlier one.

    Args:
        session_id: Whose.
        score: How much of what was meant is there, in [0, 1].
        annotator: Who says so.
        rollout: "p10", "median" or "p90".
        iteration: Its number; None takes the one judged best.
        comment: What was seen.

    Raises:
        UnknownName: there is no such session, iteration or rollout.
        InvalidInput: nothing is judged yet, no rollout was recorded, or a value is out of range.
    """
    record = ws.record(session_id)
    if iteration is not None:
        chosen: IterationRecord | None = ws.iteration_begun(session_id, iteration)
    else:
        chosen = best_of(record.iteration_records())
    judgment = chosen.read_judgment() if chosen is not None else None
    if chosen is None or judgment is None:
        which = "" if iteration is None else f" as iteration {iteration}"
        raise InvalidInput(
            f"{session_id} has nothing judged{which} yet: {Remedy.FOLLOW.of(session=session_id)} shows how it stands."
        )
    if judgment.run_id is None:
        raise InvalidInput(f"Iteration {chosen.number} of {session_id} has no recorded rollouts to label.")
    recorded = {score.label: score for score in judgment.rollouts if score.label is not None}
    if rollout not in recorded:
        raise UnknownName("rollout", rollout, recorded)
    seen = recorded[rollout]
    try:
        label = Label(
            iteration=chosen.number,
            run_id=judgment.run_id,
            checkpoint=judgment.best_checkpoint or 0,
            rollout=rollout,
            seed=seen.seed,
            score=score,
            judged=seen.intent_score,
            annotator=annotator.strip(),
            comment=" ".join(comment.split()),
            labelled_at=now(),
        )
    except ValidationError as error:
        wrong = error.errors()[0]
        raise InvalidInput(f"A label's {wrong['loc'][0]} cannot be {wrong['input']!r}: {wrong['msg']}.") from error
    record.append_label(label)
    return labels(ws, session_id)


def labels(ws: Workspace, session_id: str | None = None) -> Labels:
    """Labels of a session, oldest first, with the judges' agreement; all sessions for None."""
    records = [ws.record(session_id)] if session_id is not None else ws.runs.sessions()
    latest: dict[tuple[object, ...], Label] = {}  # of each person for each rollout
    for record in records:
        for label in record.read_labels():
            seen = (record.session_id, label.iteration, label.run_id, label.checkpoint, label.rollout)
            latest[(label.annotator, *seen)] = label
    found = list(latest.values())
    threshold = records[0].read_session().pass_threshold if session_id is not None else PASS_THRESHOLD
    scores = [label.score for label in found]
    judged = [label.judged for label in found]
    return Labels(session_id=session_id, labels=tuple(found), agreement=agreement(scores, judged, threshold))

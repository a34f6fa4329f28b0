"""Step five of the loop: plan the changes of the next iteration."""

from p2p.contracts.errors import P2PError
from p2p.contracts.protocols import Attempt
from p2p.contracts.reward import Revision
from p2p.contracts.session import EventName
from p2p.service.progress.advising import advice_on
from p2p.service.rewards.authors import author_of
from p2p.service.rewards.starting import decide_start
from p2p.service.rewards.variants import revision_within
from p2p.service.training.environments import environment_of
from p2p.service.training.plan import as_trained, base_config, session_for
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord
from p2p.training.tuning import HYPERPARAMETERS


def revise(ws: Workspace, session_id: str, number: int) -> Revision:
    """Plan the changes of iteration `number + 1`."""
    record = ws.record(session_id)
    iteration = record.iteration(number)
    if (revision := iteration.read_revision()) is not None:
        return revision
    session = record.read_session()
    intent = record.read_criteria()
    assert intent is not None, "a session without an intent ends after one iteration"
    with record.events.span(EventName.REVISE_START, EventName.REVISE_END, number) as result:
        attempts = tuple(attempt(record, index) for index in range(1, number + 1))
        spec = environment_of(ws, session, intent)
        wishes = tuple(wish.text for wish in record.read_wishes())
        revision = author_of(ws, record).revise(intent, spec, attempts, wishes)
        revision = revision_within(session, revision)
        start = decide_start(record, revision.based_on, revision.source, revision.config_changes)
        revision = revision.model_copy(
            update={"start": start, "diagnosis": f"{revision.diagnosis.rstrip()} {start.reason}"}
        )
        iteration.save_revision(revision)
        result |= {"changes": [f"{c.kind} {c.name}" for c in revision.changes], "based_on": revision.based_on}
    return revision


def attempt(record: SessionRecord, number: int) -> Attempt:
    """Iteration `number` as input for a reviser.

    Raises:
        P2PError: it is not trained and judged.
    """
    session = record.read_session()
    iteration = record.iteration(number)
    draft = iteration.read_draft()
    judgment = iteration.read_judgment()
    aggregation = iteration.read_aggregation()
    if draft is None or judgment is None or aggregation is None:
        raise P2PError(f"Iteration {number} of {record.session_id} lacks its reward, its training or its judgment.")
    request = iteration.read_training_request()
    if request is None or request.start.configs is None:
        draft = as_trained(draft, aggregation.best_config_id)
    summary = IterationRecord(iteration.path / aggregation.best_run_id).read_summary()
    before = record.iteration(number - 1).read_revision() if number > 1 else None
    return Attempt(
        number=number,
        source=draft.source,
        config_changes=draft.config_changes,
        config=base_config(session_for(record, number), draft),
        pinned=(*session.config, *(HYPERPARAMETERS if session.reward_only else ())),
        judgment=judgment,
        terms=summary.terms if summary else (),
        dynamics=summary.dynamics if summary else {},
        advice=advice_on(record, number),
        early_stop=summary.early_stop if summary else None,
        based_on=before.based_on if before else None,
    )

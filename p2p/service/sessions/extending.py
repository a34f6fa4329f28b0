"""Sessions that continue from the best reward of an earlier one with a larger goal."""

from pydantic import ValidationError

from p2p.analysis.tightening import tightened
from p2p.contracts.errors import Busy, InvalidInput
from p2p.contracts.extension import Extension
from p2p.contracts.intent import Tightening
from p2p.contracts.judgment import Judgment
from p2p.contracts.remedies import Remedy
from p2p.contracts.reward import Lineage, RewardDraft
from p2p.contracts.session import ExtendSession, Session
from p2p.contracts.spending import Caps
from p2p.contracts.training import canonical_names
from p2p.service.progress.lineage import best_iteration
from p2p.service.progress.session_view import view_session
from p2p.service.rewards.authors import writes_by_model
from p2p.service.rewards.criteria import intent_of
from p2p.service.sessions.lifecycle import check_request, write_session
from p2p.service.sessions.steering import wish_of
from p2p.service.training.plan import as_trained
from p2p.service.workspace import Workspace
from p2p.store.clock import now
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord

FEWEST_WITH_WISH = 2
"""Iterations: a wish is read by the revision after the first."""


def continue_session(
    ws: Workspace, session_id: str, request: ExtendSession, *, driven: bool, new_id: str | None = None
) -> Session:
    """Create a session that starts from the best reward of an ended one; starts no process.

    Its first iteration trains that reward, as it was configured. Its criteria are those of the earlier session,
    tightened and extended by what is given. A wish is read by whoever revises, also where that iteration passes.

    Args:
        session_id: The earlier session, which stays as it is.
        request: What is wanted besides.
        driven: Whether its own author writes. Where its caller does, wishes are always read.
        new_id: The id to use; None makes a new one.

    Raises:
        InvalidInput: the earlier session runs, or has no criteria or no judged iteration; nothing is asked for that
            it did not do; nobody would read the wish; or a criterion would get looser, or cannot be judged.
    """
    record = ws.record(session_id)
    best, judgment = _best_to_go_on_from(ws, record)
    session = _extended(ws, record.read_session(), request, record.iteration(best), new_id)
    _require_something(record, session, request, judgment, driven)
    present = record.read_criteria()
    assert present is not None, "what was judged by a sentence has criteria"
    intent = present
    if request.criteria:
        made = tightened(present.criteria, request.criteria)
        intent = intent_of(ws, present.prompt, present.env_id, made, present.episode_s, present.commands)
    check_request(ws, session, intent)
    wish = wish_of(request.wish, iteration=0) if request.wish.strip() else None
    session = session.model_copy(update={"extends": Extension(session_id=session_id, iteration=best)})
    new = ws.runs.session(session.session_id)
    if new.exists:
        raise InvalidInput(f"There is a {new.session_id} already. To go on: {Remedy.RESUME.of(session=new.session_id)}")

    def memory() -> None:
        new.save_lineage(Lineage(extends=session.extends))
        for change in record.read_tightenings():  # all of them must be met too, from the first iteration on
            new.append_tightening(change.model_copy(update={"after_iteration": 0}))
        if intent != present:
            why = " ".join(request.wish.split()) or f"{session_id} was extended"
            new.append_tightening(
                Tightening(after_iteration=0, by="the extension", why=why, before=present, after=intent, at=now())
            )
        if wish is not None:
            new.append_wish(wish)
        if (code := record.read_judge_code()) is not None:
            new.save_judge_code(code)

    iteration = record.iteration(best)
    draft = iteration.read_draft()
    aggregation = iteration.read_aggregation()
    if draft is None:
        raise InvalidInput(f"The reward of iteration {best} of {record.session_id} is missing; see {iteration.path}.")
    if aggregation is not None and not _own_configs(iteration):
        draft = as_trained(draft, aggregation.best_config_id)
    origin = f"The reward of iteration {best} of {record.session_id}, which it goes on from."
    first = RewardDraft(source=draft.source, config_changes=draft.config_changes, reasoning=origin)
    write_session(ws, new, session, first, intent, memory)
    return session


def _best_to_go_on_from(ws: Workspace, record: SessionRecord) -> tuple[int, Judgment]:
    """Number and judgment of the best iteration of a session without live processes.

    Raises:
        InvalidInput: it has none, has no criteria, or runs.
    """
    name = record.session_id
    if view_session(ws, name).alive:
        raise Busy(f"{name} is still at work. Stop it before it is extended: {Remedy.STOP.of(session=name)}")
    if record.read_criteria() is None:
        raise InvalidInput(
            f"{name} trained a reward without a sentence, so there are no criteria to go on by. "
            f"Train its reward again with one: {Remedy.TRAIN_REWARD.of(env=record.read_session().env_id)}"
        )
    judged = {n: j for n, one in enumerate(record.iteration_records(), 1) if (j := one.read_judgment()) is not None}
    best = best_iteration(judged)
    if best is None:
        begun = len(record.iteration_records())
        judge = (
            f" To judge it by the checkpoints it left: {Remedy.JUDGE.of(session=name, iteration=begun)}"
            if begun
            else ""
        )
        raise InvalidInput(
            f"{name} has no judged iteration to extend; {Remedy.RESUME.of(session=name)} goes on with it.{judge}"
        )
    return best, judged[best]


def _extended(
    ws: Workspace, old: Session, request: ExtendSession, best: IterationRecord, new_id: str | None
) -> Session:
    """Request for the new session: the earlier one with the best training's settings and the new goal."""
    told = best.read_training_request()
    aggregation = best.read_aggregation()
    config = dict(old.config)
    if told is not None and aggregation is not None:  # what its caller gave for the best configuration
        config |= canonical_names(_own_configs(best).get(aggregation.best_config_id, {}))
        if told.start.total_timesteps is not None:
            config["total_timesteps"] = told.start.total_timesteps
    changes: dict[str, object] = {"config": config}
    if request.author:
        changes |= {"author": request.author, "model": request.author, "light_model": "", "price": None}
    elif old.author == "given":  # it was trained once; from now on it is revised
        changes["author"] = "builtin"
    needed = FEWEST_WITH_WISH if request.wish.strip() else 1
    wanted = request.max_iterations or max(old.max_iterations, ExtendSession.USUAL_ITERATIONS)
    if wanted < needed:
        raise InvalidInput(
            f"A wish is read by the revision after iteration 1, so at least {needed} iterations are needed, "
            f"got {wanted}. Allow more iterations."
        )
    changes |= {"max_iterations": wanted, "priority": request.priority or old.priority}
    changes |= {"session_id": new_id or ws.runs.new_session_id(), "created_at": now()}
    changes |= {"backend": request.backend or ws.backend_of(old)}
    try:
        caps = Caps.model_validate(old.caps.model_dump() | request.caps)
        return Session.model_validate(old.model_dump() | changes | {"caps": caps})
    except ValidationError as error:
        raise InvalidInput(f"The session cannot be extended: {error.errors()[0]['msg']}.") from error


def _require_something(
    record: SessionRecord, session: Session, request: ExtendSession, best: Judgment, driven: bool
) -> None:
    """Refuse an extension that would repeat the earlier session.

    Raises:
        InvalidInput: it would; the message says what does work.
    """
    name = record.session_id
    wish = request.wish.strip()
    if request.criteria or (request.author and not best.passed):
        return
    if not wish:
        more = (
            ""
            if best.passed
            else f" To try more rewards in the session itself: {Remedy.ADD_ITERATIONS.of(session=name)}"
        )
        raise InvalidInput(
            f"Say what the session that continues {name} shall do in addition: stricter or further criteria "
            f"({Remedy.EXTEND_BY_CRITERIA.of(session=name)}), or a wish "
            f"({Remedy.EXTEND_BY_WISH.of(session=name)}).{more}"
        )
    if driven and not writes_by_model(session):
        raise InvalidInput(
            f"The built-in author of {name} reads no wishes, so this one alone would change nothing. Use instead: "
            f"criteria that say it ({Remedy.EXTEND_BY_CRITERIA.of(session=name)}), or a model that reads wishes "
            f"({Remedy.EXTEND_BY_MODEL.of(session=name)})."
        )


def _own_configs(iteration: IterationRecord) -> dict[str, dict[str, object]]:
    """Configurations the caller named for an iteration; empty if the session's were used."""
    request = iteration.read_training_request()
    return (request.start.configs if request is not None else None) or {}

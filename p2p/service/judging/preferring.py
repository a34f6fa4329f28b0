"""Pairwise comparison of iterations or checkpoints."""

from pathlib import Path

from p2p.contracts.env import without_hash
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.judgment import Observer, SentPicture, hash_of
from p2p.contracts.preference import Compared, ComparedPolicy, PairToCompare, Preference, Side, preference
from p2p.contracts.recording import RolloutLabel
from p2p.contracts.remedies import Remedy
from p2p.contracts.work import PictureRequest, RecordedFile, ViewRequest
from p2p.judges.evidence_pictures import EvidencePicture
from p2p.service.judging.eyes import ROLE, keep_picture, vision_models
from p2p.service.pictures.picturing import make_picture
from p2p.service.pictures.viewing import recorded_rollout
from p2p.service.progress.recordings import rollout_video
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import path_from_view, state_of, view_record
from p2p.store.sessions import SessionRecord

MAX_REASON = 4000


def prefer(
    ws: Workspace,
    session_id: str,
    first: ComparedPolicy,
    second: ComparedPolicy,
    request: ViewRequest | None = None,
    model: str = "",
) -> Preference:
    """Ask a model which of two candidates does better what the session asks for.

    Both are shown in both orders; where the answer depends on the order, it is a tie. No judgment changes.

    Args:
        session_id: Whose they are.
        first: One of them.
        second: The other.
        request: Which rollout, from where; a comparison and a video in it count nothing.
        model: `provider:model`; empty takes the one that looks at the session's pictures.

    Raises:
        UnknownName: there is no such session, iteration or checkpoint.
        InvalidInput: they are the same, nothing is recorded of one, or no model is configured.
        ModelProblem: the model gives no answer that can be used.
        BudgetExceeded: it would cost more than the session may.
    """
    from p2p.judges.pairwise import PairwiseJudge  # noqa: PLC0415 - jinja2, which the service starts without

    record = ws.record(session_id)
    pair = (first, second)
    judge = PairwiseJudge(vision_models(ws, record, model).for_role(ROLE), _question(record))
    found = judge.compare(session_id, pair, _in_both_orders(ws, record, pair, request))
    _keep(record, found)
    return found


def pair_to_compare(
    ws: Workspace,
    session_id: str,
    pair: tuple[ComparedPolicy, ComparedPolicy],
    request: ViewRequest | None = None,
    wait_s: float | None = None,
) -> PairToCompare:
    """Two candidates as pictures for the caller to compare; answer with `submit_preference`.

    Args:
        session_id: Whose they are.
        pair: The two.
        request: Which rollout, from where; a comparison and a video in it count nothing.
        wait_s: How long the caller can wait for each picture [s]; asked again, it finds them made.

    Raises:
        UnknownName: there is no such session, iteration or checkpoint.
        InvalidInput: they are the same, or nothing is recorded of one.
        EnvironmentProblem: this machine is too busy to make them in `wait_s`.
    """
    record = ws.record(session_id)
    shown = _turned(_in_both_orders(ws, record, pair, request, wait_s))
    return PairToCompare(
        session_id=session_id,
        first=pair[0],
        second=pair[1],
        rubric=_question(record),
        pictures=(shown[0].sent.path, shown[1].sent.path),
        notes=(shown[0].note, shown[1].note),
    )


def submit_preference(
    ws: Workspace,
    session_id: str,
    pair: tuple[ComparedPolicy, ComparedPolicy],
    said: tuple[Compared, Compared],
    request: ViewRequest | None = None,
    observer: Observer = "calling_agent",
    model: str | None = None,
) -> Preference:
    """Save the caller's answer to `pair_to_compare`, for the same arguments.

    Args:
        session_id: Whose they are.
        pair: The two.
        said: What was seen in each picture, in their order.
        request: Which rollout, from where.
        observer: Who looked.
        model: The name of the model, for the record.

    Raises:
        UnknownName: there is no such session, iteration or checkpoint.
        InvalidInput: they are the same, or nothing is recorded of one.
    """
    record = ws.record(session_id)
    pictures = _in_both_orders(ws, record, pair, request)
    by_picture = dict(zip(_turned(pictures), said, strict=True))
    found = preference(
        session_id,
        pair,
        (pictures[0].sent, pictures[1].sent),
        (by_picture[pictures[0]], by_picture[pictures[1]]),
        observer=observer,
        model=model,
        prompt_hash=hash_of(_question(record)),
    )
    _keep(record, found)
    return found


def person_prefers(
    ws: Workspace,
    session_id: str,
    pair: tuple[ComparedPolicy, ComparedPolicy],
    better: Side,
    reason: str,
    label: RolloutLabel = RolloutLabel.MEDIAN,
) -> Preference:
    """Save which of two policies a person prefers, who has watched the videos of their rollouts; no picture is made.

    Args:
        session_id: Whose they are.
        pair: The two.
        better: Which of them does better what was meant.
        reason: What was seen.
        label: Which of their recorded rollouts were watched.

    Raises:
        UnknownName: there is no such session, iteration or checkpoint.
        InvalidInput: they are the same, nothing was said, or one has no video.
    """
    record = ws.record(session_id)
    _require_two(pair)
    if not 0 < len(reason.strip()) <= MAX_REASON:
        raise InvalidInput(f"Say in 1 … {MAX_REASON} characters why.")
    chosen = {"first": pair[0], "second": pair[1], "same": None}
    if better not in chosen:
        raise UnknownName("side", better, chosen)
    first, second = (_watched(ws, session_id, each, label) for each in pair)
    found = Preference(
        session_id=session_id,
        first=pair[0],
        second=pair[1],
        better=chosen[better],
        agreed=True,
        answers=(better, better),
        reasons=(reason.strip(), reason.strip()),
        pictures=(first, second),
        observer="person",
        prompt_hash=hash_of(record.read_session().prompt),
    )
    _keep(record, found)
    return found


def _watched(ws: Workspace, session_id: str, policy: ComparedPolicy, label: RolloutLabel) -> SentPicture:
    """The video of a rollout, as it is kept."""
    video = rollout_video(ws, session_id, policy.iteration, label, policy.checkpoint)
    digest = files.sha256(video)
    if digest is None:
        raise InvalidInput(f"The video of {policy} cannot be read.")
    return SentPicture(
        path=str(video.relative_to(ws.runs.path)),
        sha256=digest,
        media_type="video/mp4",
        shows=f"{policy}, {label} rollout",
    )


def _require_two(pair: tuple[ComparedPolicy, ComparedPolicy]) -> None:
    if pair[0] == pair[1]:
        raise InvalidInput(f"{pair[0]} is compared with itself. Name two different iterations or checkpoints.")


def _question(record: SessionRecord) -> str:
    """Question about two candidates of a session."""
    from p2p.judges.pairwise import question  # noqa: PLC0415 - jinja2, which the service starts without

    intent = record.read_criteria()
    return question(record.read_session().prompt, intent.criteria if intent is not None else ())


def _in_both_orders(
    ws: Workspace,
    record: SessionRecord,
    pair: tuple[ComparedPolicy, ComparedPolicy],
    request: ViewRequest | None,
    wait_s: float | None = None,
) -> tuple[EvidencePicture, EvidencePicture]:
    """Two pictures of a pair: the first candidate above, and the second above."""
    _require_two(pair)
    view = request or ViewRequest()
    recorded = [(each, *_recorded(ws, record, each, view.label)) for each in pair]
    return _both(ws, record, recorded, view, wait_s), _both(ws, record, recorded[::-1], view, wait_s)


def _recorded(
    ws: Workspace, record: SessionRecord, candidate: ComparedPolicy, label: str
) -> tuple[IterationRecord, IterationRecord, Path]:
    """Iteration, run and trajectory file of a candidate."""
    iteration = ws.iteration_begun(record.session_id, candidate.iteration)
    if candidate.checkpoint is None:
        return (iteration, *recorded_rollout(ws, record, iteration, label))
    aggregation = iteration.read_aggregation()
    if aggregation is None:
        train = Remedy.TRAIN.of(session=record.session_id)
        raise InvalidInput(f"Iteration {iteration.number} of {record.session_id} is not trained yet. Train it: {train}")
    run = IterationRecord(iteration.path / aggregation.best_run_id)
    path = run.trajectory(candidate.checkpoint, label)
    if not path.exists():
        known = ", ".join(str(checkpoint.step) for checkpoint in run.checkpoints()) or "none"
        raise InvalidInput(f"{run.iteration_id} has no checkpoint {candidate.checkpoint}. It has: {known}.")
    return iteration, run, path


def _both(
    ws: Workspace,
    record: SessionRecord,
    pair: list[tuple[ComparedPolicy, IterationRecord, IterationRecord, Path]],
    view: ViewRequest,
    wait_s: float | None,
) -> EvidencePicture:
    """One picture of a pair, the first candidate above, without a hint which is which."""
    home = pair[0][1]
    named = tuple(
        RecordedFile(
            run_dir=path_from_view(home.path, run.path),
            trajectory=path_from_view(home.path, path),
            title=f"{place}: {without_hash(record.read_session().env_id)}",
        )
        for place, (_, _, run, path) in zip(("above", "below"), pair, strict=True)
    )
    plain = view.model_copy(update={"compare_with": None, "video": False, "slow_motion": 1.0, "frames": 0})
    order = PictureRequest(rollouts=named, view=plain)
    job = view_record(home.path, order, state_of(path for *_, path in pair))
    result = make_picture(ws, job, "view", order, wait_s)
    shows = f"{pair[0][0]} above, {pair[1][0]} below, {view.label} rollouts"
    return keep_picture(ws, home, job.path / result.sheet, shows, result.note)


def _turned(pictures: tuple[EvidencePicture, EvidencePicture]) -> tuple[EvidencePicture, EvidencePicture]:
    """Sort the pictures in a stable order that does not reveal which candidate is above."""
    one, two = sorted(pictures, key=lambda shown: shown.sent.sha256)
    return one, two


def _keep(record: SessionRecord, found: Preference) -> None:
    """Append a preference, unless it is already saved."""
    if found not in record.read_preferences():
        record.append_preference(found)

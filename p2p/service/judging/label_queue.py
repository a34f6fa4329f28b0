"""Which recorded rollouts a person scores next, blind."""

from collections.abc import Iterator
from hashlib import blake2b

from p2p.contracts.label_queue import LabelClip, LabelQueue
from p2p.contracts.recording import RolloutLabel
from p2p.service.workspace import Workspace
from p2p.store.sessions import SessionRecord
from p2p.store.untrusted_files import is_readable

MOST_SESSIONS = 100
"""Newest sessions that are looked through."""


def label_queue(ws: Workspace, annotator: str, session_id: str | None = None, limit: int = 20) -> LabelQueue:
    """Judged rollouts with a video that a person has not scored yet, shuffled.

    Args:
        annotator: The person; each has an order of their own.
        session_id: Only of this session; None for the newest ones.
        limit: How many clips at most.

    Raises:
        UnknownName: there is no such session.
    """
    records = [ws.record(session_id)] if session_id is not None else ws.runs.sessions()[:MOST_SESSIONS]
    clips = [clip for record in records for clip in _waiting(record, annotator)]

    def place(clip: LabelClip) -> bytes:
        said = "\0".join((annotator, clip.session_id, str(clip.iteration), clip.rollout))
        return blake2b(said.encode(), digest_size=8).digest()

    clips.sort(key=place)
    return LabelQueue(annotator=annotator, clips=tuple(clips[:limit]), waiting=len(clips))


def _waiting(record: SessionRecord, annotator: str) -> Iterator[LabelClip]:
    labels = (label for label in record.read_labels() if label.annotator == annotator)
    scored = {(label.iteration, label.run_id, label.checkpoint, label.rollout) for label in labels}
    session = record.read_session()
    for iteration in record.iteration_records():
        judgment = iteration.read_judgment()
        if judgment is None or judgment.run_id is None:
            continue
        for rollout in judgment.rollouts:
            if rollout.label not in list(RolloutLabel):
                continue
            label = RolloutLabel(rollout.label)
            video = iteration.report.video(label)
            seen = (iteration.number, judgment.run_id, judgment.best_checkpoint or 0, label)
            if seen not in scored and is_readable(video):
                yield LabelClip(
                    session_id=record.session_id,
                    prompt=session.prompt,
                    env_id=session.env_id,
                    iteration=iteration.number,
                    rollout=label,
                    video=video.name,
                )

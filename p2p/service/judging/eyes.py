"""Vision model of a session: selection and inputs."""

from pathlib import Path

from p2p.contracts.errors import InvalidInput
from p2p.contracts.inference import ModelName, ModelRefused, ReplyMalformed, ReplyTruncated
from p2p.contracts.judgment import SentPicture
from p2p.contracts.remedies import Remedy
from p2p.contracts.work import ViewCamera, ViewRequest
from p2p.inference.client import SessionModels
from p2p.judges.evidence_pictures import CloserLook, EvidencePicture
from p2p.service.judging.evidence import SHOWN
from p2p.service.models.session_models import session_models
from p2p.service.pictures.picturing import MIME_TYPES, relative_path
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import SeenPictures
from p2p.store.sessions import SessionRecord
from p2p.store.untrusted_files import read_bytes

ROLE = "vision_judge"
"""Under which its calls are counted in the session's ledger."""
USELESS = (ReplyMalformed, ReplyTruncated, ModelRefused)
"""The model was reached, and what it said cannot be used; asking again would change nothing."""


def eyes_of(ws: Workspace, session_id: str) -> str:
    """`provider:model` of the session's vision model; empty if none is configured."""
    session = ws.record(session_id).read_session()
    return session.judge_model or session.model or ws.settings.model


def vision_models(ws: Workspace, record: SessionRecord, model: str = "") -> SessionModels:
    """Models of a session with the vision model in place of its own."""
    model = model or eyes_of(ws, record.session_id)
    if not model:
        raise InvalidInput(
            f"No model is configured that could look at pictures. Name one ({Remedy.CHOOSE_JUDGE_MODEL.of()}, or set "
            f"P2P_MODEL), or look yourself: {Remedy.LOOK.of(session=record.session_id)}"
        )
    name = str(ModelName.parse(model))
    return session_models(record, ws.settings.model_patience_s, ws.settings.model_silence_s, name)


def keep_picture(ws: Workspace, iteration: IterationRecord, file: Path, shows: str, note: str = "") -> EvidencePicture:
    """Picture in the form that is sent, with its bytes saved."""
    data = read_bytes(file)
    path, digest = SeenPictures(iteration.path).keep(data, file.suffix)
    sent = SentPicture(path=relative_path(ws, path), sha256=digest, media_type=MIME_TYPES[file.suffix], shows=shows)
    return EvidencePicture(data, sent, note)


def requested_view(wish: CloserLook) -> ViewRequest:
    """Picture request from the judge's answer.

    Raises:
        InvalidInput: that part of time is none.
    """
    try:
        return ViewRequest(
            label=wish.rollout or SHOWN,
            camera=wish.camera or ViewCamera.TRACKING,
            compare_with=wish.compare_with,
            start_s=wish.start_s,
            end_s=wish.end_s,
            path_of=wish.path_of,
        )
    except ValueError as error:
        raise InvalidInput(f"end_s must be later than start_s, got {wish.start_s} to {wish.end_s}.") from error

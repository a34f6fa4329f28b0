"""Judges with the eyes of a model, to be calibrated."""

from pathlib import Path

from p2p import registry
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.inference import ModelChoice, ModelName
from p2p.contracts.judgment import SentPicture
from p2p.inference.access import access_to
from p2p.inference.budget import require_price
from p2p.inference.client import SessionModels
from p2p.inference.prices import price_of
from p2p.inference.retry import Patience
from p2p.judges.evidence_pictures import CloserLook, EvidencePicture, EvidencePictures
from p2p.judges.vision import TAKE_VIDEO
from p2p.lab.contracts.calibration import CalibrationRequest
from p2p.lab.judges.clip_films import film_clip
from p2p.lab.judges.clip_recording import CalibratedJudge
from p2p.lab.judges.measure import JUDGES
from p2p.lab.judges.model_judge import EyesJudge
from p2p.lab.records import CalibrationRecord
from p2p.service.pictures.picturing import MIME_TYPES
from p2p.service.workspace import Workspace
from p2p.store.calls import CallLedger
from p2p.store.events import EventLog
from p2p.store.pictures import SeenPictures

TOGETHER = "synthesis:"
"""Before the name of a model: what code measures takes part."""
ClipPictures = dict[tuple[str, bool], EvidencePictures]
"""Pictures of clips by id, with a video or without."""


def vision_judge_to_calibrate(
    ws: Workspace, name: str, request: CalibrationRequest, films: ClipPictures
) -> str | CalibratedJudge:
    """A judge by its name in `measure.JUDGES`, or `provider:model` for eyes alone, `synthesis:provider:model` for both.

    Args:
        name: Which.
        request: What caps its cost.
        films: Pictures of clips; what is not there is made and added.

    Raises:
        UnknownName: there is no such judge, or provider.
        InvalidInput: nothing would cap the cost.
        AuthenticationFailed: the provider's key is not set.
    """
    if name in JUDGES:
        return name
    if ":" not in name:
        of_models = ("provider:model", "synthesis:provider:model", "code:provider:model")
        raise UnknownName("calibrated judge", name, [*JUDGES, *of_models])
    model = ModelName.parse(name.removeprefix(TOGETHER))
    models = calibration_models(ws, model, request)
    video = model.provider in TAKE_VIDEO

    def film(clip_id: str) -> EvidencePictures:
        if (clip_id, video) not in films:
            films[clip_id, video] = _pictures_of_clip(ws, clip_id, video)
        return films[clip_id, video]

    return EyesJudge(name, models, film, name.startswith(TOGETHER))


def calibration_models(ws: Workspace, model: ModelName, request: CalibrationRequest) -> SessionModels:
    """A model that takes part in the calibration, within its caps.

    Raises:
        UnknownName: there is no such provider.
        InvalidInput: nothing would cap the cost.
        AuthenticationFailed: the provider's key is not set.
    """
    registry.load("provider", registry.PROVIDERS, model.provider)
    require_price(model, price_of(model), request.caps)
    access_to(model.provider, ws.settings.model_silence_s)
    home = CalibrationRecord(ws.runs.path)
    return SessionModels(
        ModelChoice(model=str(model), caps=request.caps),
        CallLedger(home.path),
        EventLog(home.events_path),
        patience=Patience(total_s=ws.settings.model_patience_s),
        silence_s=ws.settings.model_silence_s,
    )


def _pictures_of_clip(ws: Workspace, clip_id: str, video: bool) -> EvidencePictures:
    made = film_clip(ws, clip_id, named=False, video=video)
    sheet = _seen(ws, made.sheet, f"Contact sheet of {made.clip.env_id}")

    def no_more(_: CloserLook) -> EvidencePicture:
        raise InvalidInput("There are no more pictures of this clip.")

    return EvidencePictures(sheet, _seen(ws, made.video, "Video of the same") if video else None, no_more)


def _seen(ws: Workspace, name: str, shows: str) -> EvidencePicture:
    file: Path = ws.runs.path / name
    data = file.read_bytes()
    path, digest = SeenPictures(CalibrationRecord(ws.runs.path).path).keep(data, file.suffix)
    kept = path.relative_to(ws.runs.path).as_posix()
    return EvidencePicture(data, SentPicture(path=kept, sha256=digest, media_type=MIME_TYPES[file.suffix], shows=shows))

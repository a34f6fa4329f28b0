"""Film one clip of the last calibration."""

import os

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.known_motions import ROBOTS as ALL_ROBOTS
from p2p.contracts.known_motions import Clip
from p2p.lab.contracts.calibration import ClipVideo, ClipVideoRequest
from p2p.lab.jobs import run_to_end
from p2p.lab.records import CalibrationRecord, CalibrationReportRecord, ClipsRecord
from p2p.service.workspace import Workspace
from p2p.store import files


def film_clip(
    ws: Workspace, clip_id: str, named: bool = True, open_held_out: bool = False, video: bool = True
) -> ClipVideo:
    """A video and a contact sheet of one clip of the last calibration.

    Args:
        clip_id: Which.
        named: Whether the pictures say which clip it is; a judge, who is shown held-out clips too, is not told.
        open_held_out: Whether a clip that is held out may be shown to people.
        video: Whether there is to be a video besides the sheet.

    Raises:
        InvalidInput: nothing has been calibrated yet, or the clip is held out.
        UnknownName: there is no such clip.
    """
    clips, clip = _clip(ws, clip_id)
    report = CalibrationReportRecord(CalibrationRecord(ws.runs.path).report_path).read()
    if named and not open_held_out and report and report.held_out and report.held_out.holds(clip):
        raise InvalidInput(
            f"{clip_id} is held out: looking at it would bias the rates on held-out clips. To film it anyway: "
            "--open-held-out"
        )
    film = clips.film(clip_id)
    files.discard(film.path)
    relative = os.path.relpath(clips.path, film.path)
    film.save_request(ClipVideoRequest(clips=relative, clip_id=clip_id, named=named, video=video))
    run_to_end(ws.backend, "clip_video", film.path)
    filmed, sheet = (str(path.relative_to(ws.runs.path)) for path in (film.video_path, film.sheet_path))
    return ClipVideo(clip=clip, video=filmed if video else "", sheet=sheet)


def _clip(ws: Workspace, clip_id: str) -> tuple[ClipsRecord, Clip]:
    record = CalibrationRecord(ws.runs.path)
    known: list[str] = []
    for env_id in ALL_ROBOTS:
        clips = record.clips(env_id)
        found = clips.read_clips()
        for clip in found.clips if found else ():
            if clip.clip_id == clip_id:
                return clips, clip
            known.append(clip.clip_id)
    if not known:
        raise InvalidInput("There are no clips yet. To make them: p2p judge calibrate")
    raise UnknownName("clip", clip_id, [*known[:3], "…", known[-1]])

"""Searches for motions that meet criteria and do not do what the sentence asks for."""

from collections.abc import Callable, Sequence

from p2p.contracts.errors import UnknownName
from p2p.contracts.known_motions import ROBOTS
from p2p.contracts.protocols import Backend
from p2p.lab.contracts.attack import Attack, AttackRequest
from p2p.lab.contracts.calibration import ClipVideo, ClipVideoRequest
from p2p.lab.jobs import lab_job, run_to_end
from p2p.lab.records import CalibrationRecord
from p2p.service.jobs.worker_jobs import raise_failure, wait
from p2p.store import files

Tick = Callable[[str], None]


def run_attacks(
    backend: Backend, home: CalibrationRecord, requests: Sequence[AttackRequest], at_once: int, tick: Tick
) -> list[Attack]:
    """Search once for each request, several searches at a time.

    Raises:
        UnknownName: the calibration set has no such robot, or does not know the truth of such a sentence.
        InvalidInput: criteria that only eyes can judge.
    """
    for request in requests:
        if request.env_id not in ROBOTS:
            raise UnknownName("robot of the calibration set", request.env_id, ROBOTS)
    records = [home.attack(request.env_id, request.intent.prompt) for request in requests]
    for start in range(0, len(requests), at_once):
        wave = list(zip(records, requests, strict=True))[start : start + at_once]
        for record, request in wave:
            files.discard(record.path)
            record.save_request(request)
            backend.submit(lab_job("attack"), record.path)
        wait([record.path for record, _ in wave], backend)
        for record, request in wave:
            what = f"The attack on “{request.intent.prompt}” in {record.path}"
            raise_failure(backend.status(record.path), what)
            tick(f"{request.env_id}: {request.intent.prompt}")
    found = [record.read() for record in records]
    return [attack for attack in found if attack is not None]


def film_finds(backend: Backend, home: CalibrationRecord, attack: Attack) -> list[ClipVideo]:
    """A video and a contact sheet of every find. Paths are relative to the runs directory."""
    clips = home.attack(attack.env_id, attack.sentence).clips
    known = clips.read_clips()
    runs = home.path.parent
    films = []
    for clip in known.clips if known else ():
        film = clips.film(clip.clip_id)
        files.discard(film.path)
        film.save_request(ClipVideoRequest(clips="../..", clip_id=clip.clip_id))
        run_to_end(backend, "clip_video", film.path)
        video, sheet = (str(path.relative_to(runs)) for path in (film.video_path, film.sheet_path))
        films.append(ClipVideo(clip=clip, video=video, sheet=sheet))
    return films

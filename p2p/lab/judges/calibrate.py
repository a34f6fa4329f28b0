"""Calibrate judges on clips whose truth is known; attack their criteria."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from p2p.contracts.errors import UnknownName
from p2p.contracts.intent import Intent
from p2p.contracts.known_motions import ROBOTS as ALL_ROBOTS
from p2p.lab.contracts.attack import Attack, AttackRequest
from p2p.lab.contracts.calibration import Calibration, CalibrationRequest, ClipsRequest, ClipVideo, HeldOut
from p2p.lab.jobs import lab_job, run_to_end
from p2p.lab.judges.attacks import film_finds, run_attacks
from p2p.lab.judges.by_hand import written_by_hand
from p2p.lab.judges.code_to_calibrate import (
    function_folders,
    judge_of_folder,
    judge_to_calibrate,
    robots_of,
    sentences_of,
)
from p2p.lab.judges.eyes_to_calibrate import ClipPictures
from p2p.lab.judges.measure import calibrate as measure
from p2p.lab.judges.trained_policies import train_for_clips
from p2p.lab.records import CalibrationRecord, CalibrationReportRecord, ClipsRecord
from p2p.scheduler.resources import parallel_jobs
from p2p.service.jobs.worker_jobs import raise_failure, wait
from p2p.service.training.environments import describe_environment
from p2p.service.workspace import Workspace
from p2p.store import files

Tick = Callable[[str], None]


def calibrate(ws: Workspace, request: CalibrationRequest, tick: Tick = lambda _: None) -> Calibration:
    """Make the clips, put them to the judges, and write the report with its picture.

    Args:
        request: Which judges, on which clips.
        tick: Told what is being done, in words.

    Raises:
        UnknownName: there is no such judge, or the set has no such robot or sentence.
        InvalidInput: a folder of judge functions holds none.
    """
    for env_id in request.env_ids:
        if env_id not in ALL_ROBOTS:
            raise UnknownName("robot of the calibration set", env_id, ALL_ROBOTS)
    films: ClipPictures = {}
    judges = [judge_to_calibrate(ws, name, request, films) for name in request.judges]
    if folders := function_folders(request):
        request = request.model_copy(update={"env_ids": robots_of(folders, request.env_ids)})
        judges += [judge_of_folder(ws, folder) for folder in folders]
    begun = time.monotonic()
    steps = request.policy_steps
    policies = dict[str, tuple[Path, ...]]()
    if steps is not None:
        policies = train_for_clips(ws, request.env_ids, steps, tick)
    tick(f"clips of {len(request.env_ids)} robots")
    directories = _make_clips(ws, request, policies)
    intents = _intents(ws, directories)
    if folders:
        intents = {pair: intents[pair] for pair in sentences_of(folders, intents)}
    tick(f"judging by {', '.join((*request.judges, *(folder.name for folder in folders)))}")
    calibration = measure(
        directories,
        intents,
        judges,
        request.limit,
        lambda name: tick(f"{name}: done"),
        HeldOut.drawn(request.hold_out_seed, request.open_held_out),
    )
    calibration = calibration.model_copy(update={"seconds": time.monotonic() - begun})
    report = CalibrationReportRecord(CalibrationRecord(ws.runs.path).report_path)
    files.discard(report.path)
    report.save(calibration)
    run_to_end(ws.backend, "calibration_chart", report.path)
    return calibration


def attack(
    ws: Workspace, pairs: Sequence[tuple[str, str]], tries: int, seed: int, tick: Tick = lambda _: None
) -> list[Attack]:
    """Search for motions that meet the criteria of sentences and do not do what they ask for.

    Args:
        pairs: Robots and sentences of the calibration set.
        tries: Motions that are played for each.
        seed: Of the searches.
        tick: Told what is done, in words.

    Raises:
        UnknownName: the set has no such robot or sentence.
        InvalidInput: the sentence is not understood, or some of it is judged by eyes.
    """
    author = ws.author("builtin")
    requests = [
        AttackRequest(
            env_id=env_id,
            intent=author.elicit(sentence, describe_environment(ws, env_id)),
            tries=tries,
            seed=seed,
        )
        for env_id, sentence in pairs
    ]
    at_once = ws.settings.max_parallel or parallel_jobs()
    return run_attacks(ws.backend, CalibrationRecord(ws.runs.path), requests, at_once, tick)


def film_attack(ws: Workspace, attack: Attack) -> list[ClipVideo]:
    """Film the finds of a search."""
    return film_finds(ws.backend, CalibrationRecord(ws.runs.path), attack)


def calibration_chart(ws: Workspace) -> Path:
    """Path of the last report's picture."""
    return CalibrationRecord(ws.runs.path).chart_path


def _make_clips(ws: Workspace, request: CalibrationRequest, policies: Mapping[str, tuple[Path, ...]]) -> list[Path]:
    """The clips of all robots, several robots at a time; `policies` are runs of each whose policies make some."""
    record = CalibrationRecord(ws.runs.path)
    directories = []
    for env_id in request.env_ids:
        clips = record.clips(env_id)
        files.discard(clips.path)
        runs = tuple(os.path.relpath(run, clips.path) for run in policies.get(env_id, ()))
        clips.save_request(
            ClipsRequest(
                env_id=env_id,
                seed=request.seed,
                variations=request.variations,
                mutations=request.mutations,
                policies=runs,
            )
        )
        directories.append(clips.path)
    at_once = ws.settings.max_parallel or parallel_jobs()
    for start in range(0, len(directories), at_once):
        wave = directories[start : start + at_once]
        for directory in wave:
            ws.backend.submit(lab_job("clips"), directory)
        wait(wave, ws.backend)
        for directory in wave:
            raise_failure(ws.backend.status(directory), f"Making the clips in {directory}")
    return directories


def _intents(ws: Workspace, directories: list[Path]) -> dict[tuple[str, str], Intent]:
    """Criteria of every sentence: those written by hand, else the built-in author's."""
    author = ws.author("builtin")
    found = {}
    for directory in directories:
        clips = ClipsRecord(directory).read_clips()
        assert clips is not None, "its job has been done"
        spec = describe_environment(ws, clips.env_id)
        for sentence in sorted({claim.sentence for clip in clips.clips for claim in clip.claims}):
            known = written_by_hand(clips.env_id, sentence)
            found[clips.env_id, sentence] = known or author.elicit(sentence, spec)
    return found

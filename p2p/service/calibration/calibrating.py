"""How often judges are right, on clips whose truth is known."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from p2p import registry
from p2p.contracts.attack import Attack, AttackRequest
from p2p.contracts.calibration import ROBOTS as ALL_ROBOTS
from p2p.contracts.calibration import (
    Calibration,
    CalibrationRequest,
    Clip,
    ClipsRequest,
    ClipVideo,
    ClipVideoRequest,
    HeldOut,
)
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.intent import Intent
from p2p.judges.album import Album
from p2p.scheduler.resources import parallel_jobs
from p2p.service.calibration.attacking import film_finds, run_attacks
from p2p.service.calibration.calibrated_code import CalibratedCode, robots_of, sentences_of
from p2p.service.calibration.calibrated_policies import CalibratedPolicies
from p2p.service.training.jobs import raise_failure, run_to_end, wait, worker_job
from p2p.store import files
from p2p.store.calibration import CalibrationRecord, CalibrationReportRecord, ClipsRecord

Tick = Callable[[str], None]


class Calibrating(CalibratedCode, CalibratedPolicies):
    """Measures judges."""

    def calibrate(self, request: CalibrationRequest, tick: Tick = lambda _: None) -> Calibration:
        """Make the clips, put them to the judges, and write the report with its picture.

        Args:
            request: Which judges, on which clips.
            tick: Told what is being done, in words.

        Raises:
            UnknownName: no such judge is registered, or the set has no such robot or sentence.
            InvalidInput: a folder of judge functions holds none.
        """
        for env_id in request.env_ids:
            if env_id not in ALL_ROBOTS:
                raise UnknownName("robot of the calibration set", env_id, ALL_ROBOTS)
        films: dict[str, Album] = {}
        judges = [self._judge_to_calibrate(name, request, films) for name in request.judges]
        if folders := self._function_folders(request):
            request = request.model_copy(update={"env_ids": robots_of(folders, request.env_ids)})
            judges += [self._folder_to_calibrate(folder) for folder in folders]
        begun = time.monotonic()
        steps, policies = request.policy_steps, dict[str, tuple[Path, ...]]()
        if steps is not None:
            policies = self._train_for_clips(request.env_ids, steps, tick)
        tick(f"clips of {len(request.env_ids)} robots")
        directories = self._make_clips(request, policies)
        intents = self._intents(directories)
        if folders:
            intents = {pair: intents[pair] for pair in sentences_of(folders, intents)}
        tick(f"judging by {', '.join((*request.judges, *(folder.name for folder in folders)))}")
        measure: Callable[..., Calibration] = registry.load("measurement", registry.MEASUREMENTS, "calibrate")
        calibration = measure(
            directories,
            intents,
            judges,
            request.limit,
            lambda name: tick(f"{name}: done"),
            HeldOut.drawn(request.hold_out_seed, request.open_held_out),
        )
        calibration = calibration.model_copy(update={"seconds": time.monotonic() - begun})
        self._report(calibration)
        return calibration

    def attack(
        self, pairs: Sequence[tuple[str, str]], tries: int, seed: int, tick: Tick = lambda _: None
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
        author = self.author("builtin")
        requests = [
            AttackRequest(
                env_id=env_id,
                intent=author.elicit(sentence, self.describe_environment(env_id)),
                tries=tries,
                seed=seed,
            )
            for env_id, sentence in pairs
        ]
        at_once = self.settings.max_parallel or parallel_jobs()
        return run_attacks(self.backend, CalibrationRecord(self.runs.path), requests, at_once, tick)

    def film_attack(self, attack: Attack) -> list[ClipVideo]:
        """Pictures of what a search found."""
        return film_finds(self.backend, CalibrationRecord(self.runs.path), attack)

    def calibration_chart(self) -> Path:
        """The picture of the last report."""
        return CalibrationRecord(self.runs.path).chart_path

    def film_clip(self, clip_id: str, named: bool = True, open_held_out: bool = False) -> ClipVideo:
        """A video and a contact sheet of one clip of the last calibration.

        Args:
            clip_id: Which.
            named: Whether the pictures say which clip it is; a judge, who is shown held-out clips too, is not told.
            open_held_out: Whether a clip that is held out may be shown to people.

        Raises:
            InvalidInput: nothing has been calibrated yet, or the clip is held out.
            UnknownName: there is no such clip.
        """
        clips, clip = self._clip(clip_id)
        report = CalibrationReportRecord(CalibrationRecord(self.runs.path).report_path).read()
        if named and not open_held_out and report and report.held_out and report.held_out.holds(clip):
            raise InvalidInput(
                f"{clip_id} is held out: nobody looks at such clips, so that rates on them stay honest. "
                "To film it all the same: --open-held-out"
            )
        film = clips.film(clip_id)
        files.discard(film.path)
        film.save_request(ClipVideoRequest(clips=os.path.relpath(clips.path, film.path), clip_id=clip_id, named=named))
        run_to_end(self.backend, "clip_video", film.path)
        video, sheet = (str(path.relative_to(self.runs.path)) for path in (film.video_path, film.sheet_path))
        return ClipVideo(clip=clip, video=video, sheet=sheet)

    def _make_clips(self, request: CalibrationRequest, policies: Mapping[str, tuple[Path, ...]]) -> list[Path]:
        """The clips of all robots, several robots at a time; `policies` are runs of each whose policies make some."""
        record, directories = CalibrationRecord(self.runs.path), []
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
        at_once = self.settings.max_parallel or parallel_jobs()
        for start in range(0, len(directories), at_once):
            wave = directories[start : start + at_once]
            for directory in wave:
                self.backend.submit(worker_job("clips"), directory)
            wait(wave, self.backend)
            for directory in wave:
                raise_failure(self.backend.status(directory), f"Making the clips in {directory}")
        return directories

    def _intents(self, directories: list[Path]) -> dict[tuple[str, str], Intent]:
        """Criteria of every sentence: those written by hand, else the built-in author's."""
        by_hand: Callable[..., Intent | None] = registry.load("measurement", registry.MEASUREMENTS, "criteria_by_hand")
        author, found = self.author("builtin"), {}
        for directory in directories:
            clips = ClipsRecord(directory).read_clips()
            assert clips is not None, "its job has been done"
            spec = self.describe_environment(clips.env_id)
            for sentence in sorted({claim.sentence for clip in clips.clips for claim in clip.claims}):
                known = by_hand(clips.env_id, sentence)
                found[clips.env_id, sentence] = known or author.elicit(sentence, spec)
        return found

    def _report(self, calibration: Calibration) -> None:
        report = CalibrationReportRecord(CalibrationRecord(self.runs.path).report_path)
        files.discard(report.path)
        report.save(calibration)
        run_to_end(self.backend, "calibration_chart", report.path)

    def _clip(self, clip_id: str) -> tuple[ClipsRecord, Clip]:
        record = CalibrationRecord(self.runs.path)
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

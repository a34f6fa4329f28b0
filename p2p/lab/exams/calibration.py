"""Calibrate the exams of a suite on motions whose truth is known."""

from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from p2p.contracts.known_motions import ClaimKind
from p2p.contracts.suite import Suite, digest_of
from p2p.lab.contracts.exams import (
    Count,
    ExamCalibration,
    ExamClip,
    ExamClipsRequest,
    ExamCounts,
    ExamToCalibrate,
    SuiteCalibration,
    held_out,
)
from p2p.lab.jobs import lab_job
from p2p.lab.records import CalibrationRecord
from p2p.scheduler.resources import parallel_jobs
from p2p.service.jobs.worker_jobs import raise_failure, wait
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.suite_files import SHIPPED

CALIBRATION = "calibration.json"
HOLD_OUT_SEED = 7
"""Decides which rules are never looked at. Another one would show them: do not change it."""
_FIELDS = {
    ClaimKind.POSITIVE: "positives",
    ClaimKind.NEAR_MISS: "near_misses",
    ClaimKind.EXPLOIT: "exploits",
    ClaimKind.NEGATIVE: "others",
}


def calibrate_exams(
    ws: Workspace,
    suite: Suite,
    seed: int = 1,
    variations: int = 2,
    env_ids: Collection[str] = (),
    tick: Callable[[str], None] = lambda _: None,
) -> tuple[SuiteCalibration, tuple[ExamClip, ...]]:
    """Put motions of known truth to the exams of a suite.

    Args:
        ws: Where the motions are made.
        suite: Its cases with exams are measured.
        seed: Of the motions. Exams were mended on seed 0: report on others.
        variations: Motions of each rule.
        env_ids: Only cases of these robots; empty for all.
        tick: Told what is being done, in words.

    Returns:
        Counts, and the mistakes on motions that may be looked at.
    """
    record = CalibrationRecord(ws.runs.path)
    waiting = []
    exam_of = {
        case: case.exam for case in suite.cases if case.exam is not None and (not env_ids or case.env_id in env_ids)
    }
    for env_id in dict.fromkeys(case.env_id for case in exam_of):
        exams = tuple(
            ExamToCalibrate(case=case.name, exam=exam) for case, exam in exam_of.items() if case.env_id == env_id
        )
        clips = record.exam_clips(suite.name, env_id)
        files.discard(clips.path)
        clips.save_request(ExamClipsRequest(suite=suite.name, exams=exams, seed=seed, variations=variations))
        waiting.append(clips)
    at_once = ws.settings.max_parallel or parallel_jobs()
    found: list[ExamClip] = []
    for start in range(0, len(waiting), at_once):
        wave = waiting[start : start + at_once]
        tick(f"{suite.name}: motions of {', '.join(clips.path.name for clips in wave)}")
        for clips in wave:
            ws.backend.submit(lab_job("exam_clips"), clips.path)
        wait([clips.path for clips in wave], ws.backend)
        for clips in wave:
            raise_failure(ws.backend.status(clips.path), f"Measuring exams in {clips.path}")
            result = clips.read()
            assert result is not None, "its job has been done"
            found += result.clips
    calibration = SuiteCalibration(
        suite=suite.name,
        seed=seed,
        variations=variations,
        hold_out_seed=HOLD_OUT_SEED,
        cases={
            case.name: _of_case(suite.name, digest_of(exam), [clip for clip in found if clip.case == case.name])
            for case, exam in exam_of.items()
        },
    )
    wrong = [clip for clip in found if clip.passed is not clip.kind.holds]
    return calibration, tuple(clip for clip in wrong if not held_out(HOLD_OUT_SEED, suite.name, clip.case, clip))


def calibration_path(suite: str) -> Path:
    """File of a shipped suite's calibration, beside its exams."""
    return SHIPPED / "exams" / suite / CALIBRATION


def completed(calibration: SuiteCalibration, before: SuiteCalibration | None) -> SuiteCalibration:
    """A calibration with the entries that an earlier one, made in the same way, has of other cases."""
    told = calibration.model_dump(exclude={"cases"})
    if before is None or before.model_dump(exclude={"cases"}) != told:
        return calibration
    cases = {name: calibration.cases.get(name, entry) for name, entry in before.cases.items()}
    return calibration.model_copy(update={"cases": cases | calibration.cases})


def save_calibration(path: Path, calibration: SuiteCalibration) -> None:
    """Write a calibration."""
    files.write_text(path, calibration.model_dump_json(indent=1, exclude_defaults=True) + "\n")


def read_calibration(path: Path) -> SuiteCalibration | None:
    """Read a calibration; None if there is none."""
    return files.read_model(path, SuiteCalibration)


def _of_case(suite: str, digest: str, clips: list[ExamClip]) -> ExamCalibration:
    apart = [clip for clip in clips if held_out(HOLD_OUT_SEED, suite, clip.case, clip)]
    rest = [clip for clip in clips if not held_out(HOLD_OUT_SEED, suite, clip.case, clip)]
    wrong = {clip.rule for clip in rest if clip.passed and not clip.kind.holds}
    return ExamCalibration(
        digest=digest, mended_on=_counts(rest), never_looked_at=_counts(apart), passed_wrongly=tuple(sorted(wrong))
    )


def _counts(clips: Iterable[ExamClip]) -> ExamCounts:
    counts = {field: [0, 0] for field in _FIELDS.values()}
    for clip in clips:
        counts[_FIELDS[clip.kind]][0] += clip.passed
        counts[_FIELDS[clip.kind]][1] += 1
    return ExamCounts(**{field: Count(passed=passed, of=of) for field, (passed, of) in counts.items()})

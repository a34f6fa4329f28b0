"""Verb `exam_clips`: what exams say of motions whose truth is known."""

from pathlib import Path

from p2p.analysis.predicates import measure
from p2p.contracts.errors import InvalidInput
from p2p.envs import catalog
from p2p.lab.contracts.exams import ExamClip, ExamClips, ExamToCalibrate
from p2p.lab.records import ExamClipsRecord
from p2p.lab.worker.exams.motions import ExamMotion, motions_of


def judge(job_dir: Path) -> None:
    """Make and judge the motions that the request in `job_dir` asks for.

    Raises:
        InvalidInput: the request is missing or broken.
    """
    record = ExamClipsRecord(job_dir)
    request = record.read_request()
    if request is None:
        raise InvalidInput(f"{job_dir} holds no readable request for motions of exams.")
    found = [
        _judged(one, motion)
        for one in request.exams
        for motion in motions_of(request.suite, one.case, one.exam, request.seed, request.variations)
    ]
    record.save(ExamClips(clips=tuple(found)))


def _judged(one: ExamToCalibrate, motion: ExamMotion) -> ExamClip:
    measured = measure(one.exam, motion.played.features, catalog.load(one.exam.env_id).dt)
    required = {criterion.key for criterion in one.exam.criteria if criterion.required}
    missed = {found.key: found.value for found in measured if found.key in required and not found.met}
    return ExamClip(
        case=one.case,
        rule=motion.rule,
        words=motion.words,
        kind=motion.kind,
        number=motion.number,
        passed=not missed,
        missed=missed,
    )

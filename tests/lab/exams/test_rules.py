import numpy as np
import pytest

from p2p.contracts.known_motions import ClaimKind
from p2p.contracts.suite import digest_of
from p2p.lab.contracts.exams import ExamClip, held_out
from p2p.lab.exams.calibration import HOLD_OUT_SEED, calibrate_exams
from p2p.lab.worker.exams.motions import SCRIPTS, motions_of
from p2p.lab.worker.exams.phases import Phase, draw
from p2p.lab.worker.exams.scripts.fixed import PATHS
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.suite_files import load_suite, shipped_suites


def test_every_shipped_case_has_a_motion_that_does_it_and_no_other_has_one() -> None:
    shipped = {(name, case.name) for name in shipped_suites() for case in load_suite(name).cases}
    assert {*SCRIPTS, *PATHS} == shipped


def test_phases_follow_one_another() -> None:
    phases = (Phase(seconds=1.0, vx=2.0), Phase(seconds=1.0), Phase(vx=-1.0))
    motion = draw(phases, 0.01, 4.0, np.random.default_rng(0)).motion
    at = [motion.x[round(t / 0.01)] for t in (0.5, 1.0, 2.0, 3.0, 4.0)]
    assert at == pytest.approx([1.0, 2.0, 2.0, 1.0, 0.0])


def test_a_pose_is_held_for_its_phase() -> None:
    drawn = draw((Phase(seconds=1.0), Phase(seconds=1.0, pose={"knee": -0.5}), Phase()), 0.01, 4.0,
                 np.random.default_rng(0))  # fmt: skip
    knee = drawn.joints["knee"]
    assert knee[[50, 150, 195, 300]] == pytest.approx([0.0, -0.5, -0.5, 0.0])


def test_a_flight_turns_only_in_the_air() -> None:
    phase = Phase(seconds=2.0, flights=1, height=0.5, flight_s=0.8, pitch=1.0)
    motion = draw((phase, Phase()), 0.01, 4.0, np.random.default_rng(0)).motion
    turning = np.abs(np.diff(motion.pitch)) > 1e-9
    assert (motion.lift[1:][turning] > 0.0).all()
    assert motion.pitch[-1] == pytest.approx(2.0 * np.pi)


def test_motions_are_the_same_for_the_same_seed() -> None:
    exam = load_suite("basic").case("swimmer-swim").exam  # type: ignore[union-attr]
    assert exam is not None
    first, again = (
        [
            (one.rule, one.number, float(one.played.qpos.sum()))
            for one in motions_of("basic", "swimmer-swim", exam, 3, 1)
        ]
        for _ in range(2)
    )
    assert first == again
    assert set(ClaimKind) == {one.kind for one in motions_of("basic", "swimmer-swim", exam, 3, 1)}


def test_half_of_the_rules_of_a_case_are_never_looked_at() -> None:
    exam = load_suite("basic").case("cheetah-run").exam  # type: ignore[union-attr]
    assert exam is not None
    rules = {one.rule for one in motions_of("basic", "cheetah-run", exam, 1, 1)} - {"positive"}
    clips = [
        ExamClip(case="cheetah-run", rule=rule, words="", kind=ClaimKind.NEAR_MISS, number=0, passed=False, missed={})
        for rule in rules
    ]
    apart = [held_out(HOLD_OUT_SEED, "basic", "cheetah-run", clip) for clip in clips]
    assert 0.25 < sum(apart) / len(apart) < 0.75


@pytest.mark.slow
def test_a_suite_of_pendulums_is_calibrated_from_beginning_to_end(tmp_path) -> None:  # type: ignore[no-untyped-def]
    suite = load_suite("basic")
    case = suite.case("pendulum-balance")
    assert case is not None
    assert case.exam is not None
    loose = case.exam.model_copy(update={"criteria": case.exam.criteria[:1]})
    ws = Workspace(Settings(runs_dir=tmp_path))
    for exam, passes in ((case.exam, False), (loose, True)):
        small = suite.model_copy(update={"cases": (case.model_copy(update={"exam": exam}),), "held_back": ()})
        calibration, mistakes = calibrate_exams(ws, small)
        entry = calibration.cases["pendulum-balance"]
        assert entry.digest == digest_of(exam)
        assert entry.mended_on.positives.passed == entry.mended_on.positives.of == 4
        assert bool(entry.mended_on.false_passes) is passes
        assert bool(mistakes) is passes

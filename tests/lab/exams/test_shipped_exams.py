from collections import Counter

import pytest

from p2p.contracts.suite import Case, Suite, digest_of
from p2p.envs.catalog import load
from p2p.lab.contracts.exams import MOST_FALSE_FAILS, MOST_FALSE_PASSES, ExamCounts, SuiteCalibration
from p2p.lab.exams.calibration import calibration_path, read_calibration
from p2p.rewards.part_features import described
from p2p.store.suite_files import load_suite, shipped_suites

SUITES = [load_suite(name) for name in shipped_suites()]
CASES = [(suite, case) for suite in SUITES for case in suite.cases]
CATEGORIES = {"locomotion", "pace", "pose", "balance", "acrobatic", "sequence", "style", "economy"}
SMALL = ("Swimmer", "Reacher", "Pusher", "InvertedPendulum", "InvertedDoublePendulum", "HumanoidStandup")


def calibration_of(suite: Suite) -> SuiteCalibration:
    calibration = read_calibration(calibration_path(suite.name))
    assert calibration is not None
    return calibration


def ids(pair: tuple[Suite, Case]) -> str:
    return f"{pair[0].name}/{pair[1].name}"


@pytest.mark.parametrize("pair", CASES, ids=ids)
def test_no_case_is_shipped_without_an_exam_and_its_calibration(pair: tuple[Suite, Case]) -> None:
    suite, case = pair
    assert case.exam is not None
    entry = calibration_of(suite).cases[case.name]
    assert entry.digest == digest_of(case.exam), "the exam was changed after it was calibrated"
    assert entry.mended_on.spoilt + entry.never_looked_at.spoilt >= 3


@pytest.mark.parametrize("pair", CASES, ids=ids)
def test_an_exam_reads_what_its_robot_measures(pair: tuple[Suite, Case]) -> None:
    _, case = pair
    assert case.exam is not None
    spec = load(case.env_id)
    for criterion in case.exam.criteria:
        assert criterion.predicate is not None, "nobody looks at an exam's rollouts"
        for name in criterion.predicate.names():
            assert described(name, spec)
    assert any("time" in criterion.predicate.names() for criterion in case.exam.criteria if criterion.predicate)


@pytest.mark.parametrize("part", ["mended_on", "never_looked_at"])
@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_few_motions_pass_wrongly_and_few_fail_wrongly(suite: Suite, part: str) -> None:
    counts = [getattr(entry, part) for entry in calibration_of(suite).cases.values()]
    spoilt = sum(count.spoilt for count in counts)
    positives = sum(count.positives.of for count in counts)
    assert spoilt > 10 * len(counts)
    assert sum(count.false_passes for count in counts) <= MOST_FALSE_PASSES * spoilt
    assert sum(count.positives.of - count.positives.passed for count in counts) <= MOST_FALSE_FAILS * positives


def test_cases_without_a_positive_are_told() -> None:
    """An exam that no motion of ours passes may be impossible."""
    without = [
        (suite.name, name)
        for suite in SUITES
        for name, entry in calibration_of(suite).cases.items()
        if not _positives(entry.mended_on) + _positives(entry.never_looked_at)
    ]
    assert without == []


def _positives(counts: ExamCounts) -> int:
    return counts.positives.passed


def test_p2p_60_holds_ten_of_each_group_of_robots() -> None:
    suite = load_suite("p2p-60")
    cases = (*suite.cases, *suite.held_back)
    groups = Counter("small" if case.env_id.startswith(SMALL) else case.env_id for case in cases)
    assert set(groups.values()) == {10}
    assert len(groups) == 6
    for group in groups:
        own = [c for c in cases if group == ("small" if c.env_id.startswith(SMALL) else c.env_id)]
        assert Counter(case.difficulty for case in own) == {"easy": 3, "medium": 4, "hard": 3}
    assert {case.category for case in cases} == CATEGORIES
    assert [case.difficulty for case in suite.held_back] == ["hard"] * 6


def test_names_of_held_back_cases_say_nothing() -> None:
    for case in load_suite("p2p-60").held_back:
        assert case.name.endswith("-held-back")

from p2p.lab.contracts.exams import Count, ExamCalibration, ExamCounts, SuiteCalibration
from p2p.lab.exams.calibration import completed


def calibration(seed: int, **digests: str) -> SuiteCalibration:
    counts = ExamCounts(positives=Count(passed=1, of=1))
    cases = {
        name: ExamCalibration(digest=digest, mended_on=counts, never_looked_at=counts)
        for name, digest in digests.items()
    }
    return SuiteCalibration(suite="made-up", seed=seed, variations=2, hold_out_seed=7, cases=cases)


def test_cases_of_other_robots_keep_their_entries() -> None:
    joined = completed(calibration(1, walk="new"), calibration(1, walk="old", swim="old"))
    assert {name: entry.digest for name, entry in joined.cases.items()} == {"walk": "new", "swim": "old"}


def test_entries_that_were_made_in_another_way_are_dropped() -> None:
    assert set(completed(calibration(2, walk="new"), calibration(1, swim="old")).cases) == {"walk"}

"""Directories of an iteration's candidate rewards: each a small iteration with at most one run."""

from pathlib import Path

from p2p.contracts.reward import CandidateChoice
from p2p.store import files, layout
from p2p.store.iterations import IterationRecord


class CandidateRecords:
    """Candidate rewards of one iteration.

    Args:
        iteration: Whose.
    """

    def __init__(self, iteration: IterationRecord) -> None:
        self._path = iteration.path

    def first(self, number: int) -> IterationRecord:
        """A candidate as first written; need not exist."""
        return IterationRecord(self._path / layout.candidate_name(number))

    def mended(self, number: int) -> IterationRecord:
        """A refused candidate after its author's repair; need not exist."""
        return IterationRecord(self._path / layout.candidate_name(number, mended=True))

    def present(self, number: int) -> IterationRecord:
        """The current version of a candidate: repaired, if that was done."""
        mended = self.mended(number)
        return mended if mended.read_reward_report() is not None else self.first(number)

    def run(self, number: int, seed: int) -> IterationRecord:
        """Short training of a candidate; need not exist."""
        return self.present(number).run(layout.candidate_name(number), seed)

    def runs(self) -> list[IterationRecord]:
        """The short trainings begun so far, by name."""
        return [run for place in self._places() for run in place.runs()]

    def job_dirs(self) -> list[Path]:
        """Directories of all jobs of all candidates."""
        return [*(place.check_dir for place in self._places()), *(run.path for run in self.runs())]

    def read_choice(self) -> CandidateChoice | None:
        """Which candidate was chosen; None before that, or without candidates."""
        return files.read_model(self._path / layout.CANDIDATES, CandidateChoice)

    def save_choice(self, choice: CandidateChoice) -> None:
        """Write `candidates.json`."""
        files.write_model(self._path / layout.CANDIDATES, choice)

    def forget_choice(self) -> None:
        """Delete the choice; candidates, checks and trainings stay."""
        files.remove(self._path / layout.CANDIDATES)

    def _places(self) -> list[IterationRecord]:
        found = sorted(self._path.glob("candidate_*"))
        return [IterationRecord(path) for path in found if layout.CANDIDATE.fullmatch(path.name)]


def all_runs(iteration: IterationRecord) -> list[IterationRecord]:
    """Every training of an iteration, including those of candidates."""
    return [*iteration.runs(), *CandidateRecords(iteration).runs()]

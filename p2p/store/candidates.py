"""Where the candidates of an iteration lie: each is an iteration's directory in small, with at most one run."""

from pathlib import Path

from p2p.contracts.candidates import CandidateChoice
from p2p.store import files, layout
from p2p.store.iterations import IterationRecord


class CandidateRecords:
    """The rewards that one of is chosen from.

    Args:
        iteration: Whose.
    """

    def __init__(self, iteration: IterationRecord) -> None:
        self._path = iteration.path

    def first(self, number: int) -> IterationRecord:
        """A candidate as it was written, whether it is there yet or not."""
        return IterationRecord(self._path / layout.candidate_name(number))

    def mended(self, number: int) -> IterationRecord:
        """A candidate that was refused, as its author mended it, whether it is there or not."""
        return IterationRecord(self._path / layout.candidate_name(number, mended=True))

    def present(self, number: int) -> IterationRecord:
        """A candidate as it is now: mended, where that was done."""
        mended = self.mended(number)
        return mended if mended.read_reward_report() is not None else self.first(number)

    def run(self, number: int, seed: int) -> IterationRecord:
        """The short training of a candidate, whether it is there yet or not."""
        return self.present(number).run(layout.candidate_name(number), seed)

    def runs(self) -> list[IterationRecord]:
        """The short trainings begun so far, by name."""
        return [run for place in self._places() for run in place.runs()]

    def job_dirs(self) -> list[Path]:
        """Directories of all jobs that candidates may have."""
        return [*(place.check_dir for place in self._places()), *(run.path for run in self.runs())]

    def read_choice(self) -> CandidateChoice | None:
        """Which was chosen; None before that, or without candidates."""
        return files.read_model(self._path / layout.CANDIDATES, CandidateChoice)

    def save_choice(self, choice: CandidateChoice) -> None:
        """Write `candidates.json`."""
        files.write_model(self._path / layout.CANDIDATES, choice)

    def forget_choice(self) -> None:
        """Remove what was chosen; what was written, tried and trained stays."""
        files.remove(self._path / layout.CANDIDATES)

    def _places(self) -> list[IterationRecord]:
        found = sorted(self._path.glob("candidate_*"))
        return [IterationRecord(path) for path in found if layout.CANDIDATE.fullmatch(path.name)]


def all_runs(iteration: IterationRecord) -> list[IterationRecord]:
    """Every training of an iteration: its own, and the short ones of its candidates."""
    return [*iteration.runs(), *CandidateRecords(iteration).runs()]

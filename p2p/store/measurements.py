"""The job directory of a measurement."""

from pathlib import Path

from p2p.contracts.measurement import Measurement, MeasureRequest
from p2p.store import files, layout
from p2p.store.iterations import IterationRecord


class MeasurementRecord:
    """Request and result of a measurement."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run = IterationRecord(path)
        """The run it is measured on, in the same directory."""
        self._warm = path / layout.WARM

    def save_request(self, request: MeasureRequest) -> None:
        """Write what the worker is to do."""
        files.write_model(self.path / layout.REQUEST, request)

    def read_request(self) -> MeasureRequest | None:
        """What the worker is to do."""
        return files.read_model(self.path / layout.REQUEST, MeasureRequest)

    def save_result(self, measurement: Measurement) -> None:
        """Write what was found."""
        files.write_model(self.path / layout.RESULT, measurement)

    def read_result(self) -> Measurement | None:
        """What was found; None before the end."""
        return files.read_model(self.path / layout.RESULT, Measurement)

    def mark_warm(self) -> None:
        """Tell the jobs beside this one that its measurement can begin."""
        self._warm.touch()

    @property
    def is_warm(self) -> bool:
        """Whether it can begin."""
        return self._warm.exists()

"""Runs of suites: `runs/benchmark/<run>/`."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.metadata import EntityMetadata
from p2p.contracts.remedies import Remedy
from p2p.contracts.suite import CaseResult, Suite, SuiteRun
from p2p.store import files, layout
from p2p.store.records import in_directory, json_file, json_file_or_new


class SuiteRunRecord:
    """Typed access to `runs/benchmark/<run>/`."""

    read_suite, save_suite = json_file("suite.json", Suite)
    """The whole suite with its exams, as it was when the run began."""
    read_run, save_run = json_file("run.json", SuiteRun)
    """What was asked for; written last: it marks the run as begun."""

    read_metadata, save_metadata = json_file_or_new(layout.METADATA, EntityMetadata)

    driver_dir = in_directory("driver")
    """Job directory of the process that starts the sessions."""
    entry_dir = in_directory("entry")
    """What others need to verify the run, where no other place was named."""
    page_path = in_directory("page.html")
    """The page of the run, where no other place was named."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name

    def exam_dir(self, session_id: str) -> Path:
        """Job directory of the exam rollouts of a session, with their evaluation and features."""
        return self.path / "exams" / session_id

    def read_results(self) -> tuple[CaseResult, ...]:
        """Results as last written: they are made anew from the sessions whenever somebody looks."""
        return files.read_models(self.path / "results.jsonl", CaseResult)

    def save_results(self, results: Sequence[CaseResult]) -> None:
        """Write one line for each session."""
        text = "".join(f"{result.model_dump_json()}\n" for result in results)
        files.write_text(self.path / "results.jsonl", text)

    def update_metadata(self, **changes: object) -> EntityMetadata:
        """Change some metadata fields under a lock; concurrent changes of other fields are kept."""
        with files.exclusive(self.path / layout.METADATA_LOCK):
            metadata = EntityMetadata.model_validate(self.read_metadata().model_dump() | changes)
            self.save_metadata(metadata)
        return metadata

    def exclusive(self, patience_s: float) -> AbstractContextManager[None]:
        """Lock under which a run is begun, changed or driven."""
        return files.exclusive(self.path / "run.lock", patience_s)

    def discard(self) -> None:
        """Delete the run; its sessions stay."""
        files.discard_all(self.path)


class SuiteRuns:
    """All runs of suites of a runs directory."""

    def __init__(self, runs_dir: Path) -> None:
        self.path = runs_dir / layout.BENCHMARK

    def run(self, name: str) -> SuiteRunRecord:
        """Record of a run; need not exist.

        Raises:
            InvalidInput: `name` cannot be the name of a run.
        """
        if not layout.IDENTIFIER.fullmatch(name):
            raise InvalidInput(f"{name[:80]!r} cannot name a run: expected lower-case letters, digits and '-'.")
        return SuiteRunRecord(self.path / name)

    def known(self, name: str) -> SuiteRunRecord:
        """Record of a run that exists.

        Raises:
            UnknownName: there is no such run.
            InvalidInput: it is in the trash.
        """
        record = self.run(name)
        if record.read_run() is None:
            raise UnknownName("run of a suite", name, [one.name for one in self.all()])
        self.require_kept(record)
        return record

    def require_kept(self, record: SuiteRunRecord) -> None:
        """Refuse a run that lies in the trash.

        Raises:
            InvalidInput: it does.
        """
        if record.read_metadata().deleted_at is not None:
            raise InvalidInput(
                f"The run {record.name} is in the trash. To restore it: {Remedy.RESTORE_RUN.of(run=record.name)}"
            )

    def all(self) -> list[SuiteRunRecord]:
        """Every run outside the trash, newest first."""
        return [record for record in self._everything() if record.read_metadata().deleted_at is None]

    def trash(self) -> list[SuiteRunRecord]:
        """Runs in the trash, newest first."""
        return [record for record in self._everything() if record.read_metadata().deleted_at is not None]

    def _everything(self) -> list[SuiteRunRecord]:
        found = [SuiteRunRecord(path.parent) for path in self.path.glob("*/run.json")]
        begun = [(run.created_at, record.name, record) for record in found if (run := record.read_run()) is not None]
        return [record for _, _, record in sorted(begun, key=lambda item: item[:2], reverse=True)]

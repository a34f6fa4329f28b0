"""The directory contract of a session."""

import re
import secrets
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from p2p.contracts.brief import Wish
from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Intent, Tightening
from p2p.contracts.judgment import JudgeCode, Label
from p2p.contracts.metadata import EntityMetadata
from p2p.contracts.preference import Preference
from p2p.contracts.reward import Lineage
from p2p.contracts.robot import NamedRobot, NamedRobots
from p2p.contracts.session import (
    History,
    Session,
    SessionAnalysis,
    SessionStatus,
    SettingsChange,
    StatusRecord,
)
from p2p.store import files, layout, locks, session_directories
from p2p.store.clock import now, seconds_between
from p2p.store.events import EventLog
from p2p.store.iterations import IterationRecord
from p2p.store.named_records import NamedRecords
from p2p.store.records import in_directory, json_file, json_file_or_new, json_lines
from p2p.store.start_policies import StartRecord
from p2p.store.untrusted_files import enclose

HEARTBEAT_S = 5.0


class SessionRecord:
    """Typed access to `runs/<session>/`."""

    read_criteria, save_criteria = json_file(layout.CRITERIA, Intent)
    """Criteria; absent before they are fixed, and for a training without an intent."""
    append_tightening, read_tightenings = json_lines("tightened.jsonl", Tightening)
    """Changes that made the criteria stricter."""
    append_settings_change, read_settings_changes = json_lines("settings.jsonl", SettingsChange)
    read_history, save_history = json_file("loop_history.json", History)
    """The finished iterations."""
    read_lineage, save_lineage = json_file_or_new(layout.LINEAGE, Lineage)
    """The tree of attempts."""
    read_metadata, save_metadata = json_file_or_new(layout.METADATA, EntityMetadata)
    """Alias, star and tags."""
    append_wish, read_wishes = json_lines("wishes.jsonl", Wish)
    """Wishes sent while the session ran."""
    append_label, read_labels = json_lines("labels.jsonl", Label)
    """People's scores of rollouts."""
    append_preference, read_preferences = json_lines("preferences.jsonl", Preference)
    """Pairwise preferences between iterations or checkpoints."""
    read_judge_code, save_judge_code = json_file("judge_code.json", JudgeCode)
    """Judge functions."""
    read_analysis, save_analysis = json_file("analysis.json", SessionAnalysis)
    """Report on the whole session."""

    session_path = in_directory(layout.SESSION)
    criteria_path = in_directory(layout.CRITERIA)
    status_path = in_directory(layout.STATUS)
    labels_path = in_directory("labels.jsonl")
    wishes_path = in_directory("wishes.jsonl")
    driver_dir = in_directory(layout.DRIVER)
    """Job directory of the driver."""
    film_dir = in_directory(layout.FILM)
    """Job directory of the videos of all checkpoints, made after the verdict."""
    logging_dir = in_directory(layout.LOGGING)
    """Job directory of the process that keeps the logs for other programs."""
    log_request_path = in_directory(f"{layout.LOGGING}/{layout.LOG_REQUEST}")
    known_motions_dir = in_directory(layout.KNOWN_MOTIONS)
    """Job directory of the known motions for trials of judge functions."""
    exports_dir = in_directory("export")
    """Default folder of exports."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.session_id = path.name
        self.events = EventLog(path / layout.EVENTS)
        self.start_policy = StartRecord(path)
        """What its first iteration goes on from."""

    def exclusive(self) -> AbstractContextManager[None]:
        """Lock that serialises the steps of a session."""
        return files.exclusive(self.path / layout.STEP_LOCK, locks.STEP_PATIENCE_S)

    def settling(self) -> AbstractContextManager[None]:
        """Lock under which criteria are written once."""
        return files.exclusive(self.path / layout.CRITERIA_LOCK, locks.STEP_PATIENCE_S)

    def starting_logs(self) -> AbstractContextManager[None]:
        """Lock under which the process that keeps the logs is started."""
        return files.exclusive(self.path / layout.LOGGING_LOCK)

    @property
    def exists(self) -> bool:
        """Whether `session.json` exists."""
        return (self.path / layout.SESSION).exists()

    def read_session(self) -> Session:
        """Request that the session was created with.

        Raises:
            InvalidInput: the directory holds no readable `session.json`.
        """
        session = files.read_model(self.path / layout.SESSION, Session)
        if session is None:
            raise InvalidInput(f"{self.path} holds no readable {layout.SESSION}: it is not a session.")
        # a copy says the id of its original
        return session.model_copy(update={"session_id": self.session_id})

    def save_session(self, session: Session) -> None:
        """Write `session.json`."""
        files.write_model(self.path / layout.SESSION, session)

    def discard(self) -> None:
        """Delete the session, also a half-written one; it leaves all lists first."""
        with suppress(OSError):  # it was never there, or its place cannot be written
            (self.path / layout.SESSION).unlink()
        files.discard_all(self.path)

    def read_status(self) -> StatusRecord | None:
        """Status of the session."""
        return files.read_model(self.status_path, StatusRecord)

    def set_status(self, status: SessionStatus, error: str | None = None) -> None:
        """Write `status.json` when the session begins or goes on."""
        with self._changing_status():
            self._write_status(status, error)

    def end(self, status: SessionStatus, error: str | None = None, before: Callable[[], None] = lambda: None) -> bool:
        """Write the end of the session once: the first of several concurrent ends wins.

        Args:
            status: How it ended.
            error: Why it did not end well.
            before: What the one who wins does first.
        """
        with self._changing_status():
            known = self.read_status()
            if known is not None and known.status.finished:
                return False
            before()
            self._write_status(status, error)
            return True

    def touch_heartbeat(self) -> None:
        """Refresh `updated_at`, at most every 5 s; does nothing before the first status."""
        record = self.read_status()
        if record is None or 0 <= seconds_between(record.updated_at, now()) < HEARTBEAT_S:
            return
        with self._changing_status():  # read again: it may have ended meanwhile
            if (record := self.read_status()) is not None:
                self._write_status(record.status, record.error)

    def _changing_status(self) -> AbstractContextManager[None]:
        return files.exclusive(self.path / layout.STATUS_LOCK)

    def _write_status(self, status: SessionStatus, error: str | None) -> None:
        files.write_model(self.status_path, StatusRecord(status=status, error=error, updated_at=now()))

    def signature(self) -> str | None:
        """Fingerprint of the session's files; None while the last change is too recent to tell."""
        return session_directories.signature(self.path)

    def update_metadata(self, **changes: Any) -> EntityMetadata:
        """Change some metadata fields under a lock; concurrent changes of other fields are kept."""
        with files.exclusive(self.path / layout.METADATA_LOCK):
            values = self.read_metadata().model_dump() | changes
            metadata = EntityMetadata.model_validate(values)
            self.save_metadata(metadata)
        return metadata

    def export_dir(self, iteration_id: str, run_id: str, step: int, formats: Sequence[str]) -> Path:
        """Default folder of an export."""
        return self.exports_dir / layout.export_name(iteration_id, run_id, step, formats)

    def iteration(self, number: int) -> IterationRecord:
        """Iteration `number`; need not exist."""
        return IterationRecord(self.path / layout.iteration_name(number))

    def iteration_records(self) -> list[IterationRecord]:
        """Iterations begun so far, in order."""
        numbers = [int(m[1]) for path in self.path.glob("iter_*") if (m := layout.ITERATION.fullmatch(path.name))]
        return [self.iteration(number) for number in sorted(numbers)]

    def get_iteration(self, iteration_id: str) -> IterationRecord | None:
        """Iteration by its id; None if absent."""
        return next((record for record in self.iteration_records() if record.iteration_id == iteration_id), None)


class RunsDirectory:
    """Root of all sessions and jobs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        enclose(path)

    def new_session_id(self) -> str:
        """Unused session id, such as `session_20260403_120000_1a2b3c4d`."""
        return f"session_{datetime.now(UTC):%Y%m%d_%H%M%S}_{secrets.token_hex(4)}"

    def session(self, session_id: str) -> SessionRecord:
        """Record of a session; need not exist.

        Raises:
            InvalidInput: `session_id` is not an id, and might lead out of the runs directory.
        """
        if not layout.IDENTIFIER.fullmatch(session_id):
            raise InvalidInput(
                f"{session_id!r} is not an id: expected lower-case letters, digits, '_' and '-', at most 64 of them."
            )
        return SessionRecord(self.path / session_id)

    def trial_dir(self) -> Path:
        """New job directory for a reward check that is not kept."""
        return self.path / layout.TRIALS / secrets.token_hex(8)

    def environment_dir(self, env_id: str) -> Path:
        """Directory of environments described on first use."""
        return self.path / layout.ENVIRONMENTS / re.sub(r"[^a-z0-9_-]", "_", env_id.lower())

    def robots(self) -> NamedRecords[NamedRobot]:
        """Robots that were given a name."""
        directory = self.path / layout.ENVIRONMENTS
        return NamedRecords(directory / layout.ROBOTS, directory / layout.ROBOTS_LOCK, NamedRobots)

    def environment_dirs(self) -> list[Path]:
        """Directories of the environments described so far, sorted."""
        return sorted((self.path / layout.ENVIRONMENTS).glob("*/"))

    def unsorted(self) -> list[SessionRecord]:
        """Every session including the trash, unordered."""
        return [SessionRecord(path) for path in session_directories.unsorted(self.path)]

    def all_sessions(self) -> list[SessionRecord]:
        """Every session including the trash, newest first."""
        return [SessionRecord(path) for path in session_directories.newest_first(self.path)]

    def sessions(self) -> list[SessionRecord]:
        """Sessions outside the trash, newest first."""
        return [SessionRecord(path) for path in session_directories.outside_the_trash(self.path)]

    def trash(self) -> list[SessionRecord]:
        """Sessions in the trash, last deleted first."""
        return [SessionRecord(path) for path in session_directories.trash(self.path)]

    def called(self, alias: str) -> SessionRecord | None:
        """Session with this alias, in the trash or not; None if the alias is free."""
        return next((record for record in self.all_sessions() if record.read_metadata().alias == alias), None)

    def naming(self) -> AbstractContextManager[None]:
        """Lock under which aliases are given."""
        return files.exclusive(self.path / layout.NAMES_LOCK)

    def remove(self, record: SessionRecord) -> None:
        """Delete a session for good; interrupted, it stays out of the lists.

        Raises:
            StorageProblem: the runs directory cannot be written.
        """
        place = self.path / layout.REMOVING
        files.make_directory(place)
        try:
            record.path.replace(place / f"{record.session_id}-{secrets.token_hex(4)}")
        except OSError as error:
            raise files.storage_problem(record.path, error) from error
        files.discard_all(place)

    def find(self, text: str, *, trash: bool = False) -> SessionRecord:
        """Resolve an id, an alias, the start or end of an id, or "latest" to a session.

        Args:
            text: What a person typed.
            trash: Whether those in the trash are meant.

        Raises:
            UnknownName: no session is meant.
            AmbiguousName: more than one is.
        """
        known = session_directories.trash if trash else session_directories.outside_the_trash
        return SessionRecord(session_directories.find(known(self.path), text))


def session_of(directory: Path) -> str | None:
    """Id of the session that contains a job's directory; None outside of any."""
    return next((path.name for path in directory.parents[:3] if (path / layout.SESSION).exists()), None)

"""Sessions kept and thrown away: their names, stars and tags, the trash, and those that nobody drives any more."""

import re
from collections.abc import Sequence

from p2p.contracts.background import JobKind, JobView, StartTraining
from p2p.contracts.errors import InvalidInput, P2PError, UnknownName
from p2p.contracts.job import JobState
from p2p.contracts.session import MetadataChange, SessionStatus, SessionView
from p2p.service.sessions.progress import view
from p2p.service.training.background import Background
from p2p.store.candidates import all_runs
from p2p.store.clock import now
from p2p.store.sessions import SessionRecord

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
MAX_TAGS, MAX_TAG = 20, 40


class Keeping(Background):
    """What a person does with sessions besides training them."""

    def edit_session(self, session_id: str, change: MetadataChange) -> SessionView:
        """Change a session's alias, star or tags.

        Raises:
            InvalidInput: an alias or a tag is not one, or another session is called so.
        """
        record = self.record(session_id)
        changes: dict[str, object] = {}
        if change.starred is not None:
            changes["starred"] = change.starred
        with self.runs.naming():
            if change.add_tags or change.remove_tags:
                changes["tags"] = _tags(record, change)
            if change.alias is not None:
                self._require_free(record, change.alias)
                changes["alias"] = change.alias
            record.update_metadata(**changes)
        return view(record, self.backend)

    def session_called(self, text: str) -> str:
        """Id of the session that an id or an alias means; what names none comes back as it is."""
        known = NAME.fullmatch(text) is not None and not self.runs.session(text).exists
        named = self.runs.called(text) if known else None
        return named.session_id if named is not None else text

    def delete_session(self, session_id: str) -> SessionView:
        """Put a session into the trash, where no list shows it; nothing of it is removed.

        Raises:
            InvalidInput: something of it is running, or waits for its turn.
        """
        with self.jobs.starting():
            record = self.record(session_id)
            if (busy := self._busy_with(record)) is not None:
                raise InvalidInput(f"{session_id} cannot be deleted: {busy}. To end it first: p2p stop {session_id}")
            record.update_metadata(deleted_at=now())
        return view(record, self.backend)

    def list_trash(self) -> tuple[SessionView, ...]:
        """The sessions in the trash, the one deleted last first."""
        return tuple(view(record, self.backend) for record in self.runs.trash())

    def find_deleted(self, text: str) -> str:
        """Id of the session in the trash meant by an id, an alias, the start or end of an id, or "latest".

        Raises:
            UnknownName: none, or more than one, is meant.
        """
        return self.runs.find(text, trash=True).session_id

    def restore_session(self, session_id: str) -> SessionView:
        """Take a session out of the trash.

        Raises:
            InvalidInput: it is not there.
        """
        record = self._deleted(session_id)
        record.update_metadata(deleted_at=None)
        return view(record, self.backend)

    def purge_session(self, session_id: str) -> None:
        """Remove a session in the trash for good, with its policies, videos and jobs.

        Raises:
            InvalidInput: it is not in the trash.
            StorageProblem: its directory cannot be removed.
        """
        with self.jobs.starting():
            record = self._deleted(session_id)
            if (busy := self._busy_with(record)) is not None:  # deleted by hand, or by an earlier version
                raise InvalidInput(f"{session_id} cannot be removed: {busy}.")
            self._cancel(record.film_dir)
            jobs = [ticket.job_id for ticket in self.jobs.tickets(session_id)]
            self.runs.remove(record)
            for job_id in jobs:
                self.jobs.remove(job_id)

    def empty_trash(self, session_ids: Sequence[str] | None = None) -> tuple[str, ...]:
        """Remove what lies in the trash for good, or some of it; returns the ids of what was removed."""
        deleted = tuple(record.session_id for record in self.runs.trash()) if session_ids is None else session_ids
        for session_id in deleted:
            self.purge_session(session_id)
        return tuple(deleted)

    def interrupted_sessions(self) -> tuple[str, ...]:
        """Ids of the sessions that were being worked on when that ended, newest first."""
        views = self.list_sessions()
        return tuple(v.session.session_id for v in views if v.status is SessionStatus.INTERRUPTED)

    def resume_interrupted(self, backend: str | None = None) -> tuple[SessionView, ...]:
        """Go on with all of them, and with trainings whose job was killed; what still runs of them is adopted.

        Args:
            backend: Where they are trained from now on; None leaves each where it was.

        Raises:
            P2PError: that of the first which cannot go on, after all that can.
        """
        resumed, failures = list[str](), list[P2PError]()
        lost = tuple(job.session_id for job in self.lost_trainings())
        for session_id in dict.fromkeys((*self.interrupted_sessions(), *lost)):
            try:
                if session_id in lost:
                    self.start_training(session_id, StartTraining(backend=backend))
                else:
                    self.resume_session(session_id, backend=backend)
                resumed.append(session_id)
            except P2PError as error:
                failures.append(error)
        if failures:
            raise failures[0]
        return tuple(self.view_session(session_id) for session_id in resumed)

    def lost_trainings(self) -> tuple[JobView, ...]:
        """The jobs that were killed while they trained an iteration that nobody has trained since, newest first."""
        lost = [job for job in self.list_jobs() if job.kind is JobKind.TRAINING and job.state is JobState.LOST]
        return tuple(job for job in lost if self._is_latest_word(job))

    def _is_latest_word(self, job: JobView) -> bool:
        """Whether nothing has happened since to the iteration that a job was to train."""
        record = self.runs.session(job.session_id)
        iterations, status = record.iteration_records(), record.read_status()
        request = iterations[-1].read_training_request() if iterations else None
        waits = status is not None and status.status is SessionStatus.PENDING
        return waits and request is not None and request.job_id == job.job_id and not self._is_driven(record)

    def _deleted(self, session_id: str) -> SessionRecord:
        record = self.runs.session(session_id)
        if not record.exists:
            raise UnknownName("session in the trash", session_id, [r.session_id for r in self.runs.trash()[:10]])
        if record.read_metadata().deleted_at is None:
            raise InvalidInput(f"{session_id} is not in the trash. To put it there: p2p delete {session_id}")
        return record

    def _busy_with(self, record: SessionRecord) -> str | None:
        """What is running of a session, or waits for its turn; None when nothing is."""
        if self._is_driven(record):
            return "it is running"
        for ticket in self.jobs.tickets(record.session_id):
            if not (state := self.get_job(ticket.job_id).state).finished:
                return f"{ticket.job_id} is {state}"
        runs = [run for iteration in record.iteration_records() for run in all_runs(iteration)]
        return next((f"{run.iteration_id} still trains" for run in runs if self._lives(run.path)), None)

    def _require_free(self, record: SessionRecord, alias: str) -> None:
        """Refuse an alias that is none, or that means another session."""
        if alias and (not NAME.fullmatch(alias) or alias == "latest"):
            raise InvalidInput(
                f"{alias[:80]!r} is not an alias: expected lower-case letters, digits, '_' and '-', at most 64, "
                "and not latest."
            )
        other = self.runs.called(alias) if alias else None
        if alias and self.runs.session(alias).exists:
            other = self.runs.session(alias)
        if other is not None and other.session_id != record.session_id:
            raise InvalidInput(f"Another session is called {alias}: {other.session_id}. Choose another alias.")


def _tags(record: SessionRecord, change: MetadataChange) -> tuple[str, ...]:
    tags = [" ".join(tag.split()) for tag in change.add_tags]
    if wrong := [tag for tag in tags if not 0 < len(tag) <= MAX_TAG]:
        raise InvalidInput(f"A tag has 1 … {MAX_TAG} characters, got {wrong[0][:80]!r}.")
    kept = [tag for tag in (*record.read_metadata().tags, *tags) if tag not in change.remove_tags]
    found = tuple(dict.fromkeys(kept))
    if len(found) > MAX_TAGS:
        raise InvalidInput(f"A session has at most {MAX_TAGS} tags, got {len(found)}.")
    return found

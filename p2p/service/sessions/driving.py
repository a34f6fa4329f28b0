"""What drives sessions: started, resumed and stopped."""

from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from p2p.contracts.errors import InvalidInput
from p2p.contracts.events import EventName
from p2p.contracts.job import JobSpec
from p2p.contracts.session import Priority, Session, SessionStatus, SessionView
from p2p.scheduler.backends.by_directory import open_backend
from p2p.scheduler.resources import JOB_MEMORY_MB
from p2p.service.authoring.models import model_variables
from p2p.service.sessions.lifecycle import Sessions
from p2p.service.sessions.progress import live_training
from p2p.service.training.job_views import JobViews
from p2p.service.training.jobs import SINGLE_THREAD, wait
from p2p.store import files
from p2p.store.background import BackgroundRecord
from p2p.store.candidates import CandidateRecords
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord

DRIVER = ("{python}", "-m", "p2p.session.run_session")
"""Command of the process that drives a session."""


class Driving(Sessions, JobViews):
    """The process that drives a session; its directory is the session's `driver`."""

    def start_session(self, session_id: str) -> SessionView:
        """Start the process that drives a session, or leave the one that does; it outlives its caller."""
        self.require_disk()
        with self.jobs.starting():  # nobody deletes it meanwhile
            record = self.record(session_id)
            if not self._is_driven(record):
                self.settle(BackgroundRecord(record.driver_dir).read_ticket())
            self._drive(record)
        return self.view_session(session_id)

    def resume_session(
        self, session_id: str, max_iterations: int | None = None, backend: str | None = None
    ) -> SessionView:
        """Go on with a session that was stopped, killed or failed; finished steps are not repeated.

        Args:
            session_id: Its id.
            max_iterations: Rewards tried at most, from now on; None leaves that as it is.
            backend: Where it is trained from now on; None leaves it where it was.

        Raises:
            InvalidInput: it has ended by itself and `max_iterations` asks for no more, or for too many; or its caller
                has an iteration trained now; or it runs, and its trainings cannot be moved.
            UnknownName, EnvironmentProblem: there is no such backend, or it cannot be used.
        """
        self.require_disk()
        record = self.record(session_id)
        self._choose_backend(record, backend)
        self._make_ready(record, max_iterations)
        return self.start_session(session_id)

    def extend_session(self, session_id: str, max_iterations: int) -> SessionView:
        """Allow a session more iterations; it waits for its caller, and no process is started.

        Raises:
            InvalidInput: it has passed, is being trained, or `max_iterations` is no more than it has begun.
        """
        record = self.record(session_id)
        if self._is_driven(record):
            raise InvalidInput(f"{session_id} is driven by a process of its own. Stop it first: p2p stop {session_id}")
        self._make_ready(record, max_iterations)
        record.set_status(SessionStatus.PENDING)
        return self.view_session(session_id)

    def stop_session(self, session_id: str) -> SessionView:
        """End the driving process and all trainings of a session; what is finished stays."""
        record = self.record(session_id)
        self._cancel(record.driver_dir)  # first, for it starts the others
        for iteration in record.iteration_records():
            self._end_training(iteration)
            for directory in (iteration.check_dir, *CandidateRecords(iteration).job_dirs()):
                self._cancel(directory)
        self._cancel(record.film_dir)
        status = record.read_status()
        if status is None or not status.status.finished:
            self.close(session_id, SessionStatus.CANCELLED)
        return self.view_session(session_id)

    def _is_driven(self, record: SessionRecord) -> bool:
        """Whether a process drives the session."""
        return self._lives(record.driver_dir)

    def _make_ready(self, record: SessionRecord, max_iterations: int | None = None) -> None:
        """Bring a session to where a driver can go on."""
        session, status, name = record.read_session(), record.read_status(), record.session_id
        if max_iterations is not None:
            session = _with_limit(session, max_iterations)
        ended = status is not None and status.status in (SessionStatus.PASSED, SessionStatus.COMPLETED)
        used_up = status is not None and status.status is SessionStatus.MAX_ITERATIONS
        if ended or (used_up and len(record.iteration_records()) >= session.max_iterations):
            assert status is not None
            advice = "To go on after the last iteration, give a larger --iterations."
            if status.status is SessionStatus.PASSED:
                advice = (
                    f"To go on from its reward, with stricter criteria or a wish: p2p extend {name} --criteria FILE"
                )
            elif ended:
                advice = "It had one reward to train; train the next one: p2p train --reward FILE"
            raise InvalidInput(f"{name} has ended as {status.status}. {advice}")
        if (busy := live_training(record, self.backend)) is not None:
            raise InvalidInput(
                f"Iteration {len(record.iteration_records())} of {name} is being trained by {busy}. "
                f"Wait for it, or end it with: p2p jobs {busy} --cancel"
            )
        record.save_session(session)
        self._discard_film(record)
        if status is not None and status.status.finished:
            with suppress(InvalidInput):  # it was never started
                wait([record.driver_dir], self.backend)  # a driver that has said how it ended is about to leave
        if not self._is_driven(record):
            self.settle(BackgroundRecord(record.driver_dir).read_ticket())
            record.set_status(SessionStatus.RUNNING)
            record.events.emit(EventName.SESSION_RESUMED)

    def set_priority(self, session_id: str, priority: Priority | None) -> None:
        """Have a session's trainings that start from now on give way to other processes, or not; None leaves it."""
        record = self.record(session_id)
        session = record.read_session()
        if priority is not None and priority != session.priority:
            record.save_session(session.model_copy(update={"priority": priority}))

    def _choose_backend(self, record: SessionRecord, wanted: str | None = None) -> str:
        """Where the session is trained from now on, which it keeps: where it was, unless it is `wanted` elsewhere.

        Raises:
            InvalidInput: a process drives it, and `wanted` is another place.
            UnknownName, EnvironmentProblem: there is no such backend, or it cannot be used.
        """
        session = record.read_session()
        chosen = wanted or self.backend_of(session)
        open_backend(chosen, self.node_store).capacity(JOB_MEMORY_MB)
        if chosen != session.backend:
            if wanted is not None and self._is_driven(record):
                raise InvalidInput(
                    f"{record.session_id} runs, with its trainings on {self.backend_of(session)}. "
                    f"To move them, stop it first: p2p stop {record.session_id}"
                )
            record.save_session(session.model_copy(update={"backend": chosen}))
        return chosen

    def _drive(self, record: SessionRecord, job_id: str | None = None) -> None:
        """Start the driver, or leave the one that lives; as a background job it waits for its turn."""
        session = record.read_session()
        command = (*DRIVER, "--session-id", record.session_id)
        job = () if job_id is None else ("--job-id", job_id)
        env = SINGLE_THREAD if job_id is None else SINGLE_THREAD | self._settings_of_a_job()
        env = env | {"P2P_BACKEND": self.backend_of(session)}
        needed = (*self.agent_socket(), *model_variables(session))
        status = record.read_status()
        if status is None or status.status is SessionStatus.PENDING:  # before it, for it may die before its first word
            record.set_status(SessionStatus.RUNNING)
        spec = JobSpec(argv=(*command, "--runs-dir", str(self.runs.path), *job), env=env, secrets=needed)
        self.backend.submit(spec, record.driver_dir)

    def _settings_of_a_job(self) -> dict[str, str]:
        """What a background job must be told, since it reads its own environment."""
        env = {"P2P_MAX_JOBS": str(self.settings.max_jobs)}
        env["P2P_MIN_FREE_DISK_GB"] = str(self.settings.min_free_disk_gb)
        env["P2P_MAX_MEMORY_SHARE"] = str(self.settings.max_memory_share)
        if self.settings.max_parallel is not None:
            env["P2P_MAX_PARALLEL"] = str(self.settings.max_parallel)
        return env

    def _discard_film(self, record: SessionRecord) -> None:
        """Give up the videos of a session that goes on; its end makes them again."""
        self._cancel(record.film_dir)
        files.discard(record.film_dir)

    def _end_training(self, iteration: IterationRecord) -> None:
        """End the job that trains an iteration for its caller, its runs and its report rollouts."""
        if (request := iteration.read_training_request()) is not None:
            self._cancel(self.jobs.new(request.job_id).path)  # first, for it starts the others
        for run in iteration.runs():
            self._cancel(run.path)
        self._cancel(iteration.report.path)

    def _cancel(self, directory: Path) -> None:
        """End the job of a directory, if there is one; also one that was lost and may have left processes."""
        with suppress(InvalidInput):
            if not self.backend.status(directory).state.finished:
                self.backend.cancel(directory)


def _with_limit(session: Session, max_iterations: int) -> Session:
    try:
        return Session.model_validate({**session.model_dump(), "max_iterations": max_iterations})
    except ValidationError as error:
        raise InvalidInput(f"max_iterations must lie in 1 … 100, got {max_iterations}.") from error

"""Sessions: created, driven by a process of their own, watched, stopped and resumed."""

from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from p2p.contracts.errors import EnvironmentProblem, InvalidInput
from p2p.contracts.events import EventName
from p2p.contracts.intent import Intent
from p2p.contracts.job import JobSpec
from p2p.contracts.judgment import Judgment
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession, Session, SessionStatus, SessionView
from p2p.contracts.work import FilmRequest
from p2p.service import packages
from p2p.service.jobs import SINGLE_THREAD, wait, worker_job
from p2p.service.lineage import record_iteration
from p2p.service.plan import run_configs
from p2p.service.progress import live_training, view
from p2p.service.rewards import Rewards
from p2p.store import files
from p2p.store.background import BackgroundDirectory
from p2p.store.clock import now
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord


class Sessions(Rewards):
    """The life of a session."""

    def create_session(
        self,
        request: NewSession,
        reward: str | None = None,
        session_id: str | None = None,
        intent: Intent | None = None,
    ) -> Session:
        """Check a request, fix its criteria and write it down; nothing is trained yet.

        Args:
            request: what is asked for.
            reward: source of a reward to train instead of writing one; it is trained once.
            session_id: the id to use; None makes a new one.
            intent: criteria of the caller's own, see `intent_of`; None has the author derive them.

        Raises:
            UnknownName: the environment is not known.
            UnknownPhrase: the sentence is not understood.
            InvalidConfig: a field of the configuration is wrong.
            MissingExtra: it names a learner that is not installed.
            InvalidInput: neither a sentence nor a reward was given, or there is a session of this id.
        """
        if not request.prompt.strip() and reward is None:
            raise InvalidInput("Say what to do, for example: p2p run 'run forward as fast as you can'.")
        intent = self._first_look(request, intent)
        session = Session(
            **request.model_dump(exclude={"prompt"}),
            prompt=request.prompt.strip(),
            session_id=session_id or self.runs.new_session_id(),
            created_at=now(),
        )
        record = self.runs.session(session.session_id)
        if record.exists:
            raise InvalidInput(f"There is a {record.session_id} already. To go on: p2p resume {record.session_id}")
        if reward is not None:
            record.iteration(1).save_draft(RewardDraft(source=reward, reasoning="handed in"))
        if intent is not None:
            record.save_criteria(intent)
        record.set_status(SessionStatus.PENDING)
        record.save_session(session)
        return session

    def start_session(self, session_id: str) -> SessionView:
        """Start the process that drives a session, or leave the one that does; it outlives its caller."""
        record = self.record(session_id)
        job = JobSpec(
            argv=(
                "{python}",
                "-m",
                "p2p.session.run_session",
                "--session-id",
                session_id,
                "--runs-dir",
                str(self.runs.path),
            ),
            env=SINGLE_THREAD,
        )
        self.backend.submit(job, record.driver_dir)
        return self.view_session(session_id)

    def resume_session(self, session_id: str, max_iterations: int | None = None) -> SessionView:
        """Go on with a session that was stopped, killed or failed; finished steps are not repeated.

        Raises:
            InvalidInput: it has ended by itself and `max_iterations` asks for no more, or for too many.
        """
        record = self.record(session_id)
        session, status = record.read_session(), record.read_status()
        if max_iterations is not None:
            session = _with_limit(session, max_iterations)
        ended = status is not None and status.status in (SessionStatus.PASSED, SessionStatus.COMPLETED)
        used_up = status is not None and status.status is SessionStatus.MAX_ITERATIONS
        if ended or (used_up and len(record.iteration_records()) >= session.max_iterations):
            assert status is not None
            raise InvalidInput(
                f"{session_id} has ended as {status.status}. "
                "To go on after the last iteration, give a larger --iterations."
            )
        if (busy := live_training(record, self.backend)) is not None:
            raise InvalidInput(
                f"{session_id} is being trained by {busy}. Wait for it, or end it with: p2p jobs --cancel"
            )
        record.save_session(session)
        self._cancel(record.film_dir)
        files.discard(record.film_dir)
        if status is not None and status.status.finished:
            with suppress(InvalidInput):  # it was never started
                wait([record.driver_dir], self.backend)  # a driver that has said how it ended is about to leave
        if not self.view_session(session_id).alive:
            record.set_status(SessionStatus.RUNNING)
            record.events.emit(EventName.SESSION_RESUMED)
        return self.start_session(session_id)

    def stop_session(self, session_id: str) -> SessionView:
        """End the driving process and all trainings of a session; what is finished stays."""
        record = self.record(session_id)
        self._cancel(record.driver_dir)  # first, for it starts the others
        for iteration in record.iteration_records():
            if (request := iteration.read_training_request()) is not None:
                self._cancel(BackgroundDirectory(self.runs.path).new(request.job_id).path)
            for run in iteration.runs():
                self._cancel(run.path)
            self._cancel(iteration.check_dir)
            self._cancel(iteration.report.path)
        self._cancel(record.film_dir)
        status = record.read_status()
        if status is None or not status.status.finished:
            self.close(session_id, SessionStatus.CANCELLED)
        return self.view_session(session_id)

    def list_sessions(self) -> tuple[SessionView, ...]:
        """All sessions, newest first."""
        views, backend = [], self.backend
        for record in self.runs.sessions():
            with suppress(InvalidInput):  # one broken session hides no other
                views.append(view(record, backend))
        return tuple(views)

    def view_session(self, session_id: str) -> SessionView:
        """A session at a glance."""
        return view(self.record(session_id), self.backend)

    def find_session(self, text: str) -> str:
        """Id of the session meant by an id, the start or end of one, or "latest".

        Raises:
            UnknownName: none, or more than one, is meant.
        """
        return self.runs.find(text).session_id

    def outcome(self, session_id: str) -> SessionStatus | None:
        """How the session ends after the iterations so far; None to go on."""
        record = self.record(session_id)
        session = record.read_session()
        judgments = [j for iteration in record.iteration_records() if (j := iteration.read_judgment()) is not None]
        return _outcome(session, judgments)

    def close(self, session_id: str, outcome: SessionStatus, error: str | None = None) -> Session:
        """Write down how a session ended; its status comes last, for it says that all the rest is there."""
        record = self.record(session_id)
        record_iteration(record, len(record.iteration_records()), outcome, error)
        failed = outcome in (SessionStatus.ERROR, SessionStatus.INVALID_CODE)
        history = record.read_history()
        record.events.emit(
            EventName.SESSION_ERROR if failed else EventName.SESSION_COMPLETED,
            status=outcome,
            best_score=history.best_score if history else None,
            error=error,
        )
        record.set_status(outcome, error)
        with suppress(EnvironmentProblem):  # a session ends as it ended, with its videos or without
            self._film(record)
        return record.read_session()

    def _first_look(self, request: NewSession, intent: Intent | None) -> Intent | None:
        """Refuse early what could only fail later."""
        spec = self.describe_environment(request.env_id)
        for config in run_configs(request, RewardDraft(source="")).values():
            packages.require_learner(config.learner)
        if intent is not None or not request.prompt.strip():
            return intent
        return self.author(request.author).elicit(request.prompt.strip(), spec)

    def _film(self, record: SessionRecord) -> None:
        """Start the videos of all checkpoints, the latest iteration first; nothing waits for them."""
        iterations = reversed(record.iteration_records())
        runs = [run for iteration in iterations for run in iteration.runs() if run.read_summary() is not None]
        if runs:
            names = tuple(f"../{run.path.relative_to(record.path)}" for run in runs)
            IterationRecord(record.film_dir).save_film_request(FilmRequest(runs=names))
            self.backend.submit(worker_job("film"), record.film_dir)

    def _cancel(self, directory: Path) -> None:
        """End the job of a directory, if there is one."""
        with suppress(InvalidInput):
            if not self.backend.status(directory).state.finished:
                self.backend.cancel(directory)


def _with_limit(session: Session, max_iterations: int) -> Session:
    try:
        return Session.model_validate({**session.model_dump(), "max_iterations": max_iterations})
    except ValidationError as error:
        raise InvalidInput(f"max_iterations must lie in 1 … 100, got {max_iterations}.") from error


def _outcome(session: Session, judgments: list[Judgment]) -> SessionStatus | None:
    if judgments and judgments[-1].passed:
        return SessionStatus.PASSED
    if judgments and not session.prompt:
        return SessionStatus.COMPLETED
    if len(judgments) >= session.max_iterations or (judgments and session.author == "given"):
        return SessionStatus.MAX_ITERATIONS
    return None

"""Work that goes on when its caller has left: trainings of an iteration, and whole sessions."""

import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from p2p import registry
from p2p.contracts.background import JobKind, JobTicket, JobView, StartTraining, TrainingRequest
from p2p.contracts.errors import InvalidConfig, InvalidInput, UnknownName
from p2p.contracts.job import JobSpec, JobState, JobStatus
from p2p.contracts.session import RunProgress, SessionStatus
from p2p.service.jobs import SINGLE_THREAD, failure_message
from p2p.service.judging import Judging
from p2p.service.plan import run_configs
from p2p.service.progress import live_training, remaining_s, run_progress
from p2p.service.sessions import Sessions
from p2p.service.training import Training
from p2p.store import files
from p2p.store.background import BackgroundDirectory, BackgroundRecord
from p2p.store.clock import now
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord

MAX_WAIT_S = 45.0
"""Longest wait for a job in one call [s]; clients of the Model Context Protocol give up after a minute."""
POLL_S = 0.2
ABANDONED_S = 5.0
"""How long the one who claimed a key first is given to write its job down [s]."""
MAX_SEED = 1000


class Background(Sessions, Training, Judging):
    """Jobs by their handle. Every answer is read from directories: whoever started a job may be gone."""

    @property
    def _jobs(self) -> BackgroundDirectory:
        return BackgroundDirectory(self.runs.path)

    def start_training(self, session_id: str, request: StartTraining | None = None) -> JobView:
        """Start the training of the newest iteration and return at once.

        Raises:
            UnknownName: there is no such session or backend.
            InvalidInput: no accepted reward waits to be trained, or it is being trained already.
            InvalidConfig: a field of the configurations, or a seed, is wrong.
        """
        request, record = request or StartTraining(), self.record(session_id)
        if (known := self._known(session_id, request.idempotency_key)) is not None:
            return known
        iteration = self._trainable(record, request)
        self._discard_stale_runs(record, iteration, request)
        job_id, mine = self._claim(session_id, request.idempotency_key)
        if not mine:
            return self.get_job(job_id)
        iteration.save_training_request(TrainingRequest(job_id=job_id, start=request))
        ticket = JobTicket(
            job_id=job_id, kind=JobKind.TRAINING, session_id=session_id, iteration=iteration.number, created_at=now()
        )
        job = self._jobs.new(job_id)
        job.enter_queue()
        job.save_ticket(ticket)
        self.backend.submit(self._training_job(job_id, request.backend), job.path)
        return self.get_job(job_id)

    def start_loop(self, session_id: str, idempotency_key: str | None = None) -> JobView:
        """Start, or go on with, the process that drives a whole session, and return at once.

        Raises:
            InvalidInput: the session has ended, or one of its iterations is being trained.
        """
        if (known := self._known(session_id, idempotency_key)) is not None:
            return known
        self.resume_session(session_id)
        earlier = [ticket for ticket in self._jobs.tickets() if _drives(ticket, session_id)]
        if earlier:  # a session has one driver, however often it is started
            return self.get_job(earlier[0].job_id)
        job_id, mine = self._claim(session_id, idempotency_key)
        if mine:
            ticket = JobTicket(job_id=job_id, kind=JobKind.SESSION, session_id=session_id, created_at=now())
            self._jobs.new(job_id).save_ticket(ticket)
        return self.get_job(job_id)

    def get_job(self, job_id: str) -> JobView:
        """How a job stands.

        Raises:
            UnknownName: there is no job of this id.
        """
        job = self._jobs.job(job_id)
        ticket = job.read_ticket()
        assert ticket is not None, "the directory knows only jobs with a ticket"
        return self._view(job, ticket)

    def wait_for_job(self, job_id: str, seconds: float = MAX_WAIT_S) -> JobView:
        """The job when it has ended, or when the time is up: at most `MAX_WAIT_S`."""
        deadline = time.monotonic() + min(max(seconds, 0.0), MAX_WAIT_S)
        while not (view := self.get_job(job_id)).state.finished and time.monotonic() < deadline:
            time.sleep(POLL_S)
        return view

    def list_jobs(self, session_id: str | None = None) -> tuple[JobView, ...]:
        """All jobs, or those of a session, newest first."""
        views = []
        for ticket in self._jobs.tickets():
            if session_id in (None, ticket.session_id):
                with suppress(InvalidInput):  # one broken job hides no other
                    views.append(self._view(self._jobs.new(ticket.job_id), ticket))
        return tuple(views)

    def cancel_job(self, job_id: str) -> JobView:
        """End a job and everything it started; what is finished stays."""
        view = self.get_job(job_id)
        if view.kind is JobKind.SESSION:
            self.stop_session(view.session_id)
        elif not view.state.finished:
            self.backend.cancel(self._directory(view.job_id, view.kind, view.session_id))
            self._settle(self.record(view.session_id))
        return self.get_job(job_id)

    def job_log(self, job_id: str, offset: int = 0) -> tuple[str, int]:
        """What a job printed, from byte `offset` on, and the next offset."""
        view = self.get_job(job_id)
        return self.backend.logs(self._directory(job_id, view.kind, view.session_id), offset)

    def run_training(self, job_id: str) -> None:
        """Train what a job is for, in its own process: wait for a slot, train, and run the rollouts it is judged by.

        Raises:
            P2PError: what stopped it.
        """
        job = self._jobs.job(job_id)
        ticket = job.read_ticket()
        assert ticket is not None, "the directory knows only jobs with a ticket"
        while True:
            if self._queue_position(ticket) == 1:
                with self._jobs.slot(self.settings.max_jobs) as free:
                    if free:
                        job.leave_queue()
                        return self._train(ticket)
            time.sleep(POLL_S)

    def _train(self, ticket: JobTicket) -> None:
        record = self.record(ticket.session_id)
        assert ticket.iteration is not None, "a training is of an iteration"
        record.set_status(SessionStatus.RUNNING)
        try:
            self.train(ticket.session_id, ticket.iteration)
            self.run_report(ticket.session_id, ticket.iteration)
        finally:
            self._settle(record)

    def _settle(self, record: SessionRecord) -> None:
        """A session between two steps of its caller waits, and is not running."""
        status = record.read_status()
        if status is not None and status.status is SessionStatus.RUNNING:
            record.set_status(SessionStatus.PENDING)

    def _known(self, session_id: str, key: str | None) -> JobView | None:
        """The job a key is bound to; None where it is bound to none, or to one that was never written down."""
        job_id = self._jobs.claimed(f"{session_id}/{key}") if key is not None else None
        if job_id is not None and self._jobs.new(job_id).read_ticket() is not None:
            return self.get_job(job_id)
        return None

    def _claim(self, session_id: str, key: str | None) -> tuple[str, bool]:
        """Id of the job to start under a key, and whether it is this caller who starts it."""
        own = _new_id()
        job_id = self._jobs.claim(f"{session_id}/{key}", own) if key is not None else own
        deadline = time.monotonic() + ABANDONED_S
        while job_id != own and self._jobs.new(job_id).read_ticket() is None:
            if time.monotonic() > deadline:  # the caller who won died before it wrote the job down
                return job_id, True
            time.sleep(0.05)
        return job_id, job_id == own

    def _trainable(self, record: SessionRecord, request: StartTraining) -> IterationRecord:
        """The newest iteration, if it can be trained as asked."""
        name, iterations = record.session_id, record.iteration_records()
        iteration = iterations[-1] if iterations else None
        report = iteration.read_reward_report() if iteration is not None else None
        if iteration is None or report is None:
            raise InvalidInput(f"{name} has no reward to train yet: write one first.")
        if not report.accepted:
            raise InvalidInput(f"The reward of iteration {iteration.number} was refused: {'; '.join(report.errors)}")
        if iteration.read_aggregation() is not None:
            raise InvalidInput(
                f"Iteration {iteration.number} of {name} is trained already: judge it, or write the next reward."
            )
        if (busy := live_training(record, self.backend)) is not None:
            raise InvalidInput(f"Iteration {iteration.number} of {name} is being trained already, by {busy}.")
        status = record.read_status()
        if status is not None and status.status is SessionStatus.PASSED:
            raise InvalidInput(f"{name} has passed; to try something else, create another session.")
        if self.view_session(name).alive:
            raise InvalidInput(f"{name} is driven by a process of its own; stop it before training it by hand.")
        if request.backend is not None and request.backend not in registry.BACKENDS:
            raise UnknownName("backend", request.backend, registry.BACKENDS)
        _check_seeds(request.seeds or ())
        return iteration

    def _discard_stale_runs(self, record: SessionRecord, iteration: IterationRecord, request: StartTraining) -> None:
        """Remove runs of another reward or another configuration; those that fit are gone on with."""
        draft, session = iteration.read_draft(), record.read_session()
        assert draft is not None, "an accepted reward has a draft"
        wanted = {
            iteration.run(*key).iteration_id: config for key, config in run_configs(session, draft, request).items()
        }
        for run in iteration.runs():
            config, wish = run.read_config(), wanted.get(run.iteration_id)
            same = wish is not None and config == wish.model_copy(update={"iteration_id": run.iteration_id})
            if not same or run.read_reward_source() != draft.source:
                files.discard(run.path)

    def _training_job(self, job_id: str, backend: str | None) -> JobSpec:
        env = {
            **SINGLE_THREAD,
            "P2P_BACKEND": backend or self.settings.backend,
            "P2P_MAX_JOBS": str(self.settings.max_jobs),
        }
        if self.settings.max_parallel is not None:
            env["P2P_MAX_PARALLEL"] = str(self.settings.max_parallel)
        command = ("{python}", "-m", "p2p.session.run_iteration", "--job-id", job_id)
        return JobSpec(argv=(*command, "--runs-dir", str(self.runs.path)), env=env)

    def _queue_position(self, ticket: JobTicket) -> int:
        """Place among the jobs that wait, from 1."""
        ahead = [
            other
            for other in self._jobs.tickets()
            if (other.created_at, other.job_id) < (ticket.created_at, ticket.job_id)
            and self._jobs.new(other.job_id).waits
            and not self.backend.status(self._jobs.new(other.job_id).path).state.finished
        ]
        return 1 + len(ahead)

    def _directory(self, job_id: str, kind: JobKind, session_id: str) -> Path:
        return self.record(session_id).driver_dir if kind is JobKind.SESSION else self._jobs.new(job_id).path

    def _view(self, job: BackgroundRecord, ticket: JobTicket) -> JobView:
        record = self.record(ticket.session_id)
        status = self._status(self._directory(ticket.job_id, ticket.kind, ticket.session_id))
        waits = not status.state.finished and job.waits
        iterations = record.iteration_records()
        number = ticket.iteration or (len(iterations) or None)
        runs = self._runs(record, number)
        plan = record.iteration(number).read_plan() if number is not None else None
        return JobView(
            job_id=ticket.job_id,
            kind=ticket.kind,
            session_id=ticket.session_id,
            iteration=number,
            state=JobState.QUEUED if waits else status.state,
            queue_position=self._queue_position(ticket) if waits else None,
            step=sum(run.step for run in runs),
            total=sum(run.total_timesteps for run in runs),
            eta_s=remaining_s(runs, plan.parallel) if plan is not None and not status.state.finished else None,
            runs=runs,
            error=failure_message(status) if status.state is JobState.FAILED else status.error,
            created_at=ticket.created_at,
        )

    def _status(self, directory: Path) -> JobStatus:
        try:
            return self.backend.status(directory)
        except InvalidInput:  # it was never submitted: its caller died in between
            return JobStatus(state=JobState.LOST, error="It was never started; start it again.")

    def _runs(self, record: SessionRecord, number: int | None) -> Sequence[RunProgress]:
        if number is None:
            return ()
        return tuple(run_progress(run, self.backend) for run in record.iteration(number).runs())


def _drives(ticket: JobTicket, session_id: str) -> bool:
    return ticket.kind is JobKind.SESSION and ticket.session_id == session_id


def _new_id() -> str:
    return f"job_{secrets.token_hex(16)}"


def _check_seeds(seeds: Sequence[int]) -> None:
    wrong = [seed for seed in seeds if not 0 <= seed < MAX_SEED]
    if wrong:
        raise InvalidConfig(f"A training seed lies in 0 … {MAX_SEED - 1}, got {', '.join(map(str, wrong))}.")

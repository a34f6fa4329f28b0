"""Sessions: created, looked at and closed."""

from collections.abc import Callable, Sequence
from contextlib import suppress

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import EnvironmentProblem, InvalidInput
from p2p.contracts.events import EventName
from p2p.contracts.intent import Intent
from p2p.contracts.judgment import Judgment
from p2p.contracts.preview import Preview, Understanding
from p2p.contracts.protocols import SentenceReader
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession, Session, SessionStatus, SessionView
from p2p.contracts.work import FilmRequest
from p2p.scheduler.resources import JOB_MEMORY_MB
from p2p.service.authoring.authors import writes_by_model
from p2p.service.authoring.models import require_models
from p2p.service.authoring.rewards import Rewards
from p2p.service.machines import packages
from p2p.service.sessions.lineage import record_iteration
from p2p.service.sessions.listing import session_views
from p2p.service.sessions.preview import preview_of
from p2p.service.sessions.progress import view
from p2p.service.sessions.steering import wishes_are_read
from p2p.service.training.jobs import worker_job
from p2p.service.training.plan import run_configs
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
            InvalidInput: neither a sentence nor a reward was given, there is a session of this id, or its trainings are
                to end by criteria that there are not.
        """
        if not request.prompt.strip() and reward is None:
            raise InvalidInput("Say what to do, for example: p2p run 'run forward as fast as you can'.")
        if not request.prompt.strip() and request.stop_when_clear:
            raise InvalidInput(
                "Without a sentence there are no criteria by which a verdict could be clear. "
                "Give one with --intent, or leave out --stop-when-clear."
            )
        intent = self._first_look(request, intent)
        session = Session(
            **request.model_dump(exclude={"prompt"}),
            prompt=request.prompt.strip(),
            session_id=session_id or self.runs.new_session_id(),
            created_at=now(),
            backend=self.settings.backend,
        )
        record = self.runs.session(session.session_id)
        if record.exists:
            raise InvalidInput(f"There is a {record.session_id} already. To go on: p2p resume {record.session_id}")
        draft = RewardDraft(source=reward, reasoning="handed in") if reward is not None else None
        self._write_down(record, session, draft, intent)
        return session

    def discard_unstarted(self, session_id: str) -> None:
        """Remove a session that nothing was trained in, whole or half written; one that has runs is kept."""
        record = self.runs.session(session_id)
        with suppress(InvalidInput):  # it has no driver
            self.backend.cancel(record.driver_dir)
        if not any(iteration.runs() for iteration in record.iteration_records()):
            record.discard()

    def _write_down(
        self,
        record: SessionRecord,
        session: Session,
        draft: RewardDraft | None,
        intent: Intent | None,
        more: Callable[[], None] = lambda: None,
    ) -> None:
        """Write a new session, whole or not at all: what `more` writes too, and its `session.json` last."""
        try:
            if draft is not None:
                record.iteration(1).save_draft(draft)
            if intent is not None:
                record.save_criteria(intent)
            more()
            record.set_status(SessionStatus.PENDING)
            record.save_session(session)
        except BaseException:  # a full disk, or Ctrl-C
            self.discard_unstarted(record.session_id)
            raise

    def list_sessions(self, *, starred: bool = False, tags: Sequence[str] = ()) -> tuple[SessionView, ...]:
        """The sessions that are not in the trash, newest first.

        Args:
            starred: Only those with a star.
            tags: Only those that have all of these.
        """
        views = session_views(self.runs, self.backend)
        wanted = set(tags)
        return tuple(v for v in views if (v.metadata.starred or not starred) and wanted <= set(v.metadata.tags))

    def view_session(self, session_id: str) -> SessionView:
        """A session at a glance."""
        return view(self.record(session_id), self.backend)

    def find_session(self, text: str) -> str:
        """Id of the session meant by an id, an alias, the start or end of an id, or "latest".

        Raises:
            UnknownName: none, or more than one, is meant.
        """
        return self.runs.find(text).session_id

    def outcome(self, session_id: str) -> SessionStatus | None:
        """How the session ends after the iterations so far; None to go on."""
        record = self.record(session_id)
        session = record.read_session()
        judgments = [j for iteration in record.iteration_records() if (j := iteration.read_judgment()) is not None]
        unread = session.extends is not None and len(judgments) == 1 and bool(record.read_wishes())
        if unread and session.max_iterations > 1 and wishes_are_read(record):
            return None  # it may well pass as it did before: the revision after it reads the wish
        return _outcome(session, judgments)

    def close(self, session_id: str, outcome: SessionStatus, error: str | None = None) -> Session:
        """Write down how a session ended, unless it has; its status comes last: it says that all the rest is there."""
        record = self.record(session_id)
        ended = record.end(outcome, error, lambda: self._tell_end(record, outcome, error))
        if ended and outcome is not SessionStatus.CANCELLED:  # whoever stops a session wants the machine back
            with suppress(EnvironmentProblem):  # a session ends as it ended, with its videos or without
                self._film(record)
        return record.read_session()

    def _tell_end(self, record: SessionRecord, outcome: SessionStatus, error: str | None) -> None:
        record_iteration(record, len(record.iteration_records()), outcome, error)
        failed = outcome in (SessionStatus.ERROR, SessionStatus.INVALID_CODE)
        history = record.read_history()
        record.events.emit(
            EventName.SESSION_ERROR if failed else EventName.SESSION_COMPLETED,
            status=outcome,
            best_score=history.best_score if history else None,
            error=error,
        )

    def _first_look(self, request: NewSession, intent: Intent | None) -> Intent | None:
        """Refuse early what could only fail later."""
        require_models(request)
        _require_several(request)
        spec = self.describe_environment(request.env_id)
        for config in run_configs(request, RewardDraft(source="")).values():
            packages.require_learner(config.learner)
        if intent is not None or not request.prompt.strip() or writes_by_model(request):
            return intent
        return self._understood(request, spec).intent

    def _understood(self, request: NewSession, spec: EnvSpec) -> Understanding:
        """What the author makes of a sentence; a part of it is left to eyes where eyes take part."""
        author, prompt = self.author(request.author), request.prompt.strip()
        if isinstance(author, SentenceReader):
            return author.understand(prompt, spec, partly=bool(request.judge_model or request.judge_author))
        return Understanding(intent=author.elicit(prompt, spec))

    def preview(self, request: NewSession, intent: Intent | None = None) -> Preview:
        """What a session would be judged by and trained with, and what it would take; nothing is kept or trained.

        Args:
            request: What is asked for.
            intent: Criteria of the caller's own, who also writes the reward; None has the author derive both.

        Raises:
            UnknownName, UnknownPhrase, InvalidConfig: as `create_session`.
            InvalidInput: there is no sentence.
        """
        if not request.prompt.strip():
            raise InvalidInput("Say what to do, for example: p2p run 'run forward as fast as you can' --dry-run")
        spec = self.describe_environment(request.env_id)
        if intent is not None:
            return preview_of(request, spec, Understanding(intent=intent), None, self.runs, self._slots())
        if writes_by_model(request):
            return preview_of(request, spec, None, None, self.runs, self._slots())
        understood = self._understood(request, spec)
        draft = self.author(request.author).write(understood.intent, spec)
        return preview_of(request, spec, understood, draft, self.runs, self._slots())

    def _slots(self) -> int:
        """Trainings that run at a time."""
        return self.settings.max_parallel or self.training_backend.capacity(JOB_MEMORY_MB).runs

    def _film(self, record: SessionRecord) -> None:
        """Start the videos of all checkpoints, the latest iteration first; nothing waits for them."""
        iterations = reversed(record.iteration_records())
        runs = [run for iteration in iterations for run in iteration.runs() if run.read_summary() is not None]
        if runs and not self.has_room_for_videos():
            message = "The disk is nearly full: the videos of this session were left out, and its checkpoints are kept."
            record.events.emit(EventName.GUARDRAIL, message=message)
        elif runs:
            names = tuple(f"../{run.path.relative_to(record.path)}" for run in runs)
            IterationRecord(record.film_dir).save_film_request(FilmRequest(runs=names))
            self.backend.submit(worker_job("film"), record.film_dir)


def _require_several(request: NewSession) -> None:
    """Refuse to choose among the rewards of an author who writes one."""
    if request.candidates > 1 and not writes_by_model(request):
        raise InvalidInput(
            f"The author {request.author!r} writes one reward for each iteration, so there is none to choose among "
            f"{request.candidates} candidates. Language models write several: give --model provider:model, or leave "
            "--candidates at 1."
        )


def _outcome(session: Session, judgments: list[Judgment]) -> SessionStatus | None:
    if judgments and judgments[-1].passed:
        return SessionStatus.PASSED
    if judgments and not session.prompt:
        return SessionStatus.COMPLETED
    if len(judgments) >= session.max_iterations or (judgments and session.author == "given"):
        return SessionStatus.MAX_ITERATIONS
    return None

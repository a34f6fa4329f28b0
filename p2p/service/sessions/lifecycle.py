"""Create, preview and discard sessions."""

from collections.abc import Callable
from contextlib import suppress

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Intent, Preview, Understanding
from p2p.contracts.protocols import SentenceReader
from p2p.contracts.remedies import Remedy
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession, Session, SessionStatus
from p2p.rewards.definitions import with_any_command
from p2p.scheduler.resources import JOB_MEMORY_MB
from p2p.service.jobs import packages
from p2p.service.models.session_models import require_models
from p2p.service.progress.policies import find_policy
from p2p.service.rewards.authors import writes_by_model
from p2p.service.rewards.criteria import completed
from p2p.service.sessions.preview import preview_of
from p2p.service.training.environments import environment_of
from p2p.service.training.plan import intent_with_commands, run_configs
from p2p.service.training.requirements import require_trainable
from p2p.service.training.start_policies import RESUMES_NOTHING, KeptPolicy, require_fit, require_same_interface
from p2p.service.workspace import Workspace
from p2p.store.clock import now
from p2p.store.sessions import SessionRecord


def create_session(
    ws: Workspace,
    request: NewSession,
    reward: str | None = None,
    session_id: str | None = None,
    intent: Intent | None = None,
) -> Session:
    """Validate a request, fix its criteria and save it; trains nothing.

    Args:
        request: what is asked for.
        reward: source of a reward to train instead of writing one; it is trained once.
        session_id: the id to use; None makes a new one.
        intent: criteria of the caller's own, see `intent_of`; None has the author derive them.

    Raises:
        UnknownName: the environment is not known.
        UnknownPhrase: the sentence is not understood.
        InvalidConfig: a field of the configuration is wrong.
        MissingExtra: it names a learner or a logger that is not installed.
        UnknownName: there is no such policy to go on from.
        InvalidInput: that policy does not fit; neither a sentence nor a reward was given, there is a session of this
            id, or its trainings are to end by criteria that there are not.
    """
    if not request.prompt.strip() and reward is None:
        raise InvalidInput(f"Say what to do, for example: {Remedy.CREATE.of()}")
    if not request.prompt.strip() and request.stop_when_clear:
        raise InvalidInput(
            "Without a sentence there are no criteria by which a verdict could be clear. "
            "Give a sentence, or leave out stop_when_clear."
        )
    request = completed(ws, request.model_copy(update={"log": request.log or ws.settings.log}))
    intent = check_request(ws, request, intent)
    session = Session(
        **request.model_dump(exclude={"prompt"}),
        prompt=request.prompt.strip(),
        session_id=session_id or ws.runs.new_session_id(),
        created_at=now(),
        backend=ws.settings.backend,
    )
    record = ws.runs.session(session.session_id)
    if record.exists:
        raise InvalidInput(
            f"There is a {record.session_id} already. To go on: {Remedy.RESUME.of(session=record.session_id)}"
        )
    draft = RewardDraft(source=reward, reasoning="handed in") if reward is not None else None
    chosen = start_of(ws, request)

    def copy_policy() -> None:
        if chosen is not None:
            chosen.copy_to(record.start_policy, resume_optimizer=request.resume_optimizer)

    write_session(ws, record, session, draft, intent, copy_policy)
    return session


def discard_unstarted(ws: Workspace, session_id: str) -> None:
    """Delete a session without runs, whole or half written; one with runs is kept."""
    record = ws.runs.session(session_id)
    with suppress(InvalidInput):  # it has no driver
        ws.backend.cancel(record.driver_dir)
    with suppress(InvalidInput):  # it logs nothing
        ws.backend.cancel(record.logging_dir)
    if not any(iteration.runs() for iteration in record.iteration_records()):
        record.discard()


def write_session(
    ws: Workspace,
    record: SessionRecord,
    session: Session,
    draft: RewardDraft | None,
    intent: Intent | None,
    more: Callable[[], None] = lambda: None,
) -> None:
    """Save a new session, whole or not at all; `more` adds files, and `session.json` is written last."""
    try:
        if draft is not None:
            record.iteration(1).save_draft(draft)
        if intent is not None:
            record.save_criteria(intent)
        more()
        record.set_status(SessionStatus.PENDING)
        record.save_session(session)
    except BaseException:  # a full disk, or Ctrl-C
        discard_unstarted(ws, record.session_id)
        raise


def check_request(ws: Workspace, request: NewSession, intent: Intent | None) -> Intent | None:
    """Refuse early what could only fail later."""
    require_models(request)
    packages.require_loggers(request.log)
    if request.candidates > 1 and not writes_by_model(request):
        raise InvalidInput(
            f"The author {request.author!r} writes one reward for each iteration, so there is none to choose among "
            f"{request.candidates} candidates. Language models write several: "
            f"{Remedy.CHOOSE_AUTHOR.of()}; or leave candidates at 1."
        )
    if intent is None and request.prompt.strip() and not writes_by_model(request):
        intent = _understood(ws, request, environment_of(ws, request)).intent
    _check_configs(ws, request, intent)
    return intent and intent_with_commands(intent, request.config)


def _check_configs(ws: Workspace, request: NewSession, intent: Intent | None) -> None:
    """Refuse a session's own configurations where they could only fail later."""
    spec = environment_of(ws, request, intent)
    if intent is None and writes_by_model(request):  # which has yet to say what is commanded
        spec = with_any_command(spec)
    require_trainable(spec, run_configs(request, RewardDraft(source="")).values())


def start_of(ws: Workspace, request: NewSession) -> KeptPolicy | None:
    """The policy that the first training of a session goes on from; None from zero.

    Raises:
        UnknownName, InvalidInput: there is no such policy, or it is of another observation, action or network.
    """
    if not request.from_policy:
        if request.resume_optimizer:
            raise InvalidInput(RESUMES_NOTHING)
        return None
    chosen = find_policy(ws, request.from_policy)
    start = chosen.start(resume_optimizer=request.resume_optimizer)
    configs = run_configs(request, RewardDraft(source=""), policy=start)
    require_fit(start, configs.values())
    kwargs = next(iter(configs.values())).env_kwargs
    require_same_interface(chosen, environment_of(ws, request), kwargs)
    return chosen


def _understood(ws: Workspace, request: NewSession, spec: EnvSpec) -> Understanding:
    """Criteria the author derives from a sentence; if eyes take part, some of it may be left to them."""
    author = ws.author(request.author)
    prompt = request.prompt.strip()
    if isinstance(author, SentenceReader):
        return author.understand(prompt, spec, partly=bool(request.judge_model or request.judge_author))
    return Understanding(intent=author.elicit(prompt, spec))


def preview(ws: Workspace, request: NewSession, intent: Intent | None = None) -> Preview:
    """Preview of a session: criteria, configuration and effort; saves and trains nothing.

    Args:
        request: What is asked for.
        intent: Criteria of the caller's own, who also writes the reward; None has the author derive both.

    Raises:
        UnknownName, UnknownPhrase, InvalidConfig: as `create_session`.
        InvalidInput: there is no sentence.
    """
    if not request.prompt.strip():
        raise InvalidInput(f"Say what to do, for example: {Remedy.CREATE.of()}")
    request = completed(ws, request)
    spec = environment_of(ws, request, intent)
    start_of(ws, request)
    if intent is not None or writes_by_model(request):
        _check_configs(ws, request, intent)
        known = None if intent is None else Understanding(intent=intent)
        return preview_of(request, spec, known, None, ws.runs, _slots(ws))
    understood = _understood(ws, request, spec)
    _check_configs(ws, request, intent_with_commands(understood.intent, request.config))
    draft = ws.author(request.author).write(understood.intent, spec)
    return preview_of(request, spec, understood, draft, ws.runs, _slots(ws))


def _slots(ws: Workspace) -> int:
    """Number of trainings that run at a time."""
    return ws.settings.max_parallel or ws.training_backend.capacity(JOB_MEMORY_MB).runs

"""Criteria set by a caller before the training."""

from collections.abc import Sequence
from contextlib import suppress

from pydantic import ValidationError

from p2p.analysis.tightening import tightened
from p2p.contracts.commands import Commands
from p2p.contracts.errors import Busy, InvalidInput, UnknownPhrase
from p2p.contracts.intent import Criterion, Intent, Tightening, Understanding
from p2p.contracts.protocols import SentenceReader
from p2p.contracts.remedies import Remedy
from p2p.contracts.session import EventName, NewSession, SessionStatus
from p2p.rewards.definitions import commanded
from p2p.rewards.part_features import problem_of
from p2p.service.progress.session_view import live_training
from p2p.service.training.environments import find_environment
from p2p.service.training.plan import commands_of
from p2p.service.workspace import Workspace
from p2p.store.clock import now
from p2p.store.iterations import all_runs
from p2p.training.presets import robot_preset


def derive_intent(ws: Workspace, prompt: str, env_id: str) -> Intent:
    """Criteria the built-in author derives from a sentence; saves nothing.

    Raises:
        UnknownPhrase: it does not understand the sentence.
    """
    return ws.author("builtin").elicit(prompt.strip(), find_environment(ws, env_id))


def understand(ws: Workspace, prompt: str, env_id: str, commands: Commands | None = None) -> Understanding:
    """Criteria the built-in author derives from a sentence, with the parts left to eyes; saves nothing.

    Raises:
        UnknownPhrase: nothing is understood, the sentence contradicts itself, or the robot cannot do it.
    """
    author = ws.author("builtin")
    assert isinstance(author, SentenceReader), "the built-in author reads sentences"
    return author.understand(prompt.strip(), commanded(find_environment(ws, env_id), commands), partly=True)


def commands_asked(ws: Workspace, request: NewSession) -> Commands | None:
    """Commands of a session's configuration, or else those that its sentence asks for."""
    found = _read(ws, request)
    return commands_of(request.config) or (found.intent.commands if found is not None else None)


def completed(ws: Workspace, request: NewSession) -> NewSession:
    """The request with the environment's id, and what it leaves to its robot and its sentence.

    That is the preset, the terrain and `stop_when_clear`. The terrain, whoever writes the criteria: a sentence about
    rough ground is not judged on a level floor.

    Raises:
        UnknownName, InvalidInput: as `find_environment`; or it has a preset of its own.
    """
    spec = find_environment(ws, request.env_id)
    of_robot = robot_preset(spec)
    if request.preset not in ({}, of_robot):
        raise InvalidInput("preset is filled in by p2p: give settings of your own in config.")
    request = request.model_copy(update={"env_id": spec.env_id, "preset": of_robot})
    found = _read(ws, request)
    if request.stop_when_clear is None:
        clear = request.author == "builtin" and found is not None and not found.as_much_as_it_can
        request = request.model_copy(update={"stop_when_clear": clear})
    if found is None or found.terrain is None or "terrain" in request.config:
        return request
    terrain = found.terrain.model_dump(mode="json", exclude_defaults=True)
    return request.model_copy(update={"config": {**request.config, "terrain": terrain}})


def _read(ws: Workspace, request: NewSession) -> Understanding | None:
    """What the built-in author understands of a request's sentence; None for nothing."""
    if not request.prompt.strip():
        return None
    with suppress(UnknownPhrase):
        return understand(ws, request.prompt, request.env_id, commands_of(request.config))
    return None


def intent_of(
    ws: Workspace,
    prompt: str,
    env_id: str,
    criteria: Sequence[Criterion],
    episode_s: float | None = None,
    commands: Commands | None = None,
) -> Intent:
    """Intent of a sentence with the caller's own criteria, which may be about `commands`.

    Raises:
        InvalidInput: a criterion reads a feature the environment does not have, or they contradict each other.
        InvalidConfig: the robot cannot follow the commands.
    """
    spec = commanded(find_environment(ws, env_id), commands)
    for criterion in criteria:
        if criterion.predicate is not None and (problem := problem_of(criterion.predicate, spec)):
            raise InvalidInput(f"Criterion {criterion.key!r} reads {problem}")
    length = {} if episode_s is None else {"episode_s": episode_s}
    try:
        fields = {"prompt": prompt, "env_id": env_id, "criteria": [c.model_dump() for c in criteria]}
        return Intent.model_validate({**fields, **length, "commands": commands})
    except ValidationError as error:
        raise InvalidInput(f"These criteria do not go together: {error.errors()[0]['msg']}.") from error


def clarify(ws: Workspace, session_id: str, answer: str) -> None:
    """Add a person's answer to a session's sentence, before its criteria are fixed.

    Raises:
        InvalidInput: the criteria are fixed, or the answer is empty.
    """
    record = ws.record(session_id)
    if not answer.strip():
        raise InvalidInput("The answer is empty. Say what was meant, in a few words.")
    if record.read_criteria() is not None:
        raise InvalidInput(
            f"The criteria of {session_id} are fixed, so its sentence stays as it is. To ask for something else, "
            f"create another session: {Remedy.CREATE.of()}"
        )
    session = record.read_session()
    record.save_session(session.model_copy(update={"prompt": f"{session.prompt} ({' '.join(answer.split())})"}))


def tighten_criteria(ws: Workspace, session_id: str, criteria: Sequence[Criterion], why: str, by: str) -> Intent:
    """Make a session's criteria stricter after eyes vetoed a policy that met the measured ones.

    They count from the next iteration on, are never loosened, and the change is kept in `tightened.jsonl`. A later
    iteration passes only where it also passes by every earlier version.

    Args:
        session_id: Which session.
        criteria: Those that change, by key, and new ones.
        why: What met the criteria and was not what was meant, at most 500 characters.
        by: Who says so.

    Raises:
        InvalidInput: eyes have refused nothing, a training is under way, something would get looser, or the new
            criteria cannot be judged.
    """
    record = ws.record(session_id)
    with record.exclusive():
        present = record.read_criteria()
        iterations = record.iteration_records()
        status = record.read_status()
        judged = [one for one in iterations if one.read_judgment() is not None]
        newest = judged[-1].read_judgment() if judged else None
        if newest is None or not newest.vetoed_by_eyes:
            raise InvalidInput(
                f"The criteria of {record.session_id} stay as they are. They can be made stricter only after eyes have "
                "refused a policy that met the measured criteria, which is not so for the newest judged iteration."
            )
        if status is not None and status.status in (SessionStatus.PASSED, SessionStatus.MAX_ITERATIONS):
            raise InvalidInput(f"{record.session_id} has ended. Create another session with stricter criteria.")
        refused = judged[-1].number
        later = [one for one in iterations if one.number > refused and all_runs(one)]
        if later or live_training(record, ws.backend) is not None:
            raise InvalidInput(
                f"Iteration {iterations[-1].number} of {record.session_id} is trained by the present criteria. Judge "
                "it first, or create another session."
            )
        assert present is not None, "what was judged has criteria"
        made = tightened(present.criteria, criteria)
        intent = intent_of(ws, present.prompt, present.env_id, made, present.episode_s, present.commands)
        try:
            change = Tightening(
                after_iteration=refused,
                by=by.strip(),
                why=" ".join(why.split()),
                before=present,
                after=intent,
                at=now(),
            )
        except ValidationError as error:
            wrong = error.errors()[0]
            raise InvalidInput(f"{wrong['loc'][0]!r} is needed to tighten criteria: {wrong['msg']}.") from error
        record.append_tightening(change)
        record.save_criteria(intent)
        titles = [criterion.title for criterion in intent.criteria]
        record.events.emit(EventName.INTENT_ELICITED, criteria=titles, tightened_by=change.by, why=change.why)
        return intent


def replace_criteria(
    ws: Workspace, session_id: str, criteria: Sequence[Criterion], extend: bool = False, episode_s: float | None = None
) -> Intent:
    """Replace a session's criteria, before any of its policies has been measured by them.

    Args:
        session_id: Which session.
        criteria: At most eight, with those there are already when they are extended.
        extend: Whether to keep the present ones; one of the same key is replaced.
        episode_s: Length of the judged episodes [s]; None leaves it.

    Raises:
        InvalidInput: a training goes on or has evaluated a checkpoint, or the criteria cannot be judged.
    """
    record = ws.record(session_id)
    session = record.read_session()
    present = record.read_criteria()
    iterations = record.iteration_records()
    if (job := live_training(record, ws.backend)) is not None:
        raise Busy(
            f"{session_id} is being trained by {job}. End it ({Remedy.CANCEL_JOB.of(job=job)}) before changing "
            "criteria."
        )
    begun = [one.number for one in iterations if any(run.measured for run in all_runs(one))]
    if begun:
        raise InvalidInput(
            f"Iteration {begun[0]} of {session_id} has been trained under its criteria, which stay as they are. "
            "To be judged by others, create another session; after eyes refused what met them, they may be made "
            "stricter."
        )
    new = {criterion.key: criterion for criterion in criteria}
    kept = [c for c in present.criteria if c.key not in new] if extend and present is not None else []
    length = episode_s if episode_s is not None else (present.episode_s if present is not None else None)
    commands = commands_of(session.config) or (present.commands if present is not None else None)
    intent = intent_of(ws, session.prompt, session.env_id, (*kept, *criteria), length, commands)
    record.save_criteria(intent)
    for run in (run for iteration in iterations for run in all_runs(iteration)):
        run.save_criteria(intent)  # cancelled before its first evaluation: continued, it is judged by these
    record.events.emit(EventName.INTENT_ELICITED, criteria=[criterion.title for criterion in intent.criteria])
    return intent

"""Entry points of the Python API: start or load sessions, preview criteria, load policies."""

import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from p2p.api.remedies import worded
from p2p.api.session import Session
from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Criterion
from p2p.contracts.judgment import Judgment
from p2p.contracts.session import NewSession
from p2p.service.machines.setup import require_training
from p2p.service.progress.listing import find_session, list_sessions
from p2p.service.sessions.driving import start_session
from p2p.service.sessions.lifecycle import create_session, discard_unstarted, preview
from p2p.service.sessions.requests import new_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.policy import NumpyPolicy
from p2p.store.policy import load_policy as load


@worded
def run(
    prompt: str, *, env: str | None = None, from_: str = "", runs_dir: Path | str | None = None, **options: Any
) -> Session:
    """Start a session for a sentence in its own process; `.wait()` waits for its end.

    Args:
        prompt: What to do, such as "do a backflip and land on your feet".
        env: Id of the environment; None takes HalfCheetah-v5.
        from_: Policy that the first training goes on from: "SESSION", "SESSION:2" or "SESSION:2@40000", of the same
            observation and action. Empty begins from zero.
        runs_dir: Directory of the sessions; None takes P2P_RUNS_DIR, or ./runs.
        options: Other fields of `p2p.contracts.session.NewSession`, such as `max_iterations=3`, `n_seeds=2`, `seed=1`,
            `model="anthropic:claude-opus-5"`, `config={"total_timesteps": 200_000}`.

    Raises:
        UnknownPhrase: the sentence is not understood, and no model writes.
        InvalidInput: an option has a wrong value.
        UnknownName: there is no such environment.
        MissingExtra: a package for training is not installed.
    """
    return _started(prompt, None, env, runs_dir, {"from_policy": from_, **options})


@worded
def train(
    reward: str | Path | Callable[..., Any],
    *,
    prompt: str = "",
    env: str | None = None,
    from_: str = "",
    runs_dir: Path | str | None = None,
    **options: Any,
) -> Session:
    """Start one training with your own reward; a sentence adds a judgment.

    One that does not load, or breaks the contract of rewards, ends the session as "invalid_code"; `.error` says why.

    Args:
        reward: Its source, a file that holds it, or the function `reward_fn(obs, action, next_obs, info)` itself.
        prompt: What it is judged by; empty trains without a verdict.
        env: As in `run`.
        from_: As in `run`.
        runs_dir: As in `run`.
        options: As in `run`.

    Raises:
        InvalidInput: there is no source, an option has a wrong value, or the policy does not fit.
    """
    given = {"max_iterations": 1, "from_policy": from_, **options, "author": "given"}
    return _started(prompt, _source(reward), env, runs_dir, given)


@worded
def judge(session: Session | str, prompt: str | None = None, *, runs_dir: Path | str | None = None) -> Judgment:
    """Judge the recorded rollouts of a session again, by its own criteria or those of another sentence.

    Args:
        session: A session, its id, the start or end of it, or "latest".
        prompt: The other sentence.
        runs_dir: As in `run`.

    Raises:
        UnknownName: there is no such session.
        InvalidInput: it has no recorded rollouts.
        UnknownPhrase: `prompt` is not understood.
    """
    found = session if isinstance(session, Session) else load_session(session, runs_dir=runs_dir)
    return found.judge(prompt)


@worded
def criteria(prompt: str, *, env: str | None = None, runs_dir: Path | str | None = None) -> tuple[Criterion, ...]:
    """Derive the criteria of a sentence; save and train nothing.

    Args:
        prompt: The sentence.
        env: As in `run`.
        runs_dir: As in `run`.

    Raises:
        UnknownPhrase: it is not understood.
    """
    intent = preview(_workspace(runs_dir), _request(prompt, env, {})).intent
    assert intent is not None, "the author without a model always says what it is judged by"
    return intent.criteria


@worded
def load_session(session_id: str = "latest", *, runs_dir: Path | str | None = None) -> Session:
    """Load an existing session.

    Args:
        session_id: Its id, its alias, the start or end of its id, or "latest".
        runs_dir: As in `run`.

    Raises:
        UnknownName: none, or more than one, is meant.
    """
    ws = _workspace(runs_dir)
    return Session(ws, find_session(ws, session_id))


@worded
def sessions(*, runs_dir: Path | str | None = None) -> tuple[Session, ...]:
    """Sessions outside the trash, newest first.

    Args:
        runs_dir: As in `run`.
    """
    ws = _workspace(runs_dir)
    return tuple(Session(ws, view.session.session_id) for view in list_sessions(ws))


@worded
def load_policy(path: Path | str) -> NumpyPolicy:
    """Load a policy from `policy.npz`, or from the directory of a checkpoint or export; see `Session.policy`.

    Raises:
        InvalidInput: there is none, or it is broken.
    """
    return load(Path(path))


def _started(
    prompt: str, reward: str | None, env: str | None, runs_dir: Path | str | None, options: dict[str, Any]
) -> Session:
    ws = _workspace(runs_dir)
    require_training(ws)
    session_id = create_session(ws, _request(prompt, env, options), reward).session_id
    try:
        start_session(ws, session_id)
    except BaseException:  # nothing runs, and nothing is left
        discard_unstarted(ws, session_id)
        raise
    return Session(ws, session_id)


def _request(prompt: str, env: str | None, options: dict[str, Any]) -> NewSession:
    return new_session(prompt=prompt, **({} if env is None else {"env_id": env}), **options)


def _workspace(runs_dir: Path | str | None) -> Workspace:
    return Workspace(Settings.from_environment(None if runs_dir is None else Path(runs_dir)))


def _source(reward: str | Path | Callable[..., Any]) -> str:
    """Source text of a reward."""
    if isinstance(reward, str) and "\n" in reward:
        return reward
    if isinstance(reward, str | Path):
        try:
            return Path(reward).read_text(encoding="utf-8")
        except OSError as error:
            raise InvalidInput(
                f"{reward} is neither the source of a reward nor a file that can be read: {error}"
            ) from error
    try:
        return textwrap.dedent(inspect.getsource(reward))
    except (OSError, TypeError) as error:
        raise InvalidInput(f"The source of {reward!r} cannot be read. Give it as text or as a file.") from error

"""Remedies: advice on errors, as data that each front end (command line, MCP server, Python API) words for itself.

A message holds them inside its text, as `<<resume session=session_1>>`. So a remedy stays with its sentence where the
message is kept in a file or comes from another process, which only text survives. `reworded` puts the words of a front
end there: a command of the terminal, a tool of the MCP server, a call in Python.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any
from urllib.parse import quote, unquote

_NOTATION = re.compile(r"<<(?P<name>[a-z_]+)(?P<arguments>(?: [a-z_]+=[^\s<>]+)*)>>")


class Remedy(StrEnum):
    """What a caller can do next."""

    CREATE = "create"
    """Begin a session."""
    CREATE_WITH_MODEL = "create_with_model"
    """Begin a session whose rewards a model writes."""
    CHOOSE_AUTHOR = "choose_author"
    """Choose a model that writes."""
    CHOOSE_JUDGE_MODEL = "choose_judge_model"
    """Choose a model that looks at pictures."""
    WRITE_REWARD = "write_reward"
    """Submit a reward."""
    TRAIN_REWARD = "train_reward"
    """Train one's own reward in `env`, once."""
    TRAIN = "train"
    """Train the newest reward of `session`."""
    JUDGE = "judge"
    """Judge `iteration` of `session`."""
    LOOK = "look"
    """Look at the pictures of `session` oneself."""
    SUBMIT_JUDGMENT = "submit_judgment"
    """Submit what was seen in them."""
    FOLLOW = "follow"
    """See the state of `session`."""
    RESUME = "resume"
    """Go on with `session`."""
    RESUME_ALL = "resume_all"
    """Go on with all interrupted sessions."""
    ADD_ITERATIONS = "add_iterations"
    """Allow `session` more iterations."""
    SAY_PRICE = "say_price"
    """Say what the model's tokens cost."""
    RAISE_CAP = "raise_cap"
    """Go on with more of `cap`."""
    SET_CAP = "set_cap"
    """Set a limit of `cap`."""
    EXTEND_BY_CRITERIA = "extend_by_criteria"
    """Go on from the best reward of `session` in a new one, by stricter or further criteria."""
    EXTEND_BY_WISH = "extend_by_wish"
    """The same, with a wish that the session's model reads."""
    EXTEND_BY_MODEL = "extend_by_model"
    """The same, with a model that reads the wish."""
    TIGHTEN = "tighten"
    """Make criteria stricter."""
    STOP = "stop"
    """End `session` and its trainings."""
    FOLLOW_JOB = "follow_job"
    """See the state of `job`."""
    CANCEL_JOB = "cancel_job"
    """End `job`."""
    DELETE = "delete"
    """Move `session` to the trash."""
    RESTORE = "restore"
    """Restore `session` from the trash."""
    RESTORE_RUN = "restore_run"
    """Restore `run`, of a suite, from the trash."""
    DELETE_RUN = "delete_run"
    """Move `run`, of a suite, to the trash with its sessions."""
    STOP_RUN = "stop_run"
    """End `run`, of a suite."""
    EMPTY_TRASH = "empty_trash"
    LIST = "list"
    """See all sessions."""
    CHOOSE_RUNS_DIR = "choose_runs_dir"
    """Keep sessions in another directory."""
    ALLOW_WEAK_SANDBOX = "allow_weak_sandbox"
    """Run generated code although this machine confines it poorly."""
    CHECK_SETUP = "check_setup"
    """See what this machine lacks."""
    EXPORT = "export"
    """Export the policy."""
    LABEL = "label"
    """Score a rollout as a person."""
    RUN_AGENT = "run_agent"
    """Have the bundled agent work."""
    LIST_SERVED = "list_served"
    """See which models p2p serves."""
    STOP_SERVED = "stop_served"
    """Stop a served model."""
    ADD_NODE = "add_node"
    CHECK_NODES = "check_nodes"
    TRUST_NODE = "trust_node"
    """Look at the host key of `node` and trust it."""
    PREPARE_NODE = "prepare_node"
    """Install what p2p needs on `node`."""
    REMOVE_NODE = "remove_node"
    """Forget `node`, with the jobs that are there."""
    CHECK_CLUSTER = "check_cluster"
    """Run a job of one second on `cluster`."""
    GIVE_MEMORY = "give_memory"
    """Let the runs of a cluster ask for more memory."""
    ASK_LESS = "ask_less"
    """Let the runs of a cluster ask for fewer cores or less memory."""
    SET_IN_CLUSTER = "set_in_cluster"
    """Add the cluster with `setting`, an option of its scheduler."""
    REMOVE_CLUSTER = "remove_cluster"
    """Forget `cluster`."""
    STOP_CLUSTER = "stop_cluster"
    """End what p2p has started for `cluster`."""
    INTERRUPT_CLUSTER = "interrupt_cluster"
    """The same, though trainings are interrupted by it."""

    def of(self, **arguments: object) -> str:
        """The remedy inside a message, such as `Remedy.RESUME.of(session="session_1")`.

        Args:
            **arguments: What it is done with.
        """
        return f"<<{self.value}{''.join(f' {name}={quote(str(value))}' for name, value in arguments.items())}>>"


_NAMES = frozenset(Remedy)


def remedies_in(message: str) -> list[tuple[Remedy, dict[str, str]]]:
    """The remedies of a message with their arguments, in order."""
    return [
        (Remedy(found["name"]), _arguments(found)) for found in _NOTATION.finditer(message) if found["name"] in _NAMES
    ]


def reworded(message: str, words: Mapping[Remedy, str]) -> str:
    """Message with each remedy in the words of a front end.

    Args:
        message: Of an error, a check or a report.
        words: What each remedy is called there, with its arguments in braces: "p2p resume {session}".
    """

    def word(found: re.Match[str]) -> str:
        if found["name"] not in _NAMES:  # of somebody who writes so
            return found[0]
        return words[Remedy(found["name"])].format_map(_Given(_arguments(found)))

    return _NOTATION.sub(word, message)


def end_of(message: str, length: int) -> str:
    """The last `length` characters of a message; a remedy that would be cut in two is left out."""
    start = max(0, len(message) - length)
    for found in _NOTATION.finditer(message):
        if found.start() < start < found.end():
            start = found.end()
    return message[start:]


def reworded_data(data: Any, words: Mapping[Remedy, str]) -> Any:
    """Plain data, as for JSON, with `reworded` applied to all its texts."""
    if isinstance(data, str):
        return reworded(data, words) if "<<" in data else data
    if isinstance(data, Mapping):
        return {key: reworded_data(value, words) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [reworded_data(value, words) for value in data]
    return data


def _arguments(found: re.Match[str]) -> dict[str, str]:
    pairs = (argument.partition("=") for argument in found["arguments"].split())
    return {name: unquote(value) for name, _, value in pairs}


class _Given(dict[str, str]):
    """Arguments; a missing one becomes a placeholder in capitals."""

    def __missing__(self, name: str) -> str:
        return name.upper()

"""Prepare a node: probe it, and build an interpreter with exactly this version of p2p."""

import hashlib
import json
import posixpath
import secrets
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from p2p.contracts.errors import EnvironmentProblem, InvalidInput
from p2p.contracts.node import NodeFacts
from p2p.contracts.remedies import Remedy
from p2p.scheduler.nodes.answers import AnswerCollector, BytesReceiver
from p2p.scheduler.nodes.package_bundle import bundle, locks
from p2p.scheduler.nodes.ssh_connection import Connection
from p2p.store.clock import now
from p2p.store.remote import PART

CANDIDATES = ("python3", "python3.13", "python3.12", "python3.11", "/usr/bin/python3", "/usr/local/bin/python3")
OLD_PYTHON = "p2p needs Python"


def probe(link: Connection) -> NodeFacts:
    """Probe a node; its interpreter is the first suitable one.

    Raises:
        NodeUnreachable: it does not answer.
        EnvironmentProblem: it has no Python that will do, or its disk cannot be written.
    """
    node = link.node
    with link.files() as sftp:
        home = sftp.normalize(".")
    root = posixpath.join(home, node.directory.removeprefix("~/"))
    archive = _upload_bundle(link, root)
    tried = []
    for python in (node.python,) if node.python else CANDIDATES:
        answer, code, stderr = _run(link, [python, "-I", archive, "probe", root])
        if isinstance(answer, dict) and "failure" not in answer:
            return NodeFacts.model_validate({**answer, "measured_at": now()})
        if answer is not None:
            raise EnvironmentProblem(f"{node.name} cannot be used: {answer['failure']['message']}")
        tried.append(f"  {python}: {stderr.strip().splitlines()[-1] if stderr.strip() else f'exit code {code}'}")
    raise EnvironmentProblem(
        f"{node.name} ({node.address}) has no Python 3.11 or newer where p2p looked:\n" + "\n".join(tried) + "\n"
        "Install one there, or name it when the node is added."
    )


def environment(link: Connection, install: bool = False) -> str:
    """Interpreter on the node with the current code; built if absent.

    Args:
        link: To a node that was looked at.
        install: Whether packages may be installed, which takes minutes; our own code is put there in any case.

    Raises:
        NodeUnreachable: the node does not answer.
        EnvironmentProblem: it was never prepared, or cannot be.
        InvalidInput: no node can have one of its extras.
    """
    node = link.node
    if node.facts is None:
        raise EnvironmentProblem(
            f"{node.name} is not prepared yet. To prepare it: {Remedy.PREPARE_NODE.of(node=node.name)}"
        )
    root = node.facts.root
    needed = None if node.python else list(locks(node.extras))
    ours = bundle()
    parts = [ours.digest, node.facts.interpreter, node.facts.python_version, needed]
    key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
    python = posixpath.join(root, "environments", key, "bin/python")
    with link.files() as sftp, suppress(FileNotFoundError):
        sftp.stat(posixpath.join(root, "environments", key, "ready"))
        return python
    archive = _upload_bundle(link, root)
    spec = {"root": root, "key": key, "bundle": ours.digest, "locks": needed, "install": install}
    answer, code, stderr = _run(link, [node.facts.interpreter, "-I", archive, "build"], spec)
    if not isinstance(answer, dict) or "failure" in answer:
        reason = answer["failure"]["message"] if isinstance(answer, dict) else stderr.strip() or f"exit code {code}"
        raise EnvironmentProblem(f"{node.name} could not be prepared: {reason}")
    return str(answer["python"])


def ask(link: Connection, verb: str, directory: str, sent: Any = None, rest: BytesReceiver | None = None) -> Any:
    """Run a verb for a job on the node and return its answer.

    Raises:
        NodeUnreachable: the node does not answer; the verb may have been carried out.
        InvalidInput, EnvironmentProblem: the answer is an error.
    """
    words = [environment(link), "-I", "-m", "p2p.scheduler.node_runner", verb, directory]
    answer, code, stderr = _run(link, words, sent, rest)
    if answer is None:
        raise EnvironmentProblem(f"{link.node.name} gave no answer to {verb}: {stderr.strip() or f'exit code {code}'}")
    if isinstance(answer, dict) and "failure" in answer:
        kind = InvalidInput if answer["failure"]["kind"] == "InvalidInput" else EnvironmentProblem
        raise kind(f"On {link.node.name}: {answer['failure']['message']}")
    return answer


def _run(
    link: Connection, argv: Sequence[str], sent: Any = None, rest: BytesReceiver | None = None
) -> tuple[Any, int, str]:
    answer = AnswerCollector(rest)
    code, stderr = link.run(argv, answer, json.dumps(sent).encode() if sent is not None else b"")
    return answer.value, code, stderr


def _upload_bundle(link: Connection, root: str) -> str:
    """Upload the package unless it is there; return its path."""
    ours = bundle()
    folder = posixpath.join(root, "bundles")
    path = posixpath.join(folder, f"{ours.digest}.zip")
    with link.files() as sftp:
        with suppress(FileNotFoundError):
            if sftp.stat(path).st_size == len(ours.data):
                return path
        make_directories(link, folder)
        part = f"{path}.{secrets.token_hex(4)}{PART}"
        with sftp.open(part, "wb") as file:
            file.set_pipelined(True)
            file.write(ours.data)
        sftp.posix_rename(part, path)
    return path


def make_directories(link: Connection, path: str) -> None:
    """Create a directory and its parents on the node, readable by its user alone."""
    with link.files() as sftp:
        missing = []
        while path not in ("", "/"):
            try:
                sftp.stat(path)
                break
            except FileNotFoundError:
                missing.append(path)
                path = posixpath.dirname(path)
        for folder in reversed(missing):
            with suppress(OSError):  # somebody else has made it in between; what follows would tell
                sftp.mkdir(folder, 0o700)

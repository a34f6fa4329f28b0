"""Context of every service function: settings, runs directory, backends and authors.

Its parts are imported when they are first asked for: with the contracts of everything that is stored they take longer
to import than typer and rich together, and a list of sessions that have ended needs none of them.
"""
# ruff: noqa: PLC0415

from functools import cached_property
from typing import TYPE_CHECKING

from p2p import registry
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.remedies import Remedy
from p2p.settings import Settings
from p2p.store.untrusted_files import enclose

if TYPE_CHECKING:
    from p2p.contracts.protocols import Author, Backend
    from p2p.contracts.session import Session
    from p2p.store.background import BackgroundDirectory
    from p2p.store.iterations import IterationRecord
    from p2p.store.nodes import NodeStore
    from p2p.store.sessions import RunsDirectory, SessionRecord


class Workspace:
    """Runs directory with settings, jobs and backends; built once per process and passed on.

    Args:
        settings: Where things are kept and run; None reads the environment.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings.from_environment()
        enclose(self.settings.runs_dir)

    @cached_property
    def runs(self) -> "RunsDirectory":
        """Root of all sessions."""
        from p2p.store.sessions import RunsDirectory

        return RunsDirectory(self.settings.runs_dir)

    @cached_property
    def jobs(self) -> "BackgroundDirectory":
        """Background jobs of the runs directory."""
        from p2p.store.background import BackgroundDirectory

        return BackgroundDirectory(self.settings.runs_dir)

    @cached_property
    def backend(self) -> "Backend":
        """Local backend for checks, rollouts and pictures; it finds jobs of any backend.

        Raises:
            UnknownName: trainings are to run on a backend that there is not.
        """
        from p2p.scheduler.backends.by_directory import open_backend, require_backend

        require_backend(self.settings.backend)
        return open_backend("inline" if self.runs_inline else "local", self.node_store)

    @property
    def runs_inline(self) -> bool:
        """Whether jobs run in this process, for debugging."""
        return self.settings.backend == "inline"

    @property
    def background(self) -> "Backend":
        """Backend for jobs that outlive their caller: this machine, one process each."""
        from p2p.scheduler.backends.by_directory import open_backend

        return open_backend("local", self.node_store) if self.runs_inline else self.backend

    @cached_property
    def training_backend(self) -> "Backend":
        """Backend of trainings."""
        from p2p.scheduler.backends.by_directory import open_backend

        return open_backend(self.settings.backend, self.node_store)

    def backend_of(self, session: "Session") -> str:
        """Name of the backend for a session's trainings: the initial one, or the latest change."""
        return session.backend or self.settings.backend

    @cached_property
    def node_store(self) -> "NodeStore":
        """Store of known nodes."""
        from p2p.store.nodes import NodeStore

        return NodeStore(self.settings.nodes_dir)

    def variables_to_reach(self, backend: str) -> tuple[str, ...]:
        """Environment variables that a driver needs to reach its backend, and the SSH agent if a node does."""
        from p2p.scheduler.backends.by_directory import variables_of

        agent = any(node.allow_agent for node in self.node_store.all().values())
        return (*variables_of(backend), *(["SSH_AUTH_SOCK"] if agent else []))

    def author(self, name: str) -> "Author":
        """Author by name; the built-in author writes the criteria of a given reward."""
        author: Author = registry.load("author", registry.AUTHORS, "builtin" if name == "given" else name)()
        return author

    def record(self, session_id: str) -> "SessionRecord":
        """Record of a session; its `session.json` must exist.

        Raises:
            UnknownName: there is no such session; of those that there are it names the newest ten.
            InvalidInput: it is in the trash.
        """
        record = self.runs.session(session_id)
        if not record.exists:
            raise UnknownName("session", session_id, [known.session_id for known in self.runs.sessions()[:10]])
        record.read_session()
        if record.read_metadata().deleted_at is not None:
            raise InvalidInput(f"{session_id} is in the trash. To restore it: {Remedy.RESTORE.of(session=session_id)}")
        return record

    def iteration_begun(self, session_id: str, number: int) -> "IterationRecord":
        """Iteration `number` of a session, which must have begun.

        Raises:
            UnknownName: the session has not come that far.
        """
        begun = {iteration.number: iteration for iteration in self.record(session_id).iteration_records()}
        if number not in begun:
            raise UnknownName("iteration", str(number), map(str, begun))
        return begun[number]

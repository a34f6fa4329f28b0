"""What every part of the service holds: settings, the runs directory, and the seams loaded by name."""

from functools import cached_property

from p2p import registry
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.protocols import Author, Backend, Judge
from p2p.settings import Settings
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import RunsDirectory, SessionRecord


class Wiring:
    """Base of the service's parts."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings.from_environment()
        self.runs = RunsDirectory(self.settings.runs_dir)

    @cached_property
    def backend(self) -> Backend:
        """Where jobs run."""
        backend: Backend = registry.load("backend", registry.BACKENDS, self.settings.backend)()
        return backend

    def author(self, name: str) -> Author:
        """Who writes criteria, rewards and revisions; the built-in author writes the criteria of a given reward."""
        author: Author = registry.load("author", registry.AUTHORS, "builtin" if name == "given" else name)()
        return author

    def judge_called(self, name: str) -> Judge:
        """Who scores rollouts."""
        judge: Judge = registry.load("judge", registry.JUDGES, name)()
        return judge

    def record(self, session_id: str) -> SessionRecord:
        """The session's directory; its `session.json` must exist.

        Raises:
            UnknownName: there is no such session; of those that there are it names the newest ten.
            InvalidInput: it lies in the trash.
        """
        record = self.runs.session(session_id)
        if not record.exists:
            raise UnknownName("session", session_id, [known.session_id for known in self.runs.sessions()[:10]])
        record.read_session()
        if record.read_metadata().deleted_at is not None:
            raise InvalidInput(f"{session_id} lies in the trash. To have it back: p2p trash --restore {session_id}")
        return record

    def iteration_begun(self, session_id: str, number: int) -> IterationRecord:
        """Iteration `number` of a session.

        Raises:
            UnknownName: the session has not come that far.
        """
        begun = {iteration.number: iteration for iteration in self.record(session_id).iteration_records()}
        if number not in begun:
            raise UnknownName("iteration", str(number), map(str, begun))
        return begun[number]

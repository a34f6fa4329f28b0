"""What every function of the service is given: settings, the runs directory, backends, authors and judges."""

from functools import cached_property

from p2p import registry
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.protocols import Author, Backend, Judge
from p2p.contracts.session import Session
from p2p.scheduler.backends.by_directory import open_backend, require_backend
from p2p.settings import Settings
from p2p.store.background import BackgroundDirectory
from p2p.store.iterations import IterationRecord
from p2p.store.nodes import NodeStore
from p2p.store.sessions import RunsDirectory, SessionRecord


class Workspace:
    """A runs directory with its settings, its jobs and the backends that run them; built once by a door, handed on.

    Args:
        settings: Where things are kept and run; None reads the environment.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings.from_environment()
        self.runs = RunsDirectory(self.settings.runs_dir)
        self.jobs = BackgroundDirectory(self.runs.path)

    @cached_property
    def backend(self) -> Backend:
        """Where everything but trainings runs, which is here; it finds the jobs of any backend.

        Raises:
            UnknownName: trainings are to run on a backend that there is not.
        """
        require_backend(self.settings.backend)
        return open_backend("local", self.node_store)

    @cached_property
    def training_backend(self) -> Backend:
        """Where trainings run."""
        return open_backend(self.settings.backend, self.node_store)

    def backend_of(self, session: Session) -> str:
        """Name of the backend that a session's trainings run on: the one it was begun with, or told since."""
        return session.backend or self.settings.backend

    @cached_property
    def node_store(self) -> NodeStore:
        """The other machines that p2p knows."""
        return NodeStore(self.settings.nodes_dir)

    def agent_socket(self) -> tuple[str, ...]:
        """The variable by which a driver finds the SSH agent, where a node is to be reached by it."""
        wanted = any(node.allow_agent for node in self.node_store.all().values())
        return ("SSH_AUTH_SOCK",) if wanted else ()

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

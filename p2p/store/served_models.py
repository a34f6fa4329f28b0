"""Language model servers started on this machine."""

from collections.abc import Callable
from pathlib import Path

from p2p.contracts.errors import StorageProblem
from p2p.contracts.inference import ServedModel, ServedModels
from p2p.store import files, layout
from p2p.store.nodes import default_directory

Servers = tuple[ServedModel, ...]


class ServedModelStore:
    """`served_models.json` beside the configuration file; holds keys, readable by its owner alone.

    Args:
        directory: Another place to keep it.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory or default_directory()
        self._path = self._directory / layout.SERVED_MODELS

    def all(self) -> Servers:
        """All servers, including ended ones, latest last.

        Raises:
            StorageProblem: the file is there and cannot be understood.
        """
        if not self._path.exists():
            return ()
        if (found := files.read_model(self._path, ServedModels)) is None:
            raise StorageProblem(f"{self._path} is broken. Move it away; servers that are up go on.")
        return found.servers

    def log_of(self, port: int) -> Path:
        """Log file of the server at a port."""
        files.make_directory(self._directory)
        return self._directory / layout.served_model_log(port)

    def add(self, server: ServedModel) -> None:
        """Save a server, replacing an earlier one at its port."""
        self._change(lambda servers: (*(old for old in servers if old.port != server.port), server))

    def remove(self, server: ServedModel) -> None:
        """Forget a server."""
        self._change(lambda servers: tuple(old for old in servers if old != server))

    def _change(self, change: Callable[[Servers], Servers]) -> None:
        with files.exclusive(self._directory / layout.SERVED_MODELS_LOCK):
            servers = ServedModels(servers=change(self.all()))
            with files.replacing(self._path) as temporary:
                temporary.chmod(0o600)
                temporary.write_text(servers.model_dump_json(indent=2) + "\n", encoding="utf-8")

"""Known clusters."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.cluster import Cluster
from p2p.contracts.errors import InvalidInput, StorageProblem, UnknownName
from p2p.contracts.remedies import Remedy
from p2p.store import files, layout
from p2p.store.nodes import default_directory


class _Clusters(Contract):
    clusters: dict[str, Cluster] = Field(default={})


class ClusterStore:
    """`clusters.json`, beside the nodes.

    Args:
        path: Directory to keep it in; None takes that of the configuration file.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._directory = path or default_directory()
        self._path = self._directory / layout.CLUSTERS

    def all(self) -> dict[str, Cluster]:
        """All clusters by name.

        Raises:
            StorageProblem: the file is there and cannot be understood.
        """
        if not self._path.exists():
            return {}
        if (found := files.read_model(self._path, _Clusters)) is None:
            raise StorageProblem(f"{self._path} is broken. Correct it, or move it away and add the clusters again.")
        return found.clusters

    def find(self, kind: str, name: str | None) -> Cluster:
        """The cluster that `kind:name` means. Without a name: the only one of its kind, or one with default settings.

        Raises:
            UnknownName: there is no such cluster of this kind.
            InvalidInput: no name was given, and there are several.
        """
        known = {cluster.name: cluster for cluster in self.all().values() if cluster.kind == kind}
        if name is not None:
            if name not in known:
                raise UnknownName(f"{kind} cluster", name, known)
            return known[name]
        if len(known) > 1:
            raise InvalidInput(f"Which cluster? Expected {kind}:NAME. Known: {', '.join(known)}.")
        return next(iter(known.values()), Cluster(name=kind, kind=kind))

    def add(self, cluster: Cluster) -> None:
        """Save a new cluster.

        Raises:
            InvalidInput: there is another of its name.
        """
        with self._changing() as clusters:
            if cluster.name in clusters:
                raise InvalidInput(
                    f"There is a cluster {cluster.name!r} already. Choose another name, or remove it first: "
                    f"{Remedy.REMOVE_CLUSTER.of(cluster=cluster.name)}"
                )
            clusters[cluster.name] = cluster

    def put(self, cluster: Cluster) -> None:
        """Save a cluster, in place of an earlier one of its name."""
        with self._changing() as clusters:
            clusters[cluster.name] = cluster

    def remove(self, name: str) -> None:
        """Delete a cluster."""
        with self._changing() as clusters:
            clusters.pop(name, None)

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Cluster]]:
        """Hold the lock for a read-change-write of the clusters."""
        with files.exclusive(self._directory / layout.CLUSTERS_LOCK):
            clusters = dict(self.all())
            yield clusters
            files.write_model(self._path, _Clusters(clusters=clusters))

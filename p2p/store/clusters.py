"""Known clusters."""

from pathlib import Path

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.cluster import Cluster
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.remedies import Remedy
from p2p.store import layout
from p2p.store.named_records import NamedRecords
from p2p.store.nodes import default_directory


class _Clusters(Contract):
    clusters: dict[str, Cluster] = Field(default={})


class ClusterStore:
    """`clusters.json`, beside the nodes.

    Args:
        path: Directory to keep it in; None takes that of the configuration file.
    """

    def __init__(self, path: Path | None = None) -> None:
        directory = path or default_directory()
        self._records = NamedRecords[Cluster](directory / layout.CLUSTERS, directory / layout.CLUSTERS_LOCK, _Clusters)

    def all(self) -> dict[str, Cluster]:
        """All clusters by name.

        Raises:
            StorageProblem: the file is there and cannot be understood.
        """
        return self._records.all()

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
        with self._records.changing() as clusters:
            if cluster.name in clusters:
                raise InvalidInput(
                    f"There is a cluster {cluster.name!r} already. Choose another name, or remove it first: "
                    f"{Remedy.REMOVE_CLUSTER.of(cluster=cluster.name)}"
                )
            clusters[cluster.name] = cluster

    def put(self, cluster: Cluster) -> None:
        """Save a cluster, in place of an earlier one of its name."""
        with self._records.changing() as clusters:
            clusters[cluster.name] = cluster

    def remove(self, name: str) -> None:
        """Delete a cluster."""
        self._records.remove(name)

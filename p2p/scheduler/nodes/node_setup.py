"""Set up a node: trust its key, probe it, prepare it."""

from p2p.contracts.node import HostKey, Node
from p2p.scheduler.nodes import host_keys
from p2p.scheduler.nodes.environments import environment, probe
from p2p.scheduler.nodes.links import links
from p2p.store.nodes import NodeStore


class NodeSetup:
    """Node setup: trust, check, prepare.

    Args:
        store: where nodes and trusted keys are kept.
    """

    def __init__(self, store: NodeStore) -> None:
        self._store = store

    def host_key(self, name: str) -> HostKey:
        """Key shown by a node, and whether it is trusted.

        Raises:
            NodeUnreachable: it does not answer.
        """
        return host_keys.look(self._store.get(name), self._store.known_hosts_path)

    def trust(self, name: str, fingerprint: str) -> HostKey:
        """Trust the key with this fingerprint.

        Raises:
            NodeUnreachable: the node does not answer, or shows another key.
        """
        return host_keys.trust(self._store.get(name), fingerprint, self._store.known_hosts_path)

    def check(self, name: str) -> Node:
        """Probe a node and save the result.

        Raises:
            NodeUnreachable: it does not answer.
            EnvironmentProblem: it lacks something.
        """
        with links(self._store).to(name, patient=False) as link:
            facts = probe(link)
        self._store.update(self._store.get(name).model_copy(update={"facts": facts}))
        return self._store.get(name)

    def prepare(self, name: str, install: bool = True) -> Node:
        """Probe a node and install the requirements of a training (takes minutes) unless present.

        Raises:
            NodeUnreachable: it does not answer.
            EnvironmentProblem: it lacks something that p2p cannot bring.
        """
        node = self.check(name)
        with links(self._store).to(name, patient=False) as link:
            environment(link, install=install)
        return node

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from p2p.contracts.cluster import Cluster
from p2p.contracts.errors import InvalidInput, StorageProblem
from p2p.contracts.node import Node
from p2p.store.clusters import ClusterStore
from p2p.store.nodes import NodeStore


def test_what_several_add_at_once_is_all_kept(tmp_path: Path) -> None:
    names = [f"lab{number}" for number in range(12)]
    with ThreadPoolExecutor(6) as several:
        list(several.map(lambda name: ClusterStore(tmp_path).add(Cluster(name=name, kind="slurm")), names))
    assert set(ClusterStore(tmp_path).all()) == set(names)
    ClusterStore(tmp_path).remove("lab3")
    assert "lab3" not in ClusterStore(tmp_path).all()


def test_a_second_one_of_a_name_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    store = NodeStore(tmp_path)
    store.add(Node(name="attic", host="attic.local"))
    with pytest.raises(InvalidInput, match=r"A node 'attic' already exists, at attic\.local"):
        store.add(Node(name="attic", host="other.local"))
    assert store.get("attic").host == "attic.local"


@pytest.mark.parametrize(("store", "name"), [(NodeStore, "nodes"), (ClusterStore, "clusters")])
def test_a_broken_file_is_named_and_not_written_over(
    tmp_path: Path, store: type[NodeStore] | type[ClusterStore], name: str
) -> None:
    file = tmp_path / f"{name}.json"
    file.write_text('{"half')
    with pytest.raises(StorageProblem, match=rf"{name}\.json is broken.*add the {name} again"):
        store(tmp_path).remove("attic")
    assert file.read_text() == '{"half'

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from ray_lab import HAS_RAY, NO_RAY, RayLab
from slurm_lab import HAS_SLURM, NO_SLURM, SlurmLab
from ssh_lab import HAS_SSHD, NO_SSHD, Lab

from p2p.contracts.cluster import Cluster
from p2p.scheduler.backends.local import LocalBackend

if TYPE_CHECKING:
    from k8s_lab import KubernetesLab


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Path]:
    """A directory for jobs; none of them survives the test."""
    yield tmp_path / "jobs"
    end_jobs(tmp_path / "jobs")


@pytest.fixture(scope="session")
def one_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    if not HAS_SSHD:
        pytest.skip(NO_SSHD)
    made = Lab(tmp_path_factory.mktemp("lab"))
    yield made
    made.close()


@pytest.fixture
def lab(one_lab: Lab) -> Iterator[Lab]:
    """A node behind a real sshd, whose link may be broken."""
    one_lab.make_good()
    yield one_lab
    one_lab.make_good()
    end_jobs(one_lab.root)


@pytest.fixture(scope="session")
def one_slurm() -> Iterator[SlurmLab]:
    if not HAS_SLURM:
        pytest.skip(NO_SLURM)
    made = SlurmLab(Path(tempfile.mkdtemp(prefix="slurm-")))
    yield made
    made.close()


@pytest.fixture
def slurm(one_slurm: SlurmLab, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlurmLab]:
    """A real Slurm, whose daemons may be killed."""
    for name, value in one_slurm.variables.items():
        monkeypatch.setenv(name, value)
    yield one_slurm
    one_slurm.make_good()
    one_slurm.run("scancel", "--me")


@pytest.fixture
def slurm_cluster(slurm: SlurmLab) -> Cluster:
    assert slurm
    return Cluster(name="slurm", kind="slurm", settle_s=1.0)


@pytest.fixture
def login_node(lab: Lab, slurm: SlurmLab, slurm_cluster: Cluster) -> Lab:
    """A node "login" behind a real sshd, which hands its jobs to a real Slurm that only its cluster tells of."""
    lab.add("login", cluster=slurm_cluster.model_copy(update={"name": "lab", "variables": slurm.variables}))
    return lab


@pytest.fixture(scope="session")
def one_ray() -> Iterator[RayLab]:
    if not HAS_RAY:
        pytest.skip(NO_RAY)
    made = RayLab(Path(tempfile.mkdtemp(prefix="ray-")))
    yield made
    made.close()


@pytest.fixture
def ray(one_ray: RayLab) -> RayLab:
    """A real Ray, whose head may be killed."""
    one_ray.make_good()
    return one_ray


@pytest.fixture
def ray_cluster(ray: RayLab) -> Cluster:
    return ray.cluster


@pytest.fixture(scope="session")
def one_kubernetes(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[KubernetesLab]":
    pytest.importorskip("kubernetes")
    from k8s_lab import KubernetesLab  # noqa: PLC0415  an extra, and half a second to import

    made = KubernetesLab(tmp_path_factory.mktemp("k8s"))
    yield made
    made.close()


@pytest.fixture
def kubernetes(one_kubernetes: "KubernetesLab", monkeypatch: pytest.MonkeyPatch) -> "Iterator[KubernetesLab]":
    """A stand-in for Kubernetes, reached by the official client; no fault survives the test."""
    monkeypatch.setenv("KUBECONFIG", str(one_kubernetes.kubeconfig))
    yield one_kubernetes
    one_kubernetes.make_good()


@pytest.fixture
def k8s_cluster(kubernetes: "KubernetesLab", tmp_path: Path) -> Cluster:
    return kubernetes.cluster(tmp_path)


def end_jobs(root: Path) -> None:
    for spec in root.rglob("job.json"):
        LocalBackend().cancel(spec.parent)

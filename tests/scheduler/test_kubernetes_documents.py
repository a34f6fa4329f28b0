"""Manifests, commands and the image, as the documents give them to be copied."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from job_helpers import shell, until

from p2p.cli import main
from p2p.contracts.cluster import Cluster
from p2p.contracts.job import JobState
from p2p.scheduler.backends.k8s.backend import KubernetesBackend
from p2p.scheduler.backends.k8s.manifest import job_manifest
from p2p.scheduler.backends.k8s.options import KubernetesOptions
from p2p.scheduler.backends.placed import Placement

if TYPE_CHECKING:
    from k8s_lab import KubernetesLab

ROOT = Path(__file__).parents[2]


def manifests(name: str) -> list[dict[str, Any]]:
    yaml = pytest.importorskip("yaml")
    return list(yaml.safe_load_all((ROOT / "docs/k8s" / name).read_text()))


@pytest.mark.slow
def test_the_role_allows_what_p2p_asks_for_and_nothing_else(
    kubernetes: "KubernetesLab", k8s_cluster: Cluster, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = pytest.importorskip("kubernetes.client")
    role, binding = manifests("rbac.yaml")
    assert client.V1RoleBinding.model_validate(binding).role_ref.name == role["metadata"]["name"]
    rules = client.V1Role.model_validate(role).rules
    monkeypatch.setattr("p2p.scheduler.backends.k8s.reports.PATIENCE_S", -1.0)
    kubernetes.claims_missing = True
    kubernetes.requests.clear()
    backend = KubernetesBackend(k8s_cluster)
    backend.submit(shell("true"), jobs / "a")
    until(lambda: backend.status(jobs / "a").error)
    assert backend.cancel(jobs / "a").state is JobState.CANCELLED
    assert set(kubernetes.requests) == {
        (verb, kind) for rule in rules for verb in rule.verbs for kind in rule.resources
    }


def test_the_claim_is_that_of_the_volume_and_as_the_commands_name_it() -> None:
    client = pytest.importorskip("kubernetes.client")
    volume, claim = manifests("claim.yaml")
    assert client.V1PersistentVolumeClaim.model_validate(claim).spec.volume_name == volume["metadata"]["name"]
    assert client.V1PersistentVolume.model_validate(volume).spec.access_modes == claim["spec"]["accessModes"]
    assert f"claim={claim['metadata']['name']} " in (ROOT / "docs/clusters_k8s.md").read_text()


@pytest.mark.slow
def test_the_commands_add_clusters_that_lack_nothing(
    kubernetes: "KubernetesLab",
    runs_dir: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert kubernetes
    monkeypatch.setenv("P2P_NODES_DIR", str(tmp_path / "nodes"))
    texts = [(ROOT / name).read_text() for name in ("docs/clusters_k8s.md", ".github/workflows/kind.yml")]
    commands = re.findall(r"^ *p2p (clusters add .*)$", "\n".join(texts), re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        here = re.sub(r"context=\S+", "context=lab", command).replace("$P2P_RUNS_DIR", str(runs_dir))
        assert main([*shlex.split(here), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["problem"] == ""


def test_the_start_of_a_job_needs_nothing_of_the_image_but_its_python_and_p2p(tmp_path: Path) -> None:
    """The image is not built here; its recipe ends with p2p in its Python, and so much has the process below."""
    recipe = (ROOT / "Dockerfile").read_text()
    assert "FROM python:3.12-slim" in recipe
    assert "COPY p2p ./p2p" in recipe
    directory = tmp_path / "job"
    directory.mkdir()
    (directory / "job.json").write_text(json.dumps({"argv": ["{python}", "-c", "print(1 + 1)"]}))
    (directory / "placed.json").write_text(json.dumps({"token": "0123abcd"}))
    command = f"exec python -S -m p2p.scheduler.foreground {directory} 0123abcd"
    placement = Placement("a", directory, command, directory / "scheduler.log", cores=1, memory_mb=500)
    options = KubernetesOptions(image="p2p:test", host_path=str(tmp_path))
    job = job_manifest(placement, Cluster(name="k8s", kind="k8s"), options)
    [container] = job["spec"]["template"]["spec"]["containers"]
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to(os.path.realpath(sys.executable))
    environment = {one["name"]: one["value"] for one in container["env"]}
    environment |= {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    subprocess.run(container["command"], env=environment, cwd="/", check=True)
    assert json.loads((directory / "status.json").read_text())["state"] == "completed"
    assert (directory / "output.log").read_text() == "2\n"

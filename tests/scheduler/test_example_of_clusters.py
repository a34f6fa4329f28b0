import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from p2p.contracts.cluster import Cluster

EXAMPLE = Path(__file__).parents[2] / "examples" / "10_train_on_a_cluster.py"


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["slurm", "ray", "k8s"])
def test_the_example_runs_on_a_cluster_to_its_assertion(
    kind: str, request: pytest.FixtureRequest, jobs: Path, tmp_path: Path
) -> None:
    cluster: Cluster = request.getfixturevalue(f"{kind}_cluster")
    options = (
        f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in cluster.options.items()
    )
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), str(jobs), kind, *options],
        env=os.environ | {"P2P_NODES_DIR": str(tmp_path / "config")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f'"backend": "{kind}:lab"' in done.stdout

"""Trainings are handed to the scheduler of a cluster, on a disk that its machines share. A minute when it is idle.

python examples/10_train_on_a_cluster.py RUNS_DIR slurm [partition=gpu account=robots]
python examples/10_train_on_a_cluster.py RUNS_DIR ray [address=http://head:8265 | local=true]
python examples/10_train_on_a_cluster.py RUNS_DIR k8s image=… claim=… mount=…
"""

import os
import subprocess
import sys

runs_dir, kind, *options = sys.argv[1:]


def clusters(*words: str) -> None:
    print("$ p2p clusters", *words)
    subprocess.run([sys.executable, "-m", "p2p.cli", "clusters", *words, "--runs-dir", runs_dir], check=True)


clusters("add", "lab", kind, *(word for option in options for word in ("--set", option)))
clusters("check", "lab")  # a job of about a second

os.environ["P2P_BACKEND"] = f"{kind}:lab"  # where trainings of sessions begun from here on run
import p2p  # noqa: E402

session = p2p.run(
    "keep the pole balanced for 2 seconds",
    env="InvertedPendulum-v5",
    n_seeds=1,
    n_report_rollouts=10,
    runs_dir=runs_dir,
).wait()
assert session.judgment is not None, session.error
(placed,) = session.path.glob("iter_1/*/placed.json")
print(placed.parent.name, "ran there:", placed.read_text())
print(session.judgment.diagnosis)
assert session.passed

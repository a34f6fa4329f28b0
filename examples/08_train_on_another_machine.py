"""Trainings run on another machine, by SSH, and their files come back as they are written. Under three minutes.

    python examples/08_train_on_another_machine.py RUNS_DIR [USER@]HOST[:PORT] KEY_FILE FINGERPRINT [PYTHON_THERE]

FINGERPRINT is the host's, as `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` prints it on the machine itself.
Without PYTHON_THERE p2p installs what a training needs on the node.
"""

import os
import subprocess
import sys

runs_dir, address, key, fingerprint, *python = sys.argv[1:]


def nodes(*words: str) -> None:
    print("$ p2p nodes", *words)
    subprocess.run([sys.executable, "-m", "p2p.cli", "nodes", *words], check=True)


interpreter = ["--python", python[0]] if python else []
nodes("add", "attic", address, "--key", key, *interpreter)
nodes("trust", "attic", "--fingerprint", fingerprint)
nodes("bootstrap", "attic")

os.environ["P2P_BACKEND"] = "ssh:attic"  # where trainings of sessions begun from here on run; criteria are judged here
import p2p  # noqa: E402

session = p2p.run(
    "keep the pole balanced for 2 seconds",
    env="InvertedPendulum-v5",
    n_seeds=1,
    n_report_rollouts=10,
    runs_dir=runs_dir,
).wait()
assert session.judgment is not None, session.error
(remote,) = session.path.glob("iter_1/*/remote.json")
print(remote.parent.name, "ran there:", remote.read_text())
print(session.judgment.diagnosis)
assert session.passed

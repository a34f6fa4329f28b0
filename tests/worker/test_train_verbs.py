import os
import subprocess
import sys

import pytest

from p2p.contracts.work import DescribeRequest
from p2p.store.iterations import IterationRecord


def worker(*arguments):
    """The worker in a process of its own, which it confines."""
    command = [sys.executable, "-m", "p2p.worker", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "usage: python -m p2p.worker VERB JOB_DIR"),
        (["trane", "."], "Unknown verb 'trane'. Did you mean 'train'? Known: call, check, describe, "),
        (["train", "no/such/place"], "is not a directory"),
        (["describe", "."], "holds no readable request"),
    ],
)
def test_what_the_worker_cannot_do_is_said_in_one_line(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = worker(*arguments)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert message in line


def test_an_environment_is_described_on_request(tmp_path, cheetah):
    record = IterationRecord(tmp_path)
    record.save_describe_request(DescribeRequest(env_id="HalfCheetah-v5"))
    assert worker("describe", tmp_path).returncode == 0
    assert record.read_env_spec() == cheetah


@pytest.mark.usefixtures("pictures")
def test_the_renderers_are_probed_on_request(tmp_path):
    assert worker("probe", tmp_path).returncode == 0
    assert IterationRecord(tmp_path).read_renderer_report().chosen in ("egl", "osmesa", "raycast")


def test_the_command_starts_light_and_on_one_thread(tmp_path):
    code = (
        "import sys, os; import p2p.worker.__main__ as w;"
        "assert not {'numpy', 'torch', 'mujoco'} & set(sys.modules);"
        "assert w.run('p2p.worker', w.VERBS, ['describe', sys.argv[1]]) == 2;"
        "assert os.environ['OMP_NUM_THREADS'] == '1' and 'torch' not in sys.modules"
    )
    variables = {name: value for name, value in os.environ.items() if "THREADS" not in name}
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, env=variables, capture_output=True)

"""Sessions and runs of suites that are begun by a request, and ended by another; what the front end loads."""

import subprocess
import sys

import pytest
from asking import Asking

LOADED = """
import sys
import p2p.web.serving
print(*({module.partition(".")[0] for module in sys.modules} & set(sys.argv[1:])))
"""


def test_the_web_front_end_starts_without_anything_heavy() -> None:
    heavy = ("numpy", "torch", "mujoco", "gymnasium", "stable_baselines3", "matplotlib", "paramiko", "anthropic", "mcp")
    done = subprocess.run([sys.executable, "-c", LOADED, *heavy], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.slow
def test_a_session_is_begun_and_stopped(web: Asking) -> None:
    body = {"prompt": "keep the pole balanced", "env_id": "InvertedPendulum-v5"}
    begun = web("POST", "/api/sessions", {"idempotency-key": "one"}, body)
    assert begun.status == 201
    job = web("GET", f"/api/jobs/{begun.data['job_id']}")
    assert job.data["session_id"] == begun.data["session_id"]
    assert web("POST", "/api/sessions", {"idempotency-key": "one"}, body).data["job_id"] == begun.data["job_id"]
    here = f"/api/sessions/{begun.data['session_id']}"
    busy = web("DELETE", here)
    assert busy.status == 409
    assert busy.data["next"][0]["request"] == f"POST {here}/stop"
    assert web("POST", f"{here}/stop").data["stopped"] is True
    assert web("DELETE", here).status == 200


@pytest.mark.slow
def test_a_run_of_a_suite_is_begun_and_stopped(web: Asking) -> None:
    asked = {"suite": "basic", "seeds": [1], "only": {"case": ["pendulum-balance"]}}
    begun = web("POST", "/api/benchmarks", None, asked)
    assert begun.status == 201, begun.body
    here = f"/api/benchmarks/{begun.data['benchmark_id']}"
    assert web("GET", here).data["tally"]["sessions"] == 1
    assert web("POST", f"{here}/stop").data["stopped"] is True

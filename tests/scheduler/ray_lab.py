"""A real Ray of one machine, started as p2p starts it, from an environment of its own."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from job_helpers import until

from p2p.contracts.cluster import Cluster
from p2p.contracts.errors import NodeUnreachable
from p2p.scheduler import supervisor
from p2p.scheduler.ray_head import TOKEN_VARIABLE, RayHead
from p2p.scheduler.ray_jobs import RayJobs, read_token

PROGRAM = Path(sys.prefix, "ray/bin/ray")
"""Where `make test` puts Ray."""
HAS_RAY = PROGRAM.exists()
NO_RAY = f"there is no Ray at {PROGRAM}; to install it: make .venv/.ray"
ROOM = ("--num-cpus=8", "--num-gpus=0", "--memory=1000000000000")
"""What the machine says it has; none of it is taken before a job takes it."""


class RayLab:
    """A head with 8 cores that are only counted.

    Args:
        place: Where everything is kept; its path is short, since it holds sockets.
    """

    def __init__(self, place: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self.head = RayHead(place, self.address, str(PROGRAM), (*ROOM, f"--temp-dir={place}/ray"))
        self._ready = ""
        self.make_good()

    @property
    def cluster(self) -> Cluster:
        options = {"address": self.address, "token_file": str(self.head.token_path)}
        return Cluster.model_validate({"name": "ray", "kind": "ray", "options": options, "settle_s": 1.0})

    @property
    def jobs(self) -> RayJobs:
        """Past p2p's own accounts."""
        return RayJobs(self.address, {"Authorization": f"Bearer {read_token(self.head.token_path)}"})

    def states(self) -> dict[str, str]:
        """State of each job by its name, as Ray says it."""
        return {job["submission_id"]: job["status"] for job in self.jobs.all()}

    def kill(self) -> None:
        """Kill all of Ray at once, as a power cut would, but none of its jobs."""
        supervisor.send(self.head.processes(), signal.SIGKILL)
        until(lambda: not self.head.processes())

    def make_good(self) -> None:
        """End all jobs, in a head that lives and takes others."""
        self.head.start()
        head = self.head.pid_path.read_text()
        if head != self._ready:  # it answers before it takes jobs: by ten seconds and more on a crowded machine
            until(self._takes_a_job)
            self._ready = head
        for name, state in self.states().items():
            if state in ("PENDING", "RUNNING"):
                self.jobs.stop(name)

    def _takes_a_job(self) -> bool:
        try:
            self.jobs.submit({"submission_id": f"first_{time.time_ns()}", "entrypoint": "true"})
        except NodeUnreachable:
            return False
        return True

    def command(self, *words: str) -> str:
        """What a command of Ray prints."""
        environment = os.environ | {"RAY_AUTH_MODE": "token", TOKEN_VARIABLE: str(self.head.token_path)}
        done = subprocess.run([PROGRAM, *words], env=environment, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    def close(self) -> None:
        """End everything."""
        self.head.stop()
        shutil.rmtree(self.head.place, ignore_errors=True)

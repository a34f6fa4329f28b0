"""A node in a network of its own, whose cable is pulled: needs root and `ip`."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from job_helpers import shell, until
from ssh_lab import Lab, Sshd

from p2p.contracts.job import JobState
from p2p.scheduler.backends.ssh import SSHBackend
from p2p.scheduler.nodes.links import links

NAMESPACE, OUTSIDE, INSIDE = "p2pnode", "p2pv0", "p2pv1"
HERE, THERE = "10.99.0.1/30", "10.99.0.2"


def ip(*words: str) -> bool:
    return subprocess.run(["ip", *words], capture_output=True).returncode == 0


@pytest.fixture
def cabled(tmp_path: Path, lab: Lab) -> Iterator[str]:
    """Name of a node at the other end of a cable."""
    if os.geteuid() or shutil.which("ip") is None or not ip("netns", "add", NAMESPACE):
        pytest.skip("needs root and network namespaces")
    inside = ("netns", "exec", NAMESPACE, "ip")
    steps = (
        ("link", "add", OUTSIDE, "type", "veth", "peer", "name", INSIDE),
        ("link", "set", INSIDE, "netns", NAMESPACE),
        ("addr", "add", HERE, "dev", OUTSIDE),
        ("link", "set", OUTSIDE, "up"),
        (*inside, "addr", "add", f"{THERE}/30", "dev", INSIDE),
        (*inside, "link", "set", INSIDE, "up"),
        (*inside, "link", "set", "lo", "up"),
    )
    sshd = None
    try:
        if not all(ip(*step) for step in steps):
            pytest.skip("this kernel makes no pairs of virtual cables")
        sshd = Sshd(tmp_path / "sshd", THERE, ("ip", "netns", "exec", NAMESPACE))
        sshd.start()
        key = str(sshd.folder / "user_key")
        lab.add("cabled", host=THERE, port=sshd.port, key_file=key, directory=str(tmp_path / "node"), timeout_s=3.0)
        yield "cabled"
    finally:
        links(lab.store).close()
        lab.store.remove("cabled")
        if sshd is not None:
            sshd.stop()
        ip("netns", "del", NAMESPACE)
        ip("link", "del", OUTSIDE)


@pytest.mark.slow
def test_a_cable_is_pulled_and_put_back(cabled: str, lab: Lab, jobs: Path) -> None:
    backend = SSHBackend(cabled, lab.store)
    backend.submit(shell("echo run >> count; for i in $(seq 60); do echo line $i; sleep 0.1; done"), jobs / "a")
    assert ip("link", "set", OUTSIDE, "down")
    until(lambda: backend.status(jobs / "a").state is JobState.UNREACHABLE)
    assert ip("link", "set", OUTSIDE, "up")
    until(lambda: backend.status(jobs / "a").state is JobState.COMPLETED)
    assert backend.logs(jobs / "a")[0] == "".join(f"line {i}\n" for i in range(1, 61))
    assert (jobs / "a/count").read_text() == "run\n"

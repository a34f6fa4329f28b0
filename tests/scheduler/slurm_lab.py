"""A real Slurm of one machine: controller and node are processes, and all their files are in one directory."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from job_helpers import until

UNPACKED = Path(sys.prefix, "slurm")
"""Where `make test` puts Slurm when the machine has none."""
PLACES = [Path("/usr/sbin"), Path("/usr/bin"), UNPACKED / "usr/sbin", UNPACKED / "usr/bin"]
PROGRAMS = ("munged", "slurmctld", "slurmd", "slurmstepd", "sbatch", "squeue", "scancel", "scontrol", "sinfo")


def program(name: str) -> Path | None:
    """A program of Slurm; Debian calls some of them "slurmd-wlm", with links that its installation makes."""
    found = (place / called for place in PLACES for called in (name, f"{name}-wlm"))
    return next((path for path in found if path.exists()), None)


MISSING = [name for name in PROGRAMS if program(name) is None]
HAS_SLURM = not MISSING
NO_SLURM = f"this machine has no {', '.join(MISSING)} (Debian: slurmctld slurmd slurm-client munge)"
START_S = 60.0
SAVED_S = 6.0
"""A controller writes its jobs down every 5 s; one that forgot some gives their numbers away again, and then takes its
node for broken [s]."""


def libraries() -> Path:
    return next(iter(UNPACKED.glob("usr/lib/*/libmunge.so.2")), UNPACKED / "usr/lib/libmunge.so.2").parent


class SlurmLab:
    """One controller, one node with `cores` cores that are only counted.

    Args:
        place: Where everything is kept; its path is short, since it holds sockets.
        cores: What the node says it has.
        settings: Further lines of its configuration, which replace those that are there.
    """

    def __init__(self, place: Path, cores: int = 8, settings: tuple[str, ...] = ()) -> None:
        self.place = place
        self.environment = os.environ | {"SLURM_CONF": str(place / "slurm.conf")}
        if UNPACKED.exists():
            self.environment["LD_LIBRARY_PATH"] = f"{libraries()}:{libraries() / 'slurm-wlm'}"
            self.environment["PATH"] = f"{UNPACKED / 'usr/bin'}:{os.environ['PATH']}"
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}
        for name in ("state", "spool", "munge"):
            (place / name).mkdir()
        self._configure(cores, settings)
        self.start("munged")
        until(lambda: (place / "munge/socket").exists() or self.daemons["munged"].poll() is not None, START_S)
        assert (place / "munge/socket").exists(), f"munged ended: {(place / 'munged.log').read_text()}"
        self.start("slurmctld")
        self.start("slurmd")
        until(lambda: "idle" in self.run("sinfo", "--noheader", "--format=%T"), START_S)

    @property
    def variables(self) -> dict[str, str]:
        """What leads its commands to it."""
        needed = ("SLURM_CONF", "PATH", "LD_LIBRARY_PATH")
        return {name: self.environment[name] for name in needed if name in self.environment}

    def _configure(self, cores: int, settings: tuple[str, ...]) -> None:
        key = self.place / "munge/key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o600)
        with socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", 0))
            other.bind(("127.0.0.1", 0))
            ports = one.getsockname()[1], other.getsockname()[1]
        plugins = next(iter(UNPACKED.glob("usr/lib/*/slurm-wlm")), None)
        user = subprocess.check_output(["id", "-un"], text=True).strip()
        host = socket.gethostname()
        lines = f"""
            ClusterName=test
            SlurmctldHost={host}(127.0.0.1)
            SlurmctldPort={ports[0]}
            SlurmdPort={ports[1]}
            AuthType=auth/munge
            AuthInfo=socket={self.place}/munge/socket
            CredType=cred/munge
            SlurmUser={user}
            SlurmdUser={user}
            StateSaveLocation={self.place}/state
            SlurmdSpoolDir={self.place}/spool
            SlurmctldPidFile={self.place}/slurmctld.pid
            SlurmdPidFile={self.place}/slurmd.pid
            SlurmdParameters=config_overrides
            ProctrackType=proctrack/linuxproc
            TaskPlugin=task/none
            SelectType=select/cons_tres
            SelectTypeParameters=CR_Core_Memory
            SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
            JobAcctGatherType=jobacct_gather/none
            AccountingStorageType=accounting_storage/none
            JobCompType=jobcomp/none
            MpiDefault=none
            ReturnToService=2
            SlurmdTimeout=15
            MessageTimeout=10
            KillWait=5
            MinJobAge=300
            JobRequeue=1
            {f"PluginDir={plugins}" if plugins else ""}
            NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory=1000000 State=UNKNOWN
            PreemptType=preempt/partition_prio
            PreemptMode=REQUEUE
            PartitionName=debug Nodes={host} Default=YES MaxTime=INFINITE State=UP PriorityTier=1
            PartitionName=urgent Nodes={host} MaxTime=INFINITE State=UP PriorityTier=2
            PartitionName=closed Nodes={host} MaxTime=INFINITE State=DOWN
        """
        replaced = {setting.partition("=")[0] for setting in settings}
        kept = [line.strip() for line in lines.splitlines() if line.strip().partition("=")[0] not in replaced]
        (self.place / "slurm.conf").write_text("\n".join((*kept, *settings)) + "\n")

    def start(self, name: str) -> None:
        """Start a daemon; it stays a child of ours."""
        munge = self.place / "munge"
        options = {
            "munged": [
                *("--foreground", "--force", f"--key-file={munge}/key", f"--socket={munge}/socket"),
                *(f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed"),
            ],
            "slurmctld": ["-D", "-f", f"{self.place}/slurm.conf"],
            "slurmd": ["-D", "-f", f"{self.place}/slurm.conf", "-d", str(program("slurmstepd"))],
        }[name]
        with (self.place / f"{name}.log").open("ab") as log:
            self.daemons[name] = subprocess.Popen(
                [str(program(name)), *options],
                cwd=self.place,  # where one that crashes leaves its core
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self, name: str, saved: bool = True) -> None:
        """Kill a daemon as a power cut would.

        Args:
            name: Which.
            saved: Whether a controller has written its jobs down before.
        """
        if name == "slurmctld" and saved:
            time.sleep(SAVED_S)
        self.daemons[name].kill()
        self.daemons[name].wait()

    def make_good(self) -> None:
        """Start the daemons that a test has killed."""
        for name, daemon in self.daemons.items():
            if daemon.poll() is not None:
                self.start(name)
        until(self._is_up, START_S)

    def _is_up(self) -> bool:
        """Whether the node takes jobs; one that was down or drained is told to."""
        state = self.run("sinfo", "--noheader", "--partition=debug", "--format=%T").strip()
        if state.startswith(("down", "drain")):
            self.run("scontrol", "update", f"NodeName={socket.gethostname()}", "State=RESUME")
        return state in ("idle", "mixed")

    def run(self, *command: str) -> str:
        """What a command of Slurm prints; empty where it fails."""
        words = [str(program(command[0])), *command[1:]]
        return subprocess.run(words, env=self.environment, capture_output=True, text=True, check=False).stdout

    def succeeds(self, *command: str) -> bool:
        """Whether a command of Slurm does what it is told."""
        words = [str(program(command[0])), *command[1:]]
        return subprocess.run(words, env=self.environment, capture_output=True, check=False).returncode == 0

    def close(self) -> None:
        """End all jobs and daemons."""
        self.run("scancel", "--me")
        for name in ("slurmd", "slurmctld", "munged"):
            daemon = self.daemons[name]
            daemon.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                daemon.wait(10)
            daemon.kill()
            daemon.wait()
        shutil.rmtree(self.place, ignore_errors=True)

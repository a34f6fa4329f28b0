"""Jobs in the queue of Slurm, by the commands of the cluster's own installation: sbatch, squeue, scancel.

`sacct` is not needed: `status.json` outlives what the controller remembers (`MinJobAge`).
"""

import os
import re
import shutil
import subprocess
from typing import ClassVar

from p2p.contracts.base import Contract
from p2p.contracts.errors import EnvironmentProblem, NodeUnreachable
from p2p.contracts.job import Capabilities
from p2p.scheduler.backends.job_table import Ending, Phase, Report, out_of_memory
from p2p.scheduler.backends.placed import PlacedBackend, Placement

ANSWER_S = 30.0
"""Patience with one command."""
GRACE_S = 60
"""How long before its time is up a job is told, at most [s]."""

WAITING = {"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"}
INTERRUPTED = {"TIMEOUT", "DEADLINE", "PREEMPTED", "NODE_FAIL", "BOOT_FAIL", "REVOKED"}
BROKEN = {"JobLaunchFailure", "NodeDown", "SystemFailure"}
"""Reasons for the end of a job that its machine is to blame for."""
OVER = INTERRUPTED | {"CANCELLED", "COMPLETED", "FAILED", "OUT_OF_MEMORY"}
"""States of sbatch(1) and squeue(1); in any other a job runs, or is about to begin or to end."""
HELD = "It is held. To let it run: scontrol release "
SILENCE = re.compile(
    r"unable to contact slurm controller|connection refused|timed out|zero bytes were transmitted|"
    r"communication connection failure|slurm backup controller",
    re.IGNORECASE,
)
"""Of an error that says that the controller does not answer."""
FULL = re.compile(r"(max|grp)\w*(submit|jobs)|temporarily (unable|unavailable)|queue full", re.IGNORECASE)
"""Of a refusal that ends when other jobs do: QOSMaxSubmitJobPerUserLimit, AssocGrpSubmitJobsLimit … Where the
controller itself is full (`MaxJobCount`), sbatch says so and tries again for minutes."""


class SlurmOptions(Contract):
    """What only Slurm knows; each as sbatch(1) describes it."""

    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    constraint: str | None = None
    extra: tuple[str, ...] = ()
    """Further options of sbatch, such as "--nice=100"."""


class SlurmBackend(PlacedBackend):
    """Backend "slurm", or "slurm:NAME" for a cluster that was added."""

    capabilities: ClassVar = Capabilities(here=False, takes="cluster", variables=("SLURM_CONF",))
    Options = SlurmOptions
    forgotten: ClassVar = Report(Phase.OVER, "Slurm does not know the job any more")
    options: SlurmOptions

    @property
    def scheduler(self) -> tuple[tuple[str, str], ...]:
        """The variables that lead to its controller."""
        return tuple(sorted(self.cluster.variables.items()))

    def require_client(self) -> None:
        """Refuse where the commands of Slurm are missing.

        Raises:
            EnvironmentProblem: they are not on the PATH.
        """
        if shutil.which("sbatch", path=self.cluster.variables.get("PATH")) is None:
            raise _no_command("sbatch")

    def enqueue(self, placement: Placement) -> str:
        """Submit a batch script by sbatch.

        Raises:
            NodeUnreachable: the controller does not answer.
            EnvironmentProblem: it refuses the job.
        """
        limit_min = self.cluster.time_limit_min
        grace_s = min(GRACE_S, limit_min * 60 // 4) if limit_min else GRACE_S
        named = {
            "job-name": placement.name,
            "chdir": placement.directory,
            "output": placement.log,
            "open-mode": "append",
            "cpus-per-task": placement.cores,
            "mem": f"{placement.memory_mb}M",
            "signal": f"B:TERM@{grace_s}",
            "export": "PATH,HOME,USER,LANG",
            "time": limit_min,
            "gres": f"gpu:{self.cluster.gpus}" if self.cluster.gpus else None,
            **self.options.model_dump(exclude={"extra"}),
        }
        options = [f"--{name}={value}" for name, value in named.items() if value is not None]
        script = f"#!/bin/sh\n{placement.command}\n"
        try:
            self._run("sbatch", "--parsable", "--requeue", *options, *self.options.extra, stdin=script)
        except NodeUnreachable:
            raise
        except EnvironmentProblem as error:
            if FULL.search(str(error)):
                return str(error)
            raise
        return ""

    def ask(self) -> dict[str, Report]:
        """What squeue says of all jobs of this user.

        Raises:
            NodeUnreachable: the controller does not answer.
        """
        rows = self._run("squeue", "--me", "--noheader", "--states=all", "--format=%j|%T|%r|%i").splitlines()
        fields = (row.strip().split("|") for row in rows)
        return {name: self._word(state, reason, number) for name, state, reason, number in fields}

    def end(self, name: str) -> None:
        """Cancel a job by scancel.

        Raises:
            NodeUnreachable: the controller does not answer.
        """
        self._run("scancel", f"--name={name}")

    def _word(self, state: str, reason: str, number: str) -> Report:
        if state in WAITING:
            held = f"{reason}. {HELD}{number}" if "held" in reason.lower() else reason
            return Report(Phase.WAITING, "" if reason == "None" else held)
        if state not in OVER:
            return Report(Phase.RUNNING)
        if state in INTERRUPTED or reason in BROKEN:
            return Report(Phase.OVER, state if reason == "None" else f"{state} ({reason})", Ending.INTERRUPTED)
        if state == "CANCELLED":
            return Report(Phase.OVER, state, Ending.CANCELLED)
        if state == "OUT_OF_MEMORY":
            return Report(Phase.OVER, out_of_memory(f"{self.cluster.memory_mb} MiB"), Ending.FAILED)
        return Report(Phase.OVER, state if reason == "None" else f"{state} ({reason})")

    def _run(self, command: str, *options: str, stdin: str = "") -> str:
        """Run a command of Slurm; return what it prints.

        Raises:
            NodeUnreachable: the controller does not answer.
            EnvironmentProblem: the command is missing, or refuses.
        """
        try:
            done = subprocess.run(
                (command, *options),
                input=stdin,
                env=os.environ | self.cluster.variables,
                capture_output=True,
                text=True,
                timeout=ANSWER_S,
                check=False,
            )
        except FileNotFoundError as error:
            raise _no_command(command) from error
        except subprocess.TimeoutExpired as error:
            said = (error.stderr or b"").decode(errors="replace").strip()
            if FULL.search(said):
                raise EnvironmentProblem(f"Slurm's {command} waits: {said}") from error
            raise NodeUnreachable(f"Slurm's controller gave {command} no answer within {ANSWER_S:.0f} s.") from error
        if done.returncode:
            said = done.stderr.strip() or f"exit code {done.returncode}"
            if SILENCE.search(said):
                raise NodeUnreachable(f"Slurm's controller does not answer: {said}")
            raise EnvironmentProblem(f"Slurm's {command} refuses: {said}")
        return done.stdout


def _no_command(command: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"This machine has no {command}, so it cannot reach Slurm. Run p2p on a login node of the cluster."
    )

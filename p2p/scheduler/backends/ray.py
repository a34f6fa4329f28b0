"""Jobs of a running Ray cluster, by its Jobs API; or of a Ray of this machine alone, which p2p starts."""

import os
import shlex
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from p2p.contracts.base import Contract
from p2p.contracts.errors import EnvironmentProblem, NodeUnreachable
from p2p.contracts.job import Capabilities, Capacity
from p2p.contracts.remedies import Remedy
from p2p.scheduler import supervisor
from p2p.scheduler.backends.job_table import Ending, Phase, Report
from p2p.scheduler.backends.placed import PlacedBackend, Placement
from p2p.scheduler.ray_head import TOKEN_VARIABLE, RayHead
from p2p.scheduler.ray_jobs import RayJobs, is_loopback, read_headers, read_token
from p2p.scheduler.resources import JOB_MEMORY_MB
from p2p.store.nodes import default_directory
from p2p.store.placed import PlacedJobRecord

ADDRESS = "http://127.0.0.1:8265"
ADDRESS_VARIABLES = ("RAY_API_SERVER_ADDRESS", "RAY_ADDRESS")
"""Where Ray's own commands look for the address of a dashboard; the second may hold another kind of address."""
USUAL_TOKEN = Path(".ray/auth_token")
"""In the home directory: of a cluster that Ray started here with a token."""
REASON = 500
"""Characters of Ray's message that are shown, from its end."""

LEAVING_S = supervisor.GRACE_S + 10.0
"""Patience with the supervisors of jobs that were told to end."""
POLL_S = 0.2

NO_ROOM = "JOB_SUPERVISOR_ACTOR_START_TIMEOUT"
"""Type of the error of a job that waited for longer than Ray lets jobs wait, 15 min if nobody says otherwise."""
DIED = {"JOB_SUPERVISOR_ACTOR_DIED", "JOB_SUPERVISOR_ACTOR_UNKNOWN_FAILURE"}
"""Types of the errors of a job whose machine is lost, or whose process Ray has ended for the memory of others."""


class RayOptions(Contract):
    """What only Ray knows."""

    address: str | None = Field(default=None, pattern=r"^https?://[^/\s]+")
    """Of its dashboard. None takes RAY_API_SERVER_ADDRESS, or RAY_ADDRESS if it is one of http, else this machine's."""
    token_file: str | None = None
    """File with the cluster's token. None takes that of RAY_AUTH_TOKEN_PATH, and for this machine ~/.ray/auth_token."""
    headers_file: str | None = None
    """File of further headers, one "Name: value" a line, for a proxy before the dashboard."""
    allow_unauthenticated: bool = False
    """Whether a dashboard on another machine may be used with neither a token nor TLS: anyone who reaches it can run
    programs there."""
    local: bool = False
    """Whether p2p starts a Ray of this machine alone when none answers."""
    program: str | None = None
    """`ray` that starts it; None takes the one beside the interpreter that runs p2p, or on the PATH."""
    resources: dict[str, float] = Field(default={})
    """Further resources of each run, as Ray's `entrypoint_resources`."""

    @field_validator("token_file", "headers_file", "program")
    @classmethod
    def _is_absolute(cls, path: str | None) -> str | None:
        if path is not None and not Path(path).is_absolute():
            raise ValueError("expected an absolute path")
        return path


_STOPPED = set[str]()
"""Names of jobs that this process has stopped."""


class RayBackend(PlacedBackend):
    """Backend "ray", or "ray:NAME" for a cluster that was added."""

    capabilities: ClassVar = Capabilities(here=False, takes="cluster", variables=(*ADDRESS_VARIABLES, TOKEN_VARIABLE))
    Options = RayOptions
    options: RayOptions
    forgotten: ClassVar = Report(Phase.OVER, "it does not know the job; its head was restarted", Ending.INTERRUPTED)

    def require_client(self) -> None:
        """Refuse an address that p2p would not talk to, and a token that cannot be read.

        Raises:
            EnvironmentProblem: of these.
        """
        self._api()

    def capacity(self, job_memory_mb: int = JOB_MEMORY_MB) -> Capacity:
        """Number of runs handed over at a time; a Ray of this machine is started if it is wanted and none answers.

        Raises:
            EnvironmentProblem: the address is refused, or Ray cannot be started here.
        """
        capacity = super().capacity(job_memory_mb)
        if self.options.local:
            self.head().start()
        return capacity

    def head(self) -> RayHead:
        """The Ray of this machine that p2p starts."""
        return RayHead(default_directory() / "ray" / self.cluster.name, self.address, self.options.program)

    def started_here(self) -> str:
        """The Ray of this machine that p2p has started and still runs, in words; empty if there is none."""
        count = len(self.head().processes()) if self.options.local else 0
        return f"a Ray of this machine at {self.address} ({count} processes)" if count else ""

    def stop_started(self, known: Iterable[Path]) -> str:
        """End that Ray, then the jobs that it has started, which run in processes of their own.

        Each has as long to end as schedulers leave it, and saves its resume point.
        """
        if not (started := self.started_here()):
            return ""
        records = map(PlacedJobRecord, known)
        names = {self.name_of(record, placed) for record in records if (placed := record.read()) is not None}
        with suppress(NodeUnreachable):
            names |= {name for name, report in self.ask().items() if report.phase is not Phase.OVER}
        self.head().stop()
        deadline = time.monotonic() + LEAVING_S
        while (left := self._supervisors(names)) and time.monotonic() < deadline:
            supervisor.send(left, signal.SIGTERM)
            time.sleep(POLL_S)
        self.table.outdate()
        return started

    def _supervisors(self, names: set[str]) -> set[int]:
        """Supervisors on this machine of the jobs with these names."""
        found = set()
        for pid in supervisor.processes():
            if (directory := supervisor.variable(pid, supervisor.SUPERVISOR_TAG)) is None:
                continue
            record = PlacedJobRecord(Path(directory))
            if (placed := record.read()) is not None and self.name_of(record, placed) in names:
                found.add(pid)
        return found

    @property
    def address(self) -> str:
        """Address of the dashboard."""
        if self.options.address or self.options.local:
            return self.options.address or ADDRESS
        named = (os.environ.get(name, "") for name in ADDRESS_VARIABLES)
        return next((value for value in named if value.startswith(("http://", "https://"))), ADDRESS)

    def enqueue(self, placement: Placement) -> str:
        """Submit a job, whose name is its submission id: Ray takes none of them twice.

        Raises:
            NodeUnreachable: the cluster does not answer, or takes no jobs now.
            EnvironmentProblem: it refuses the job.
        """
        into = shlex.quote(str(placement.directory))
        log = shlex.quote(str(placement.log))
        gpus = self.cluster.gpus
        self._api().submit(
            {
                "submission_id": placement.name,
                "entrypoint": f"cd {into} || exit 1\nexec >>{log} 2>&1\n{placement.command}",
                "entrypoint_num_cpus": placement.cores,
                "entrypoint_memory": placement.memory_mb << 20,
                **({"entrypoint_num_gpus": gpus} if gpus else {}),
                **({"entrypoint_resources": self.options.resources} if self.options.resources else {}),
            }
        )
        return ""

    @property
    def scheduler(self) -> str:
        """Address of the dashboard."""
        return self.address

    def ask(self) -> dict[str, Report]:
        """What the cluster says of all jobs.

        Raises:
            NodeUnreachable: it does not answer, or refuses us.
        """
        jobs = {str(job["submission_id"]): job for job in self._silent_unless_accepted().all()}
        return {name: _word(job, name in _STOPPED) for name, job in jobs.items()}

    def end(self, name: str) -> None:
        """Stop a job.

        Raises:
            NodeUnreachable: the cluster does not answer, or refuses us.
        """
        self._silent_unless_accepted().stop(name)
        _STOPPED.add(name)

    def _silent_unless_accepted(self) -> RayJobs:
        """The cluster's jobs; one that we may not talk to any more is as one that does not answer.

        Raises:
            NodeUnreachable: its address is refused, or its token is gone.
        """
        try:
            return self._api()
        except EnvironmentProblem as error:
            raise NodeUnreachable(str(error)) from error

    def _api(self) -> RayJobs:
        """The cluster's jobs.

        Raises:
            EnvironmentProblem: the address is refused, or its token cannot be read.
        """
        address = self.address
        headers = self._headers(address)
        open_to_all = not headers and not is_loopback(address) and urlsplit(address).scheme == "http"
        if open_to_all and not self.options.allow_unauthenticated:
            raise EnvironmentProblem(
                f"{address} is on another machine, with neither a token nor TLS: anyone who reaches it can run "
                "programs there. Give the cluster a token_file or an https address; or, if its network is closed to "
                f"others: {Remedy.SET_IN_CLUSTER.of(setting='allow_unauthenticated=true')}"
            )
        if self.options.local and not is_loopback(address):
            raise EnvironmentProblem(f"A Ray of this machine needs an address of it, such as {ADDRESS}; got {address}.")
        return RayJobs(address, headers)

    def _headers(self, address: str) -> dict[str, str]:
        headers = read_headers(Path(self.options.headers_file)) if self.options.headers_file else {}
        if (token_path := self._token_path(address)) is not None:
            headers["Authorization"] = f"Bearer {read_token(token_path)}"
        return headers

    def _token_path(self, address: str) -> Path | None:
        named = self.options.token_file or os.environ.get(TOKEN_VARIABLE)
        if named:
            return Path(named)
        usual = self.head().token_path if self.options.local else Path.home() / USUAL_TOKEN
        return usual if is_loopback(address) and usual.exists() else None


def _word(job: dict[str, Any], stopped: bool) -> Report:
    said = _said(job)
    error = job.get("error_type")
    match job["status"]:
        case "PENDING" if stopped:
            # Ray stops no job before it has begun; this one will find that it was cancelled, and do nothing
            return Report(Phase.OVER, "stopped before it began", Ending.CANCELLED)
        case "PENDING":
            return Report(Phase.WAITING, said)
        case "RUNNING":
            return Report(Phase.RUNNING)
        case "STOPPED":
            return Report(Phase.OVER, said, Ending.CANCELLED)
    # without a machine it never began: what breaks each start is no interruption
    interrupted = error == NO_ROOM or (error in DIED and job.get("driver_node_id"))
    return Report(Phase.OVER, said, Ending.INTERRUPTED if interrupted else Ending.UNKNOWN)


def _said(job: dict[str, Any]) -> str:
    """Ray's message; of a command that failed its exit code and what it printed, without the command itself."""
    message = str(job.get("message") or "")
    _, command, printed = message.rpartition(str(job.get("entrypoint") or message))
    if command and command != message:
        message = f"exit code {job.get('driver_exit_code')}\n{printed}"
    return message.strip()[-REASON:]

"""Two MCP servers on one runs directory, asked for the same things at the same moments."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from findings import Findings
from small_sessions import accepted_session
from stdio_client import StdioClient
from watching import left

from p2p.contracts.job import JobState
from p2p.service.progress.job_views import list_jobs
from p2p.service.progress.listing import list_sessions
from p2p.service.workspace import Workspace
from p2p.settings import Settings


def two_servers(count: int, place: Path) -> Findings:
    """`count` trainings, each asked for, steered and followed through both servers at once."""
    findings = Findings()
    findings.watch_for("lost", "doubled", "unclear errors", "processes left")
    ws = Workspace(Settings(runs_dir=place))
    with StdioClient(place) as first, StdioClient(place) as second, ThreadPoolExecutor(2) as both:
        servers = (first, second)
        list(both.map(StdioClient.greet, servers))
        for number in range(count):
            session_id = accepted_session(ws)
            _train_once(session_id, number, servers, both, findings)
            _steer(session_id, servers, both, findings, ws)
            findings.count("trainings")
    if len(list_jobs(ws)) != count or len(list_sessions(ws)) != count:
        findings.went_wrong("doubled", f"{len(list_jobs(ws))} jobs of {count}")
    for pid in left(place):
        findings.went_wrong("processes left", str(pid))
    return findings


def _train_once(
    session_id: str, number: int, servers: tuple[StdioClient, ...], both: ThreadPoolExecutor, findings: Findings
) -> None:
    """The same start by the same key through both; one with another key must be told that it is too late."""
    request: dict[str, Any] = {"session_id": session_id, "timesteps": 2000, "idempotency_key": f"key {number}"}
    answers = list(both.map(lambda server: server.call("train_iteration", **request), servers))
    jobs = {answer["job_id"] for answer in answers}
    if len(jobs) != 1:
        findings.went_wrong("doubled", f"{session_id}: {jobs}")
    try:
        other = servers[number % 2].call("train_iteration", **request | {"idempotency_key": f"other {number}"})
        findings.went_wrong("doubled", f"{session_id}: {other['job_id']} beside {jobs}")
    except RuntimeError as error:
        if "trained already" not in str(error):
            findings.went_wrong("unclear errors", str(error))
    job_id = jobs.pop()
    while True:
        states = list(both.map(lambda server: server.call("get_job", job_id=job_id, wait_seconds=20)["state"], servers))
        if all(JobState(state).finished for state in states):
            break
    if states != [JobState.COMPLETED] * 2:
        findings.went_wrong("lost", f"{job_id} ended as {states}")


def _steer(
    session_id: str,
    servers: tuple[StdioClient, ...],
    both: ThreadPoolExecutor,
    findings: Findings,
    ws: Workspace,
) -> None:
    """What is said through both at once is all there, in one order."""
    asked = [(server, f"wish {i} of server {n}") for i in range(5) for n, server in enumerate(servers)]
    for number in range(0, len(asked), 2):
        list(
            both.map(
                lambda pair: pair[0].call("steer_session", session_id=session_id, wish=pair[1]),
                asked[number : number + 2],
            )
        )
    said = sorted(wish.text for wish in ws.record(session_id).read_wishes())
    if said != sorted(text for _, text in asked):
        findings.went_wrong("lost", f"wishes of {session_id}: {said}")
    numbers = [event.seq for event in ws.record(session_id).events.read()]
    if numbers != list(range(1, len(numbers) + 1)):
        findings.went_wrong("lost", f"events of {session_id}: {numbers}")
    findings.count("wishes", len(asked))

"""`kill -9` of the MCP server at random moments, while a client begins sessions, trains, follows and cancels.

The client keeps what it was told. At the end that is held against the directories: nothing it was told of is lost, and
nothing it asked for once was done twice.
"""

import json
import random
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from findings import Findings
from small_sessions import FAILING, REWARD, TINY, accepted_session
from stdio_client import ServerGone, StdioClient
from watching import left, until

from p2p.contracts.errors import TrainingFailed
from p2p.contracts.job import JobState
from p2p.service.progress.job_views import job_log, list_jobs
from p2p.service.progress.listing import list_sessions
from p2p.service.workspace import Workspace
from p2p.settings import Settings

READY_WITHIN_S = 1.0
UNDER_WAY = 4
"""Trainings that the client follows at a time."""
ENDS = {
    "completes": ("completed", 0),
    "fails": ("failed", TrainingFailed.exit_code),
    "is cancelled": ("cancelled", None),
}
BEGUN = "waiting for its turn"
"""What the process of a job says once, when it begins."""


def server_kills(count: int, place: Path) -> Findings:
    """A client that works through `count` deaths of its server."""
    findings = Findings()
    findings.watch_for("lost", "doubled", "wrong exit codes", "orphans")
    client = _Client(place, random.Random(0))
    for _ in range(count):
        _serve_and_kill(client, place, findings)
        findings.count("kills")
    with StdioClient(place) as server:
        server.greet()
        client.finish(server)
    findings.count("trainings", len(client.works))
    findings.count("sessions begun through it", client.begun)
    _compare(client, Workspace(Settings(runs_dir=place)), findings)
    for pid in left(place):
        findings.went_wrong("orphans", str(pid))
    if (usual := median(findings.times_s["ready"])) > READY_WITHIN_S:
        findings.went_wrong("later than 1 s", f"ready after {usual:.2f} s")
    return findings


def _serve_and_kill(client: "_Client", place: Path, findings: Findings) -> None:
    begun = time.monotonic()
    with StdioClient(place) as server:
        server.greet()
        findings.took("ready", time.monotonic() - begun)
        server.call("list_jobs")
        findings.took("first answer", time.monotonic() - begun)
        killer = threading.Timer(client.dice.uniform(0.0, 2.0), server.process.kill)
        killer.start()
        with suppress(ServerGone):
            while True:
                client.step(server)
        killer.join()


@dataclass
class _Work:
    """A training that the client wants, and what it was told of it."""

    key: str
    session_id: str
    end: str
    ready: bool
    """Whether its reward has been accepted."""
    job_id: str | None = None
    state: str | None = None
    """The last one, once it has ended."""


class _Client:
    """Asks for one thing after the other, and asks again for what was not answered."""

    def __init__(self, place: Path, dice: random.Random) -> None:
        self.dice, self.works, self.begun = dice, list[_Work](), 0
        self._ws = Workspace(Settings(runs_dir=place))

    def step(self, server: StdioClient) -> None:
        """The next request."""
        open_works = [work for work in self.works if work.state is None]
        if len(open_works) < UNDER_WAY:
            self._begin(server)
        else:
            self._go_on(server, self.dice.choice(open_works))

    def finish(self, server: StdioClient) -> None:
        """Follow everything to its end."""
        for work in self.works:
            while work.state is None:
                self._go_on(server, work)

    def _begin(self, server: StdioClient) -> None:
        end = self.dice.choice(("completes", "completes", "completes", "fails", "is cancelled"))
        key = f"key {len(self.works)}"
        if end == "completes" and self.dice.random() < 0.3:
            session = {"intent": "keep the pole balanced", "environment": "InvertedPendulum-v5", "n_seeds": 1}
            answer = server.call("create_session", **session, config=TINY, confirm_criteria=False)
            self.works.append(_Work(key, answer["session_id"], end, ready=False))
            self.begun += 1
        else:
            session_id = accepted_session(self._ws, reward=FAILING if end == "fails" else REWARD)
            self.works.append(_Work(key, session_id, end, ready=True))

    def _go_on(self, server: StdioClient, work: _Work) -> None:
        if not work.ready:
            work.ready = server.call("write_reward", session_id=work.session_id, source=REWARD)["accepted"]
        elif work.job_id is None:
            answer = server.call(
                "train_iteration", session_id=work.session_id, timesteps=2000, idempotency_key=work.key
            )
            work.job_id = answer["job_id"]
        elif work.end == "is cancelled" and self.dice.random() < 0.3:
            self._end(work, server.call("cancel_job", job_id=work.job_id))
        else:
            self._end(work, server.call("get_job", job_id=work.job_id, wait_seconds=self.dice.choice((0, 0, 1))))

    def _end(self, work: _Work, answer: dict[str, str]) -> None:
        if JobState(answer["state"]).finished:
            work.state = answer["state"]


def _compare(client: _Client, ws: Workspace, findings: Findings) -> None:
    """What the client was told, against what there is."""
    sessions = {view.session.session_id for view in list_sessions(ws)}
    jobs = list_jobs(ws)
    for work in client.works:
        of_session = [view.job_id for view in jobs if view.session_id == work.session_id]
        if work.session_id not in sessions or work.job_id not in of_session:
            findings.went_wrong("lost", f"{work}")
            continue
        assert work.job_id is not None, "it is one of those of the session"
        lives = job_log(ws, work.job_id)[0].count(BEGUN)
        if len(of_session) > 1 or lives > 1 or (lives == 0 and work.state != JobState.CANCELLED):
            findings.went_wrong("doubled", f"{work}: jobs {of_session}, {lives} lives")
        _compare_end(work, ws, findings)


def _compare_end(work: _Work, ws: Workspace, findings: Findings) -> None:
    directory = ws.jobs.new(work.job_id or "").path
    status = until(lambda: _ended(directory / "status.json"), 30)
    allowed = [ENDS[work.end], *([ENDS["completes"]] if work.end == "is cancelled" else [])]
    found = status["state"], status.get("exit_code")
    told_right = work.state == status["state"]
    if not told_right or not any(
        found == (state, code) or (code is None and found[0] == state) for state, code in allowed
    ):
        findings.went_wrong("wrong exit codes", f"{work}: {status}")
    run = next(iter(ws.record(work.session_id).iteration(1).runs()), None)
    steps = [row["global_step"] for row in run.parse_scalars()[0]] if run is not None else []
    if steps != sorted(set(steps)):
        findings.went_wrong("doubled", f"{work}: steps {steps}")


def _ended(path: Path) -> dict[str, str | int]:
    status: dict[str, str | int] = json.loads(path.read_bytes())
    return status if JobState(status["state"]).finished else {}

"""Files of real sessions broken in every way, one at a time: does every reader answer, and is nothing else lost?"""

import logging
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from findings import Findings
from mcp.client import Client
from mcp.types import CallToolResult
from mutations import mutated
from small_sessions import TINY, accepted_session
from watching import processes_of, until

from p2p.contracts.errors import P2PError
from p2p.contracts.session import NewSession
from p2p.service.jobs.ending import end_film
from p2p.service.judging.caller_judgment import judge_evidence
from p2p.service.pictures.artefacts import metrics_table, read_reward
from p2p.service.progress.details import view_iteration, why_it_stopped
from p2p.service.progress.job_views import find_job, job_log, list_jobs, wait_for_job
from p2p.service.progress.listing import find_session, list_sessions
from p2p.service.progress.metrics import metrics
from p2p.service.progress.session_view import view_session
from p2p.service.rewards.caller_revision import revision_brief
from p2p.service.sessions.background import cancel_job, start_loop, start_training
from p2p.service.sessions.lifecycle import create_session
from p2p.service.sessions.steering import steer, wishes
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p_mcp.server import build_server

PATTERNS = ("*.json", "*.jsonl", "*.db", "*.sqlite", "*.sqlite3")
Readers = dict[str, Callable[[], object]]
TRAINED = NewSession(
    prompt="keep the pole balanced for 2 seconds",
    env_id="InvertedPendulum-v5",
    n_seeds=1,
    max_iterations=2,
    pass_threshold=1.0,
    n_report_rollouts=10,
    config=TINY,
)


def broken_files(count: int, place: Path) -> Findings:
    """`count` mutations."""
    findings = Findings()
    findings.watch_for("tracebacks", "unnamed files", "other records lost")
    logging.disable(logging.CRITICAL)  # of the server in this process, which logs what it tells
    ws = Workspace(Settings(runs_dir=place))
    trained, other = _sessions(ws)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(build_server(ws))) as client:
        readers = _readers(ws, trained) | _tools(ws, trained, partial(portal.call, client.call_tool))
        _break(count, ws, other, readers, findings)
    logging.disable(logging.NOTSET)
    return findings


def _break(count: int, ws: Workspace, other: str, readers: Readers, findings: Findings) -> None:
    place = ws.runs.path
    victims, intact = _victims(place, other), _others(ws, other)
    dice, names = random.Random(0), sorted({path.name for path in victims})
    for _ in range(count):
        name = dice.choice(names)
        path = dice.choice([victim for victim in victims if victim.name == name])
        old = path.read_bytes()
        new = mutated(old, path.suffix, dice)
        _replace(path, new)
        try:
            _read_all(readers, path, new, findings)
            if _others(ws, other) != intact:
                findings.went_wrong("other records lost", f"{path.relative_to(place)}: {new[:100]!r}")
        finally:
            _replace(path, old)
        findings.count("mutations")
    findings.count("readers of each", len(readers))
    findings.count("kinds of files", len(names))


def _sessions(ws: Workspace) -> tuple[str, str]:
    """One that has been through two iterations as a background job, and one that waits to be trained again."""
    trained = create_session(ws, TRAINED).session_id
    steer(ws, trained, "softer")
    job = start_loop(ws, trained).job_id
    while not wait_for_job(ws, job).state.finished:
        pass
    end_film(ws, ws.record(trained))  # it gives way to all other work, and would be waited for
    until(lambda: not processes_of(ws.runs.path), 400)
    ws.record(trained).update_metadata(alias="first", tags=("a",))
    other = accepted_session(ws)
    cancel_job(ws, start_training(ws, other).job_id)
    return trained, other


def _victims(place: Path, other: str) -> list[Path]:
    """All files but those of the other session and its job."""
    jobs = place / "jobs"
    spared = {place / other, *(path.parent for path in jobs.glob("*/ticket.json") if other in path.read_text())}
    found = sorted(path for pattern in PATTERNS for path in place.rglob(pattern))
    return [path for path in found if not spared.intersection(path.parents)]


def _readers(ws: Workspace, session_id: str) -> Readers:
    """What a client, a person or a page may ask about the trained session."""
    job_id = list_jobs(ws, session_id)[0].job_id
    record = ws.record(session_id)
    return {
        "view_session": lambda: view_session(ws, session_id),
        "find_session": lambda: find_session(ws, "latest"),
        "view_iteration": lambda: view_iteration(ws, session_id, 1),
        "why_it_stopped": lambda: why_it_stopped(ws, session_id),
        "metrics": lambda: metrics(ws, session_id),
        "metrics_table": lambda: metrics_table(ws, session_id, 1),
        "read_reward": lambda: read_reward(ws, session_id, 1),
        "revision_brief": lambda: revision_brief(ws, session_id),
        "judge_evidence": lambda: judge_evidence(ws, session_id, 1),
        "wishes": lambda: wishes(ws, session_id),
        "events": record.events.read,
        "lineage": record.read_lineage,
        "find_job": lambda: find_job(ws, "latest"),
        "job_log": lambda: job_log(ws, job_id),
    }


def _tools(ws: Workspace, session_id: str, call_tool: Callable[[str, dict[str, Any]], CallToolResult]) -> Readers:
    """Tools of the server that ask about it: what they say of an error must have words."""
    job_id = list_jobs(ws, session_id)[0].job_id
    tools: dict[str, dict[str, Any]] = {
        "list_sessions": {},
        "get_session": {"session_id": session_id},
        "list_jobs": {},
        "get_job": {"job_id": job_id},
        "get_metrics": {"session_id": session_id},
        "compare_iterations": {"session_id": session_id, "first": 1, "second": 2},
        "read_dashboard": {"session_id": session_id},
    }

    def call(name: str) -> None:
        result = call_tool(name, tools[name])
        if result.is_error:
            words = str(getattr(result.content[0], "text", "")).removeprefix(f"Error executing tool {name}").strip(": ")
            raise P2PError(words) if words else RuntimeError(f"{name} failed without words")

    return {f"tool {name}": partial(call, name) for name in tools}


def _read_all(readers: Readers, path: Path, new: bytes, findings: Findings) -> None:
    """Ask for everything; what is refused must be refused with the name of the file, or of what it holds."""
    for name, read in readers.items():
        try:
            read()
        except P2PError as error:
            findings.count("answers refused in words")
            if name == "view_session" and path.name not in str(error):
                findings.went_wrong("unnamed files", f"{path.name}: {error}")
        except Exception as error:
            place = f"{path.parent.name}/{path.name}"
            findings.went_wrong("tracebacks", f"{name}, {place} = {new[:200]!r}: {error!r} {_where(error)}")


def _where(error: BaseException) -> str:
    """Where our own code was."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " ".join(frames[-4:])


def _others(ws: Workspace, other: str) -> tuple[object, ...]:
    """What is said of the other session, alone and among all."""
    alone = view_session(ws, other)
    listed = [view for view in list_sessions(ws) if view.session.session_id == other]
    return alone, tuple(listed), tuple(view for view in list_jobs(ws) if view.session_id == other)


def _replace(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.mutated")
    temporary.write_bytes(content)
    temporary.replace(path)

"""`p2p jobs`: trainings that go on by themselves."""

from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from p2p.cli.completion import complete_job
from p2p.cli.formats import age, short_path
from p2p.cli.options import AsJson, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.cli.tables import table
from p2p.cli.verdict import runs
from p2p.contracts.background import JobView
from p2p.contracts.job import in_words
from p2p.contracts.remedies import end_of
from p2p.service.progress.job_views import find_job, get_job, job_log, list_jobs
from p2p.service.sessions.background import cancel_job

JOBS_EXAMPLES = examples("p2p jobs", "p2p jobs latest", "p2p jobs job_1a2b --cancel")
LOG_TAIL = 2000
"""Characters of a job's log that are shown."""

JobId = Annotated[
    str | None,
    typer.Argument(
        metavar="[JOB]",
        help="One job, with the end of its log: its id, the beginning or end of one, or `latest`.",
        autocompletion=complete_job,
    ),
]
Cancel = Annotated[bool, typer.Option("--cancel", help="Cancel it and everything it started; finished work is kept.")]


def jobs(job: JobId = None, cancel: Cancel = False, as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """List background jobs, newest first; or show or cancel one."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    if job is None:
        views = list_jobs(ws)
        empty = f"No background jobs in {short_path(ws.runs.path)}. Sessions started in a terminal: p2p list"
        found = {"jobs": [view.model_dump(mode="json") for view in views]}
        output.result(found, job_table(views) if views else empty)
        return
    job_id = find_job(ws, job)
    view = cancel_job(ws, job_id) if cancel else get_job(ws, job_id)
    log, _ = job_log(ws, job_id)
    parts: list[RenderableType] = [runs(view.runs)] if view.runs else []
    if view.waiting is not None:
        parts.append(Text(in_words(view.waiting), style="yellow"))
    if view.error:
        parts.append(Text(view.error, style="red"))
    output.result(view, job_table((view,)), *parts, Text(end_of(log, LOG_TAIL), style="dim"))


def job_table(views: tuple[JobView, ...]) -> Table:
    """One row per job."""
    made = table("job", "does", "session", "state", "steps", "age", right=("job", "session", "steps", "age"))
    made.columns[0].justify = made.columns[2].justify = "left"
    for view in views:
        place = view.waiting.place if view.waiting is not None else None
        state = str(view.state) if place is None else f"{view.state}, {place} in line"
        steps = f"{view.step:,} of {view.total:,}"
        made.add_row(view.job_id, str(view.kind), view.session_id, state, steps, age(view.created_at))
    return made

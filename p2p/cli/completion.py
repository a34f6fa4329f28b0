"""What the shell offers after a Tab."""

from pathlib import Path

import typer

from p2p.contracts.errors import P2PError
from p2p.contracts.export import ExportFormat
from p2p.service.progress.job_views import list_jobs
from p2p.service.progress.listing import list_sessions
from p2p.service.training.environments import list_environments
from p2p.service.workspace import Workspace
from p2p.settings import Settings


def complete_session(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Ids of the sessions, each with its sentence."""
    offers = [("latest", "the newest session")]
    try:
        views = list_sessions(_ws(context))
    except (P2PError, OSError):
        return offers
    offers += [(view.session.session_id, view.session.prompt) for view in views]
    return [(name, text) for name, text in offers if name.startswith(incomplete)]


def complete_job(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Ids of the jobs, each with what it does and how it stands."""
    offers = [("latest", "the newest job")]
    try:
        views = list_jobs(_ws(context))
    except (P2PError, OSError):
        return offers
    offers += [(view.job_id, f"{view.kind} of {view.session_id}, {view.state}") for view in views]
    return [(name, text) for name, text in offers if name.startswith(incomplete)]


def complete_format(incomplete: str) -> list[str]:
    """Formats of an export."""
    return [name for name in ExportFormat if name.startswith(incomplete)]


def complete_environment(incomplete: str) -> list[tuple[str, str]]:
    """Ids of the described environments."""
    known = ((spec.env_id, spec.description) for spec in list_environments())
    return [(name, text) for name, text in known if name.startswith(incomplete)]


def _ws(context: typer.Context) -> Workspace:
    chosen = context.params.get("runs_dir")
    return Workspace(Settings.from_environment(Path(chosen) if chosen else None))

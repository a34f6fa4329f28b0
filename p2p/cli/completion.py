"""What the shell offers after a Tab.

Every command imports these functions with its options, so what they need is imported where they are called.
"""
# ruff: noqa: PLC0415

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from p2p.contracts.errors import P2PError

if TYPE_CHECKING:
    from p2p.service.workspace import Workspace


def complete_session(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Ids of the sessions, each with its sentence."""
    from p2p.service.progress.listing import list_sessions

    offers = [("latest", "the newest session")]
    try:
        views = list_sessions(_ws(context))
    except (P2PError, OSError):
        return offers
    offers += [(view.session.session_id, view.session.prompt) for view in views]
    return [(name, text) for name, text in offers if name.startswith(incomplete)]


def complete_job(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Ids of the jobs, each with what it does and how it stands."""
    from p2p.service.progress.job_views import list_jobs

    offers = [("latest", "the newest job")]
    try:
        views = list_jobs(_ws(context))
    except (P2PError, OSError):
        return offers
    offers += [(view.job_id, f"{view.kind} of {view.session_id}, {view.state}") for view in views]
    return [(name, text) for name, text in offers if name.startswith(incomplete)]


def complete_format(incomplete: str) -> list[str]:
    """Formats of an export."""
    from p2p.contracts.work import ExportFormat

    return [name for name in ExportFormat if name.startswith(incomplete)]


def complete_environment(incomplete: str) -> list[tuple[str, str]]:
    """Ids of the described environments."""
    from p2p.service.training.environments import list_environments

    known = ((spec.env_id, spec.description) for spec in list_environments())
    return [(name, text) for name, text in known if name.startswith(incomplete)]


def _ws(context: typer.Context) -> "Workspace":
    from p2p.service.workspace import Workspace
    from p2p.settings import Settings

    chosen = context.params.get("runs_dir")
    return Workspace(Settings.from_environment(Path(chosen) if chosen else None))

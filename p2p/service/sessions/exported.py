"""Exports that a session already has."""

from pathlib import Path

from p2p.contracts.errors import UnknownName
from p2p.contracts.work import ExportReport
from p2p.service.workspace import Workspace
from p2p.store.exports import ExportedFiles
from p2p.store.untrusted_files import is_enclosed, is_readable


def list_exports(ws: Workspace, session_id: str) -> dict[str, ExportReport]:
    """Finished exports in a session's own folder: name -> its report.

    Raises:
        UnknownName: there is no such session.
    """
    folders = sorted(path for path in ws.record(session_id).exports_dir.glob("[!.]*") if path.is_dir())
    reports = ((path.name, ExportedFiles(path).read_report()) for path in folders)
    return {name: report for name, report in reports if report is not None}


def export_files(ws: Workspace, session_id: str, name: str) -> dict[str, Path]:
    """The files of an export: name -> file.

    Raises:
        UnknownName: there is no such session or export.
    """
    known = list_exports(ws, session_id)
    if name not in known:
        raise UnknownName("export", name, known)
    found = ExportedFiles(ws.record(session_id).exports_dir / name).present()
    return {path.name: path for path in found if is_enclosed(path) and is_readable(path)}

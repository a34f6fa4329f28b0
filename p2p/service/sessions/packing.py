"""What sessions have to show, as the files of one archive."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

from p2p.contracts.errors import InvalidInput
from p2p.service.pictures.artefacts import media
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.exported import export_files, list_exports
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.iterations import IterationRecord
from p2p.store.untrusted_files import is_enclosed, is_readable

MOST_SESSIONS = 100


def result_files(ws: Workspace, session_ids: Sequence[str]) -> dict[str, Path]:
    """Criteria, reward, verdict, curves, pictures and videos of the best iterations, and all finished exports.

    Returns:
        Name in an archive -> file; the names are those that the files have in the runs directory.

    Raises:
        UnknownName: there is no such session.
        InvalidInput: none is named, or more than `MOST_SESSIONS`.
    """
    if not 0 < len(session_ids) <= MOST_SESSIONS:
        raise InvalidInput(f"Name 1 to {MOST_SESSIONS} sessions to pack; {len(session_ids)} are named.")
    found: list[Path] = []
    for session_id in dict.fromkeys(session_ids):
        record = ws.record(session_id)
        found += [record.session_path, record.criteria_path]
        best = view_session(ws, session_id).best_iteration
        if best is not None:
            iteration = record.iteration(best)
            found += [iteration.reward_fn_path, iteration.judgment_path]
            if (aggregation := iteration.read_aggregation()) is not None:
                run = IterationRecord(iteration.path / aggregation.best_run_id)
                found += [run.config_path, run.scalars_path]
            found += [*media(ws, session_id, best, "frames").values(), *media(ws, session_id, best, "videos").values()]
        for name in list_exports(ws, session_id):
            found += export_files(ws, session_id, name).values()
    return {str(path.relative_to(ws.runs.path)): path for path in found if is_enclosed(path) and is_readable(path)}


def pack(ws: Workspace, session_ids: Sequence[str], output: Path) -> int:
    """Write the files of `result_files` into a ZIP archive; return how many there are.

    Raises:
        UnknownName: there is no such session.
        InvalidInput: none is named, or more than `MOST_SESSIONS`.
        StorageProblem: the archive cannot be written.
    """
    packed = result_files(ws, session_ids)
    with files.replacing(output) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in packed.items():
            archive.write(path, name)
    return len(packed)

"""Which directories a verb of the worker needs, as its request names them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from p2p.store.calibration import ClipsRecord, ClipVideoRecord
from p2p.store.evaluations import ReportRecord
from p2p.store.exports import ExportRecord
from p2p.store.iterations import IterationRecord
from p2p.store.measurements import MeasurementRecord
from p2p.store.views import ViewRecord

RUN_CODE = {"train", "probe_reward", "learn", "check", "call", "measure", "evaluate", "export"}
"""Verbs that execute code which may be a model's, in a host."""


@dataclass(frozen=True)
class Places:
    """What a verb may write, the job's own directory first, and what it may read."""

    writable: tuple[Path, ...]
    readable: tuple[Path, ...] = ()


def places_of(verb: str, job_dir: Path) -> Places:
    """Places of a verb; an unreadable request names none, and the verb itself will say so."""
    return _BY_VERB.get(verb, _own)(job_dir)


def _own(job_dir: Path) -> Places:
    return Places((job_dir,))


def _film(job_dir: Path) -> Places:
    request = IterationRecord(job_dir).read_film_request()
    return Places((job_dir, *_named(job_dir, request.runs if request else ())))


def _evaluate(job_dir: Path) -> Places:
    request = ReportRecord(job_dir).read_request()
    runs = (request.run_dir, *request.sibling_runs) if request else ()
    return Places((job_dir,), _named(job_dir, runs))


def _view(job_dir: Path) -> Places:
    request = ViewRecord(job_dir).read_picture_request()
    names = [name for shown in request.rollouts for name in (shown.run_dir, shown.trajectory)] if request else ()
    return Places((job_dir,), _named(job_dir, names))


def _plot(job_dir: Path) -> Places:
    request = ViewRecord(job_dir).read_plot_request()
    names = [name for iteration in request.iterations for name in iteration.runs] if request else ()
    return Places((job_dir,), _named(job_dir, names))


def _export(job_dir: Path) -> Places:
    """The run, and the judgment and report of its iteration, in the directory above it."""
    request = ExportRecord(job_dir).read_request()
    return Places((job_dir,), tuple(path.parent for path in _named(job_dir, [request.run_dir] if request else ())))


def _measure(job_dir: Path) -> Places:
    request = MeasurementRecord(job_dir).read_request()
    return Places((job_dir,), _named(job_dir, request.beside if request else ()))


def _clips(job_dir: Path) -> Places:
    request = ClipsRecord(job_dir).read_request()
    return Places((job_dir,), _named(job_dir, request.policies if request else ()))


def _clip_video(job_dir: Path) -> Places:
    request = ClipVideoRecord(job_dir).read_request()
    return Places((job_dir,), _named(job_dir, (request.clips,) if request else ()))


def _named(job_dir: Path, names: "tuple[str, ...] | list[str]") -> tuple[Path, ...]:
    return tuple((job_dir / name).resolve() for name in names)


_BY_VERB: dict[str, Callable[[Path], Places]] = {
    "clips": _clips,
    "clip_video": _clip_video,
    "film": _film,
    "evaluate": _evaluate,
    "view": _view,
    "plot": _plot,
    "export": _export,
    "measure": _measure,
}

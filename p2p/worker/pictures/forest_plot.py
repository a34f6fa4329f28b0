"""Verb `forest`: differences with their intervals, one below the other."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from p2p.contracts.errors import InvalidInput
from p2p.contracts.suite_comparison import ForestRow
from p2p.store.files import replacing
from p2p.store.suite_comparisons import ForestRecord
from p2p.worker.pictures.frame_labels import one_line

WIDTH, ROW, MARGIN, DPI = 8.0, 0.3, 1.3, 120
"""Of the figure, of one row and of what surrounds the rows [inch]."""
INK, FAINT, BETTER, WORSE, OPEN = "#333333", "#6b7683", "#2f8f5b", "#c0392b", "#1f5fa8"
LEAST_SPAN = 0.1
"""Half of the axis, at least."""


def forest(job_dir: Path) -> None:
    """Draw the forest plot that the request in `job_dir` asks for.

    Raises:
        InvalidInput: the request is missing, or has no row.
        StorageProblem: the file cannot be written.
    """
    record = ForestRecord(job_dir)
    request = record.read_request()
    if request is None or not request.rows:
        raise InvalidInput(f"{job_dir} holds no readable request with differences to draw.")
    places = _places(request.rows)
    height = MARGIN + ROW * (places[-1][0] + 1)
    figure = Figure(figsize=(WIDTH, height), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for place, row in places:
        _draw(axes, place, row)
    span = max(LEAST_SPAN, *(max(abs(row.low), abs(row.high)) for row in request.rows)) * 1.08
    axes.set_xlim(-span, span)
    axes.set_ylim(places[-1][0] + 0.7, -0.9)
    axes.axvline(0.0, color=INK, linewidth=0.8)
    axes.set_yticks([place for place, _ in places], [one_line(row.label) for _, row in places], fontsize=8)
    axes.set_xlabel(one_line(request.axis), fontsize=8)
    axes.xaxis.set_major_formatter(lambda value, _place: f"{100 * value:+.0f}" if value else "0")
    axes.tick_params(axis="x", labelsize=8)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    _name_groups(axes, places, -span)
    figure.suptitle(one_line(request.title), fontsize=9.5, x=0.01, ha="left")
    with replacing(record.plot_path) as temporary:
        figure.savefig(temporary, format="png")


def _places(rows: Sequence[ForestRow]) -> list[tuple[float, ForestRow]]:
    """Height of each row; a new group leaves room for its name."""
    places: list[tuple[float, ForestRow]] = []
    height = 0.0
    for index, row in enumerate(rows):
        if index:
            height += 1.0 if row.group == rows[index - 1].group else 2.0
        places.append((height, row))
    return places


def _draw(axes: Axes, place: float, row: ForestRow) -> None:
    colour = BETTER if row.low > 0 else WORSE if row.high < 0 else OPEN
    axes.plot([row.low, row.high], [place, place], color=colour, linewidth=2.6 if row.main else 1.4)
    size = 7.0 if row.main else 4.5
    axes.plot([row.mean], [place], marker="D" if row.main else "o", markersize=size, color=colour)
    mean, low, high = (100 * value for value in (row.mean, row.low, row.high))
    text = f"{mean:+.0f} [{low:+.0f}, {high:+.0f}] points, {row.n_cases} cases"
    axes.annotate(
        text, (1.01, place), xycoords=("axes fraction", "data"), fontsize=7.5, va="center", color=INK, in_layout=True
    )


def _name_groups(axes: Axes, places: Sequence[tuple[float, ForestRow]], left: float) -> None:
    seen = set[str]()
    for place, row in places:
        if row.group and row.group not in seen:
            name = axes.text(left, place - 0.75, one_line(row.group), fontsize=8, fontweight="bold", va="center")
            name.set(color=FAINT, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0}, zorder=3)
        seen.add(row.group)

"""The learning curves of an iteration's runs on one picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, PercentFormatter

from p2p.store.files import replacing

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""Name of a run -> its rows of `scalars.jsonl`, in order."""

SIZE, DPI = (9.6, 4.2), 110
COLOURS = ("#1f5fa8", "#d1722a", "#2f8f5b", "#a83a6b", "#7a5cc0", "#8a6d3b", "#3a9db0", "#666666")


def write_learning_curve(path: Path, training: Rows, evaluations: Rows, title: str) -> None:
    """Write a PNG: training return over steps, and the success on selection rollouts where it was measured.

    Args:
        path: The .png file; it appears when it is complete.
        training: Training rows per run: `global_step`, `episodic_return`, `episodic_return_min`, `…_max`.
        evaluations: Evaluation rows per run: `global_step`, `mean_return`, `success_rate`. Any value but the
            step may be None or absent.
        title: Written above.

    Raises:
        StorageProblem: the file cannot be written.
    """
    judged = any(row.get("success_rate") is not None for rows in evaluations.values() for row in rows)
    figure = Figure(figsize=SIZE, dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=11, x=0.01, ha="left", parse_math=False)
    axes = figure.subplots(1, 2, width_ratios=(3, 2), squeeze=False)[0] if judged else [figure.subplots()]
    for number, run in enumerate(training):
        colour = COLOURS[number % len(COLOURS)]
        _draw_returns(axes[0], training[run], evaluations.get(run, ()), colour, run)
        if judged:
            _draw_success(axes[1], evaluations.get(run, ()), colour, run)
    _finish(axes[0], "episode return: line in training, dots in evaluation")
    if judged:
        axes[1].set_ylim(-0.03, 1.03)
        axes[1].yaxis.set_major_formatter(PercentFormatter(1.0))
        _finish(axes[1], "success on selection rollouts")
    with replacing(path) as temporary:
        figure.savefig(temporary)


def _draw_returns(
    axes: Axes, training: Sequence[Mapping[str, Any]], evaluations: Sequence[Mapping[str, Any]], colour: str, run: str
) -> None:
    steps, returns = _column(training, "episodic_return")
    axes.plot(steps, returns, color=colour, linewidth=1.4, label=run)
    low, high = (_column(training, f"episodic_return_{end}") for end in ("min", "max"))
    if low[0] and low[0] == high[0]:
        axes.fill_between(low[0], low[1], high[1], color=colour, alpha=0.12, linewidth=0)
    axes.plot(*_column(evaluations, "mean_return"), "o", color=colour, markersize=4, markeredgecolor="white")


def _draw_success(axes: Axes, evaluations: Sequence[Mapping[str, Any]], colour: str, run: str) -> None:
    steps, success = _column(evaluations, "success_rate")
    axes.plot(steps, success, "o-", color=colour, linewidth=1.2, markersize=4, label=run, clip_on=False)


def _column(rows: Sequence[Mapping[str, Any]], name: str) -> tuple[list[float], list[float]]:
    """Steps and values of the rows that have a value."""
    known = [(float(row["global_step"]), float(row[name])) for row in rows if row.get(name) is not None]
    return [step for step, _ in known], [value for _, value in known]


def _finish(axes: Axes, title: str) -> None:
    axes.set_title(title, fontsize=9.5, loc="left")
    axes.set_xlabel("environment steps", fontsize=9)
    axes.xaxis.set_major_formatter(EngFormatter(sep=" "))
    axes.set_xlim(left=0)
    axes.tick_params(labelsize=8.5)
    axes.grid(visible=True, color="#e6e6e6", linewidth=0.7)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if axes.lines:
        axes.legend(fontsize=8, frameon=False, loc="best")

"""Plots of trainings, each one picture: returns, reward terms, learner metrics, two iterations."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, PercentFormatter
from numpy.typing import NDArray
from PIL import Image

from p2p.contracts.work import MetricsPlot
from p2p.store.files import replacing

Rows = Sequence[Mapping[str, Any]]
Floats = NDArray[np.float64]
Curve = tuple[list[float], list[float]]
"""Steps and values."""

SIZE = (8.0, 4.4)
DPI = 100
COLOURS = ("#1f5fa8", "#d1722a", "#2f8f5b", "#a83a6b", "#7a5cc0", "#8a6d3b", "#3a9db0", "#666666")
DYNAMICS = {
    "approx_kl": "approx_kl: size of an update",
    "clip_fraction": "clip_fraction: share of clipped samples",
    "explained_variance": "explained_variance of the returns",
    "policy_std": "std of the actions",
}
"""Metric -> title."""
TERM = "reward_term_"
MOST_TERMS = 8
PALETTE = 256
"""Colours of the file: lines and letters need no more, and it is half as large."""
POINTS = 80
"""Most points of a curve in training; of more rollouts, means of as many in a row are drawn, which tremble less."""


class TrainedRun:
    """The metrics of one run.

    Args:
        name: In the legend.
        iteration: Name of the iteration it belongs to.
        training: Training rows, in order.
        evaluations: Evaluation rows, in order.
    """

    def __init__(self, name: str, iteration: str, training: Rows, evaluations: Rows) -> None:
        self.name = name
        self.iteration = iteration
        self._training = training
        self._evaluations = evaluations

    def trained(self, metric: str) -> Curve:
        """A metric of the rollouts, averaged over neighbours if there are many."""
        steps, values = _column(self._training, metric)
        every = max(1, -(-len(steps) // POINTS))
        groups = range(0, len(steps), every)
        ends = [steps[min(start + every, len(steps)) - 1] for start in groups]
        return ends, [float(np.mean(values[start : start + every])) for start in groups]

    def evaluated(self, metric: str) -> Curve:
        """A metric of the evaluations, where measured."""
        return _column(self._evaluations, metric)

    @property
    def terms(self) -> list[str]:
        """Names of the measured reward terms."""
        return [name.removeprefix(TERM) for name in (self._training[-1] if self._training else {}) if TERM in name]


def write_plot(path: Path, view: MetricsPlot, runs: Sequence[TrainedRun], title: str) -> None:
    """Write a plot as a PNG of 800 x 440 pixels.

    Args:
        path: The .png file; it appears when it is complete.
        view: What is plotted.
        runs: The runs; for reward terms and dynamics the best one first, which is drawn strongest.
        title: Written above.

    Raises:
        StorageProblem: the file cannot be written.
    """
    figure = Figure(figsize=SIZE, dpi=DPI, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    words = figure.suptitle(title, fontsize=10.5, x=0.01, ha="left", parse_math=False)
    while title and words.get_window_extent().x1 > figure.bbox.width:
        title = title[:-1]
        words.set_text(title.rstrip() + " …")
    draw = {MetricsPlot.CURVE: _draw_curve, MetricsPlot.TERMS: _draw_terms, MetricsPlot.DYNAMICS: _draw_dynamics}
    draw.get(view, _draw_comparison)(figure, runs)
    canvas.draw()  # type: ignore[no-untyped-call]  # matplotlib leaves it untyped
    page = Image.fromarray(np.array(canvas.renderer.buffer_rgba(), np.uint8)[..., :3])
    with replacing(path) as temporary:
        page.quantize(PALETTE, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
            temporary, optimize=True
        )


def _draw_curve(figure: Figure, runs: Sequence[TrainedRun]) -> None:
    """All seeds: line in training, dots in evaluation; success on selection rollouts where it was measured."""
    returns, success = _return_and_success(figure, runs)
    for run, colour in zip(runs, cycle(COLOURS), strict=False):
        low = run.trained("episodic_return_min")
        high = run.trained("episodic_return_max")
        if low[0] and low[0] == high[0]:
            returns.fill_between(low[0], low[1], high[1], color=colour, alpha=0.1, linewidth=0)
        _draw_run(returns, success, run, colour, run.name)
    _finish_return_and_success(returns, success, runs)


def _draw_comparison(figure: Figure, runs: Sequence[TrainedRun]) -> None:
    """All seeds of two iterations, one colour for each."""
    returns, success = _return_and_success(figure, runs)
    names = list(dict.fromkeys(run.iteration for run in runs))
    for name, colour in zip(names, COLOURS, strict=False):
        for number, run in enumerate(run for run in runs if run.iteration == name):
            _draw_run(returns, success, run, colour, name if number == 0 else "")
    _finish_return_and_success(returns, success, runs)


def _draw_terms(figure: Figure, runs: Sequence[TrainedRun]) -> None:
    """Mean of each reward term per step: the best run strong, the others pale."""
    axes = figure.subplots()
    largest: dict[str, float] = {}
    if runs:
        best = runs[0]
        largest = {term: max(map(abs, best.trained(TERM + term)[1]), default=0.0) for term in best.terms}
    shown = sorted(largest, key=lambda term: -largest[term])[:MOST_TERMS]
    for term, colour in zip(shown, COLOURS, strict=False):
        for number, run in enumerate(runs):
            axes.plot(*run.trained(TERM + term), color=colour, label="" if number else term, **_strength(number))
    hidden = len(largest) - len(shown)
    rest = f"; {hidden} smaller ones are not shown" if hidden else ""
    which = f": {runs[0].name} strong, other runs pale" if len(runs) > 1 else ""
    _finish(axes, f"mean of each reward term per step{which}{rest}")
    axes.axhline(0.0, color="#999999", linewidth=0.7)


def _draw_dynamics(figure: Figure, runs: Sequence[TrainedRun]) -> None:
    """Four numbers of the updates: the best run strong, the others pale."""
    for axes, (metric, title) in zip(figure.subplots(2, 2).flat, DYNAMICS.items(), strict=True):
        for number, run in enumerate(runs):
            axes.plot(*run.trained(metric), color=COLOURS[0], label="" if number else run.name, **_strength(number))
        if metric == "explained_variance":
            # From -1 at the lowest: early outliers would flatten the axis.
            axes.set_ylim(max(-1.0, axes.get_ylim()[0]), 1.03)
        _finish(axes, title, legend=metric == "approx_kl")


def _return_and_success(figure: Figure, runs: Sequence[TrainedRun]) -> tuple[Axes, Axes | None]:
    if any(run.evaluated("success_rate")[0] for run in runs):
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        return left, right
    return figure.subplots(), None


def _draw_run(returns: Axes, success: Axes | None, run: TrainedRun, colour: str, label: str) -> None:
    returns.plot(*run.trained("episodic_return"), color=colour, linewidth=1.3, label=label)
    returns.plot(*run.evaluated("mean_return"), "o", color=colour, markersize=4, markeredgecolor="white")
    if success is not None:
        known = run.evaluated("success_rate")
        success.plot(*known, "o-", color=colour, linewidth=1.2, markersize=4, label=label, clip_on=False)
        if (stars := _clear(run))[0]:  # a line of no points that is not clipped would break the layout
            success.plot(*stars, "*", color=colour, markersize=11, markeredgecolor="white", clip_on=False)


def _clear(run: TrainedRun) -> Curve:
    """Evaluations that passed clearly: after two in a row the training ended."""
    steps, clear = run.evaluated("clear")
    stars = {step for step, passed in zip(steps, clear, strict=True) if passed}
    known = [(step, success) for step, success in zip(*run.evaluated("success_rate"), strict=True) if step in stars]
    return [step for step, _ in known], [success for _, success in known]


def _finish_return_and_success(returns: Axes, success: Axes | None, runs: Sequence[TrainedRun]) -> None:
    _finish(returns, "episode return: line in training, dots in evaluation")
    if success is not None:
        success.set_ylim(-0.03, 1.03)
        success.yaxis.set_major_formatter(PercentFormatter(1.0))
        stars = "; star: clear" if any(_clear(run)[0] for run in runs) else ""
        _finish(success, f"success on selection rollouts{stars}", legend=False)


def _finish(axes: Axes, title: str, legend: bool = True) -> None:
    axes.set_title(title, fontsize=9, loc="left", parse_math=False)
    axes.set_xlabel("environment steps", fontsize=8.5)
    axes.xaxis.set_major_formatter(EngFormatter(sep=" "))
    axes.set_xlim(left=0)
    axes.tick_params(labelsize=8)
    axes.grid(visible=True, color="#e6e6e6", linewidth=0.7)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if not any(len(line.get_xdata()) for line in axes.lines):  # type: ignore[arg-type]  # an array, as it was set
        axes.text(0.5, 0.5, "nothing measured yet", transform=axes.transAxes, ha="center", color="#666666")
    elif legend:
        axes.legend(fontsize=8, frameon=False, loc="best")


def _strength(number: int) -> dict[str, Any]:
    return {"linewidth": 1.5, "alpha": 1.0} if number == 0 else {"linewidth": 0.9, "alpha": 0.35}


def _column(rows: Rows, name: str) -> Curve:
    """Steps and values of the rows that have a value."""
    known = [(float(row["global_step"]), float(row[name])) for row in rows if row.get(name) is not None]
    return [step for step, _ in known], [value for _, value in known]

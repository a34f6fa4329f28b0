"""The verb `calibration_chart`: how often judges are right, as one picture."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from p2p.contracts.errors import InvalidInput
from p2p.contracts.known_motions import ClaimKind
from p2p.lab.contracts.calibration import MOST_FALSE_PASSES, JudgeCalibration
from p2p.lab.records import CalibrationReportRecord
from p2p.store.files import replacing

WIDTH, ROW, DPI = 10.0, 3.1, 100
WORDS = ("passed", "failed", "no_verdict")
RIGHT, WRONG, INK = "#2f8f5b", "#c0392b", "#333333"
COLOURS = {
    ClaimKind.POSITIVE: "#2f8f5b",
    ClaimKind.NEGATIVE: "#9aa5b1",
    ClaimKind.NEAR_MISS: "#d1722a",
    ClaimKind.EXPLOIT: "#a83a6b",
}


def draw(job_dir: Path) -> None:
    """Draw the report in `job_dir`, one row for each judge.

    Raises:
        InvalidInput: there is no readable report.
        StorageProblem: the picture cannot be written.
    """
    record = CalibrationReportRecord(job_dir)
    calibration = record.read()
    if calibration is None:
        raise InvalidInput(f"{job_dir} holds no readable report of a calibration.")
    rows = len(calibration.judges)
    figure = Figure(figsize=(WIDTH, 0.6 + ROW * rows), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    clips = f"{calibration.n_clips:,} clips"
    robots = ", ".join(name.partition("-")[0] for name in calibration.clips)
    verdicts = f"{calibration.claims:,} verdicts on {calibration.sentences} sentences (seed {calibration.seed})"
    title = f"{clips} of {robots}; {verdicts}"
    figure.suptitle(title, fontsize=9.5, x=0.01, ha="left")
    grid = figure.subplots(rows, 3, squeeze=False, width_ratios=(1.0, 1.15, 1.0))
    for axes, judge in zip(grid, calibration.judges, strict=True):
        _confusion(axes[0], judge)
        _scores(axes[1], judge)
        _false_passes(axes[2], judge)
    with replacing(record.chart_path) as temporary:
        figure.savefig(temporary, format="png")


def _confusion(axes: Axes, judge: JudgeCalibration) -> None:
    """Kind by verdict, as counts; a wrong cell that is not empty is red."""
    for row, kind in enumerate(ClaimKind):
        counts = judge.verdicts.get(kind, {})
        total = max(1, sum(counts.values()))
        for column, word in enumerate(WORDS):
            count = counts.get(word, 0)
            right = (word == "passed") is kind.holds and word != "no_verdict"
            shade = 0.0 if not count else 0.25 + 0.6 * count / total
            cell = Rectangle((column - 0.5, row - 0.5), 1.0, 1.0, facecolor=RIGHT if right else WRONG, alpha=shade)
            axes.add_patch(cell)
            axes.text(column, row, f"{count:,}", ha="center", va="center", fontsize=9, color=INK)
    axes.set_xlim(-0.5, len(WORDS) - 0.5)
    axes.set_ylim(len(ClaimKind) - 0.5, -0.5)
    axes.set_xticks(range(len(WORDS)), [word.replace("_", " ") for word in WORDS], fontsize=8)
    axes.set_yticks(range(len(ClaimKind)), [kind.replace("_", " ") for kind in ClaimKind], fontsize=8)
    axes.tick_params(length=0)
    axes.set_title(f"{judge.judge}: verdicts", fontsize=9, loc="left")


def _scores(axes: Axes, judge: JudgeCalibration) -> None:
    """Share of each kind in every tenth of the scores."""
    places = np.arange(10) / 10 + 0.05
    for kind, colour in COLOURS.items():
        counts = np.array(judge.scores.get(kind, ()), dtype=float)
        if counts.sum():
            axes.plot(places, counts / counts.sum(), color=colour, label=kind.replace("_", " "), marker="o", ms=3)
    axes.set_ylim(-0.03, 1.05)
    axes.set_xlabel("score", fontsize=8)
    axes.set_ylabel("share of the kind", fontsize=8)
    axes.tick_params(labelsize=8)
    axes.legend(fontsize=7, frameon=False)
    auroc = "–" if judge.auroc is None else f"{judge.auroc:.4f}"
    axes.set_title(f"AUROC {auroc}, variance {judge.score_variance or 0:.2g}", fontsize=9, loc="left")


def _false_passes(axes: Axes, judge: JudgeCalibration) -> None:
    """What passes and should not, and what should pass and does not, with intervals, against the target."""
    shares = {kind.replace("_", " "): share for kind, share in judge.false_passes.items()}
    shares["positive that fails"] = judge.false_fails
    for row, share in enumerate(shares.values()):
        if share.value is not None and share.low is not None and share.high is not None:
            reach = [[100 * (share.value - share.low)], [100 * (share.high - share.value)]]
            axes.errorbar(100 * share.value, row, xerr=reach, fmt="o", color=INK, capsize=3, ms=4)
            axes.annotate(f"{share.count} of {share.of:,}", (100 * share.high, row), xytext=(5, -3),
                          textcoords="offset points", fontsize=7)  # fmt: skip
    axes.axvline(100 * MOST_FALSE_PASSES, color=WRONG, lw=0.8, ls="--")
    axes.set_yticks(range(len(shares)), list(shares), fontsize=8)
    axes.set_ylim(len(shares) - 0.5, -0.5)
    low, high = axes.get_xlim()
    axes.set_xlim(min(0.0, low), max(1.5, high * 1.35))
    axes.set_xlabel("wrong [%], 95 % interval; dashed: target", fontsize=8)
    axes.tick_params(axis="x", labelsize=8)
    axes.set_title("false passes", fontsize=9, loc="left")

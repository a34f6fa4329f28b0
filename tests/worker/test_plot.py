import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from p2p.contracts.errors import InvalidInput
from p2p.contracts.work import MetricsPlot, PlotRequest, RunsToPlot
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import ViewRecord
from p2p.worker.pictures.metric_plots import POINTS, TrainedRun
from p2p.worker.plot import plot


def trained(path: Path, rows: int = 300) -> str:
    """A run with metrics; returns its name."""
    record, rng = IterationRecord(path), np.random.default_rng(int(path.name[-2:]))
    for row in range(1, rows + 1):
        noise = float(rng.normal())
        metrics = {"approx_kl": 0.02, "clip_fraction": 0.2, "explained_variance": 0.5, "policy_std": 0.6}
        terms = {"reward_term_forward": row + noise, "reward_term_$x_1^": -1.0, "reward_term_alive": 1.0}
        episode = {"episodic_return": row + 20 * noise if row > 2 else None, "episodic_return_min": row - 20.0}
        record.append_scalars(
            {"global_step": 1024 * row, **metrics, **terms, **episode, "episodic_return_max": row + 20.0}
        )
    for row in (rows // 2, rows):
        record.append_scalars({"type": "eval", "global_step": 1024 * row, "mean_return": row, "success_rate": 0.5})
    return f"../{path.name}"


def plotted(root: Path, view: MetricsPlot, *iterations: RunsToPlot, title: str = "Hopper-v5: hop") -> Path:
    record = ViewRecord(root / "job")
    record.save_request(PlotRequest(view=view, iterations=iterations, title=title))
    plot(record.path)
    result = record.read_result()
    assert result is not None
    assert result.sizes == {"plot.png": (800, 440)}
    return record.plot_path


@pytest.mark.parametrize("view", list(MetricsPlot))
@pytest.mark.parametrize("title", ["Hopper-v5: hop", "$\\frac{ \n\t\x00 $x$", "w" * 900])
def test_every_plot_is_small_and_full_of_lines(view: MetricsPlot, title: str, tmp_path: Path) -> None:
    runs = tuple(trained(tmp_path / f"baseline_seed_{seed}") for seed in (10, 11))
    halves = (RunsToPlot(name="iteration 1", runs=runs[:1]), RunsToPlot(name="iteration 2", runs=runs[1:]))
    path = plotted(tmp_path, view, *halves, title=title)
    with Image.open(path) as picture:
        assert (picture.format, picture.size) == ("PNG", (800, 440))
        colours = picture.convert("RGB").getcolors(1 << 20)
    blue = sum(count for count, (red, _, blue) in colours if blue - red > 80)
    assert blue > 300
    assert path.stat().st_size < 120_000


def test_a_long_title_ends_inside_the_plot(tmp_path: Path) -> None:
    runs = RunsToPlot(name="iteration 1", runs=(trained(tmp_path / "baseline_seed_10"),))
    path = plotted(tmp_path, MetricsPlot.CURVE, runs, title="walk and turn around " * 30)
    with Image.open(path) as picture:
        top = np.asarray(picture.convert("L"))[:18]
    assert (top[:, 400:] < 200).any()
    assert (top[:, 796:] > 240).all()


@pytest.mark.parametrize("view", list(MetricsPlot))
def test_a_run_that_measured_nothing_is_plotted_as_nothing(view: MetricsPlot, tmp_path: Path) -> None:
    run = trained(tmp_path / "baseline_seed_01", rows=1)
    (tmp_path / "baseline_seed_2").mkdir()
    plotted(tmp_path, view, RunsToPlot(name="iteration 1", runs=(run, "../baseline_seed_2")))


def test_two_iterations_have_two_colours_and_each_run_its_line(tmp_path: Path) -> None:
    names = [trained(tmp_path / f"baseline_seed_{seed}", rows) for seed, rows in ((10, 300), (11, 200), (12, 250))]
    one = RunsToPlot(name="iteration 1", runs=tuple(names[:2]))
    other = RunsToPlot(name="iteration 2", runs=tuple(names[2:]))
    with Image.open(plotted(tmp_path, MetricsPlot.COMPARE, one, other)) as picture:
        colours = picture.convert("RGB").getcolors(1 << 20)
    assert sum(count for count, (red, _, blue) in colours if blue - red > 80) > 300
    assert sum(count for count, (red, _, blue) in colours if red - blue > 80) > 100


def test_a_checkpoint_that_passed_clearly_has_a_star(tmp_path: Path) -> None:
    pictures = []
    for number, clear in enumerate(({}, {"clear": False}, {"clear": True})):
        run = IterationRecord(tmp_path / str(number) / "baseline_seed_10")
        for step in (1024, 2048):
            run.append_scalars({"type": "eval", "global_step": step, "mean_return": 1.0, "success_rate": 1.0, **clear})
        iteration = RunsToPlot(name="iteration 1", runs=(f"../{number}/baseline_seed_10",))
        pictures.append(plotted(tmp_path, MetricsPlot.CURVE, iteration).read_bytes())
    assert pictures[0] == pictures[1]
    assert pictures[0] != pictures[2]


def test_a_long_training_is_drawn_as_means_that_keep_its_ends() -> None:
    rows = [{"global_step": step, "approx_kl": float(step)} for step in range(1, 1001)]
    steps, values = TrainedRun("run", "iteration 1", rows, []).trained("approx_kl")
    assert len(steps) <= POINTS
    assert steps[-1] == 1000
    assert np.mean(values) == pytest.approx(500.5, rel=0.02)
    few = TrainedRun("run", "iteration 1", rows[:50], [])
    assert few.trained("approx_kl") == ([float(s) for s in range(1, 51)], [float(s) for s in range(1, 51)])


def test_a_plot_without_a_request_is_refused(tmp_path: Path) -> None:
    (tmp_path / "request.json").write_text(json.dumps({"view": "curve"}))
    with pytest.raises(InvalidInput, match="no readable request"):
        plot(tmp_path)

"""The stick figure of a training that goes on: there as soon as an evaluation is recorded."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from browsing import Filming, Site
from filmed import rollout

from p2p.envs.catalog import load
from p2p.store.iterations import IterationRecord
from p2p.web.pages.static_files import address_of

ROBOT = "HalfCheetah-v5"
PUT_IN = """async ([module, session]) => {
  await import(module);
  const figure = document.createElement("p2p-figure");
  figure.setAttribute("session", session);
  figure.setAttribute("iteration", "1");
  figure.setAttribute("live", "");
  document.querySelector("main").append(figure);
}"""


@pytest.mark.parametrize("within_s", [None, pytest.param(2.0, marks=pytest.mark.nightly)])
def test_the_newest_evaluation_is_shown_without_a_reload(
    within_s: float | None, site: Callable[[Path], Site], filming: Filming, tmp_path: Path
) -> None:
    filmed = filming(ROBOT)
    runs = tmp_path / "runs"
    shutil.copytree(filmed.runs_dir, runs)
    iteration = IterationRecord(runs / filmed.session_id / "iter_1")
    shutil.rmtree(iteration.report.path)  # it trains still
    page = site(runs).open("/label")
    page.evaluate(PUT_IN, [address_of("figure.js"), filmed.session_id])
    page.wait_for_selector("p2p-figure canvas")
    assert "after the first evaluation" in page.inner_text("p2p-figure")
    run = IterationRecord(iteration.path / "baseline_seed_10")
    run.save_env_spec(load(ROBOT))
    for number, checkpoint in enumerate(run.checkpoints()):
        path = run.trajectory(checkpoint.step, "median")
        path.parent.mkdir(exist_ok=True)
        written = path.with_name("being_written.npz")
        np.savez(written, **rollout(load(ROBOT), 100, number))
        begun = time.monotonic()
        written.rename(path)
        page.wait_for_selector(f"p2p-figure[data-checkpoint='{checkpoint.step}']")
        took = time.monotonic() - begun
        print(f"the figure of step {checkpoint.step} is there after {took:.2f} s")
        assert within_s is None or took < within_s
    first = page.get_attribute("p2p-figure canvas", "data-row")
    page.wait_for_function(f"() => document.querySelector('p2p-figure canvas').dataset.row !== '{first}'")

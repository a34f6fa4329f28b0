"""A suite whose trainings a real Slurm has, held against the same suite trained here."""

from pathlib import Path

import pytest
from slurm_lab import SlurmLab

import p2p
from p2p.agents.builtin.author import BuiltinAuthor
from p2p.contracts.cluster import Cluster
from p2p.contracts.suite import RunState
from p2p.envs.catalog import load
from p2p.store.clusters import ClusterStore
from p2p.store.suite_files import save_exam

pytestmark = [pytest.mark.slow, pytest.mark.nightly]
CASES = {
    "pole": ("InvertedPendulum-v5", "keep the pole balanced"),
    "pendulum": ("InvertedDoublePendulum-v5", "keep both poles balanced"),
}
SUITE = """
[suite]
name = "poles"
seeds = [1]
exams = "exams"
n_exam_rollouts = 10
[budget]
max_iterations = 1
total_timesteps = 8192
"""
SYSTEM = {"n_seeds": 1, "n_report_rollouts": 10, "config": {"num_evals": 1, "n_eval_episodes": 3}}


def suite_in(place: Path) -> Path:
    """File of a suite of two cases, with its exams beside it."""
    text = SUITE
    for case, (robot, sentence) in CASES.items():
        text += f'[[case]]\nname = "{case}"\nenv_id = "{robot}"\nprompt = "{sentence}"\n'
        save_exam(place / "exams" / f"{case}.json", BuiltinAuthor().elicit(sentence, load(robot)))
    file = place / "poles.toml"
    file.write_text(text)
    return file


def test_a_suite_on_slurm_has_the_results_of_one_trained_here(
    slurm: SlurmLab, slurm_cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = slurm_cluster.model_copy(update={"name": "lab", "variables": slurm.variables})
    ClusterStore(tmp_path / "nodes").add(cluster)
    monkeypatch.setenv("P2P_NODES_DIR", str(tmp_path / "nodes"))
    file = suite_in(tmp_path)
    here = p2p.run_benchmark(file, name="poles", runs_dir=tmp_path / "here", **SYSTEM).wait()
    monkeypatch.setenv("P2P_BACKEND", "slurm:lab")
    there = p2p.run_benchmark(file, name="poles", runs_dir=tmp_path / "there", parallel=2, **SYSTEM).wait()
    assert here.view.state is there.view.state is RunState.ENDED
    assert all(result.exam is not None for result in here.results)
    assert without_clocks(here) == without_clocks(there)
    placed = [{path.parts[-4] for path in run.runs_dir.glob("*/iter_1/*/placed.json")} for run in (here, there)]
    assert placed == [set(), {result.session_id for result in there.results}]


def without_clocks(run: p2p.Benchmark) -> list[dict[str, object]]:
    return [result.model_dump(exclude={"seconds", "ended_at"}) for result in run.results]

from pathlib import Path

import pytest

from p2p.benchmark.table_place import TablePlace
from p2p.contracts.errors import InvalidConfig, InvalidInput
from p2p.contracts.training import RunSummary, TrainConfig
from p2p.envs.catalog import known
from p2p.lab.learning import parity
from p2p.lab.learning.learn import OWN_REWARD, Learned, standard_config, table
from p2p.lab.learning.preset_candidates import CANDIDATES
from p2p.service.workspace import Workspace
from p2p.training.presets import preset
from p2p.worker.reward_source.info_names import names_read
from p2p.worker.reward_source.loader import LoadedReward

BEGIN, END = "<!-- learn -->", "<!-- /learn -->"


def learned(*returns: float, seed: int = 10, curve: tuple[float, ...] = (1.0, 2.0, 3.0, 4.0)) -> Learned:
    config = TrainConfig(env_id="Hopper-v5", total_timesteps=1_000_000, seed=seed)
    summary = RunSummary(
        total_timesteps=1_000_000,
        training_time_s=50.0,
        final_episodic_return=None,
        total_episodes=1,
        steps_per_second=20_000.0,
        best_checkpoint=None,
        best_selection_score=None,
        best_selection_success=None,
        best_selection_return=0.0,
    )
    return Learned(config, returns, summary, curve)


@pytest.mark.parametrize("env_id", known())
@pytest.mark.parametrize("candidate", CANDIDATES)
def test_every_candidate_is_a_configuration_and_sees_what_the_preset_sees(
    ws: Workspace, env_id: str, candidate: str
) -> None:
    config = standard_config(ws, env_id, 1_000_000, 0, CANDIDATES[candidate], bare=True)
    assert config.env_kwargs == preset(env_id).get("env_kwargs", {})


def test_episodes_are_as_gymnasium_defines_them(ws: Workspace) -> None:
    config = standard_config(ws, "Reacher-v5", 300_000, 3, {})
    assert (config.max_episode_steps, config.terminate_when_unhealthy, config.seed) == (50, True, 3)
    shorter = standard_config(ws, "InvertedDoublePendulum-v5", 1_000_000, 3, {}, bare=True)
    assert shorter.max_episode_steps == 100
    assert standard_config(ws, "Hopper-v5", 300_000, 3, {}).max_episode_steps == 1000
    with pytest.raises(InvalidConfig, match="learning_rat"):
        standard_config(ws, "Reacher-v5", 300_000, 3, {"learning_rat": 1.0})


def test_the_reward_is_gymnasiums_own_and_reads_nothing_else() -> None:
    assert names_read(OWN_REWARD) == {"env_reward"}
    assert list(LoadedReward(OWN_REWARD).description.terms) == ["env"]


def test_the_table_shows_the_mean_over_seeds_with_its_interval_and_what_was_published() -> None:
    rows = {"Hopper-v5 1000000": [learned(2900.0, 3100.0, seed=10), learned(3300.0, 3500.0, seed=11)]}
    *_, line = table(rows).splitlines()
    assert line == "| Hopper-v5 | 1,000,000 | 10, 11 | 3,200 [659, 5,741] | 2,609 | 50 s | 20,000 |"


def test_a_table_takes_the_place_of_the_one_before_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    TablePlace(path).write("new")
    assert path.read_text() == f"before\n{BEGIN}\nnew\n{END}\nafter\n"


def test_a_file_without_a_place_for_the_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text("nothing here")
    with pytest.raises(InvalidInput, match="has no lines <!-- learn -->"):
        TablePlace(path)


def test_curves_are_compared_quarter_by_quarter() -> None:
    rows = {
        "Hopper-v5 fast": [learned(1.0, curve=(1.0, 2.0, 3.0, 9.0)), learned(1.0, curve=(1.2, 2.2, 3.2, 9.1))],
        "Hopper-v5 sb3": [learned(1.0, curve=(1.1, 2.1, 3.1, 1.0)), learned(1.0, curve=(1.3, 2.3, 3.3, 1.1))],
    }
    fast, sb3 = parity.table(rows, ["Hopper-v5"]).splitlines()[2:]
    assert fast.endswith("| 3 of 4 |")
    assert sb3.startswith("| Hopper-v5 | sb3 | 1.2 [")

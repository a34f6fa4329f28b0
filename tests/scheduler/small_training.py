"""A training of some seconds, several of which are compared to the bit."""

import hashlib
from pathlib import Path

from p2p.contracts.training import TrainConfig
from p2p.service.training.environments import describe_environment
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.iterations import IterationRecord, save_inputs

REWARD = """
from p2p.training.reward_function import RewardFunction

class Upright(RewardFunction):
    latex = "1"
    terms = {"alive": "stays up"}

    def compute(self, obs, action, next_obs, info):
        return 1.0, {"alive": 1.0}
"""


def prepared(root: Path, *names: str, steps: int = 200_000) -> list[IterationRecord]:
    """Runs of the same training, ready to begin."""
    config = TrainConfig(
        env_id="InvertedPendulum-v5", total_timesteps=steps, n_envs=8, num_evals=2, n_eval_episodes=3, seed=3
    )
    spec = describe_environment(Workspace(Settings(runs_dir=root)), config.env_id)
    runs = [IterationRecord(root / name) for name in names]
    for run in runs:
        save_inputs(run, REWARD, spec, config)
    return runs


def policies(run: IterationRecord) -> dict[str, str]:
    """Digests of the policies of a run, by checkpoint."""
    return {
        path.parent.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in run.path.glob("checkpoints/*/policy.npz")
    }

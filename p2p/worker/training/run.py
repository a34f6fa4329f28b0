"""A training run: its directory, and the inputs read before it starts."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Intent
from p2p.contracts.training import TrainConfig
from p2p.rewards.definitions import commanded
from p2p.store.iterations import IterationRecord
from p2p.worker.reward.evaluator import Reward
from p2p.worker.reward.hosted import HostedReward


@dataclass(frozen=True, slots=True)
class Run:
    """Directory, configuration, environment, criteria and reward of a training run."""

    record: IterationRecord
    config: TrainConfig
    spec: EnvSpec
    intent: Intent | None
    reward: Reward

    @classmethod
    def open(cls, record: IterationRecord, load: Callable[[Path], Reward] = HostedReward.from_file) -> "Run":
        """Read the run in a directory.

        Args:
            record: Of the directory.
            load: Loads the reward of its file.

        Raises:
            InvalidInput: the directory lacks a readable configuration or environment.
            InvalidReward: the reward does not load.
            InvalidConfig: the robot cannot follow the commands.
        """
        config = record.read_config()
        spec = record.read_env_spec()
        if config is None or spec is None:
            missing = record.config_path if config is None else record.env_spec_path
            raise InvalidInput(f"{missing} is missing or not valid: the run cannot be trained.")
        spec = commanded(spec, config.commands)
        return cls(record, config, spec, record.read_criteria(), load(record.reward_fn_path))

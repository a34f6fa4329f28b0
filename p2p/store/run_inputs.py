"""Input files of a training run."""

from p2p.contracts.env import EnvSpec
from p2p.contracts.intent import Intent
from p2p.contracts.training import TrainConfig
from p2p.store.iterations import IterationRecord


def save_inputs(
    run: IterationRecord, source: str, spec: EnvSpec, config: TrainConfig, intent: Intent | None = None
) -> None:
    """Write the inputs of a run; the configuration comes last and marks them complete.

    Args:
        run: Which run.
        source: Of the reward.
        spec: Of the environment.
        config: Its `iteration_id` becomes the run's.
        intent: By which checkpoints are chosen; None where nothing is judged.
    """
    run.save_reward_source(source)
    run.save_env_spec(spec)
    if intent is not None:
        run.save_criteria(intent)
    run.save_config(config.model_copy(update={"iteration_id": run.iteration_id}))

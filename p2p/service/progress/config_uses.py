"""Configurations of an iteration, from its runs' files."""

from p2p.contracts.reward import ConfigUse
from p2p.contracts.training import ConfigAggregate, TrainConfig
from p2p.store.iterations import IterationRecord
from p2p.training.tuning import HYPERPARAMETERS


def configs_used(iteration: IterationRecord) -> dict[str, ConfigUse]:
    """Configuration -> hyperparameters and results; empty before the training."""
    aggregation = iteration.read_aggregation()
    draft = iteration.read_draft()
    if aggregation is None:
        return {}
    configs = {run.config_id: config for run in iteration.runs() if (config := run.read_config()) is not None}
    directives = {variant.config_id: variant.directive for variant in (draft.variants if draft else ())}
    return {
        config_id: _use(configs[config_id], reached, directives.get(config_id, ""), aggregation.best_config_id)
        for config_id, reached in aggregation.configs.items()
        if config_id in configs
    }


def _use(config: TrainConfig, reached: ConfigAggregate, directive: str, best: str) -> ConfigUse:
    return ConfigUse(
        directive=directive,
        hyperparameters=config.model_dump(mode="json", include=set(HYPERPARAMETERS)),
        n_completed=sum(result.status == "completed" for result in reached.per_seed),
        mean_score=reached.mean_best_score,
        std_score=reached.std_best_score,
        mean_return=reached.mean_final_return,
        std_return=reached.std_final_return,
        best=reached.per_seed[0].config_id == best,
    )

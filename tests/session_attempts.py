"""Three judged iterations, of which the second was best."""

import made_up

from p2p.contracts.judgment import RolloutScore
from p2p.contracts.protocols import Attempt
from p2p.contracts.training import TrainConfig

SOURCE = "def reward_fn(obs, action, next_obs, info):\n    speed = {}\n    return speed, {{'speed': speed}}\n"


def attempt(number: int, score: float, *tags: str, based_on: int | None = None, rate: float = 3e-4) -> Attempt:
    rollouts = tuple(
        RolloutScore(seed=i, episode_return=1.0, label=label, intent_score=score, success=False, values={"fast": score})
        for i, label in enumerate(("p10", "median", "p90", None))
    )
    judgment = made_up.judgment(
        intent_score=score,
        n_rollouts=4,
        rollouts=rollouts,
        failure_tags=tags,
        run_id="baseline_seed_10",
        best_checkpoint=4096,
    )
    return Attempt(
        number=number,
        source=SOURCE.format(number),
        config_changes={"learning_rate": rate},
        config=TrainConfig(learning_rate=rate),
        judgment=judgment,
        terms=(),
        dynamics={},
        based_on=based_on,
    )


ATTEMPTS = (
    attempt(1, 0.4, "falls"),
    attempt(2, 0.6, "falls", "slow", based_on=1, rate=1e-3),
    attempt(3, 0.3, "falls", based_on=2),
)

"""Try a reward on known motions, inside its own process."""

from p2p.analysis.paid import Paid
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidReward, RewardFailed
from p2p.contracts.intent import Intent
from p2p.contracts.work import CheckRequest
from p2p.worker.engine.environment import compiled_model, make_environment
from p2p.worker.engine.simulation import make_simulation
from p2p.worker.reward.evaluator import RewardEvaluator
from p2p.worker.reward.hosted import HostedReward
from p2p.worker.reward.motions import known_motions
from p2p.worker.reward.preferences import pay, until_unhealthy


def pay_hosted(source: str, spec: EnvSpec, request: CheckRequest, intent: Intent) -> list[Paid]:
    """Pay of a reward for motions that meet the criteria, or fail them.

    Nothing is paid by one that cannot be tried on them: it needs the simulator's arrays, or fails on such states.

    Args:
        source: Of a reward that was accepted.
        spec: The environment.
        request: How it is checked.
        intent: What was asked.

    Raises:
        InvalidConfig: the environment refuses the request's `env_kwargs`.
    """
    motions = known_motions(spec, compiled_model(spec, request.env_kwargs))
    if not motions or request.side_info:
        return []
    alive = None
    if request.terminate_when_unhealthy:
        env = make_environment(spec, request.env_kwargs, terminate_when_unhealthy=True)
        alive = until_unhealthy(motions, env)
        env.close()
    simulation = make_simulation(spec, len(motions), request.env_kwargs)
    try:
        reward = HostedReward(source)
        try:
            return pay(motions, simulation, RewardEvaluator(reward, simulation, seed=0), intent, alive)
        finally:
            reward.close()
    except (InvalidReward, RewardFailed):
        return []
    finally:
        simulation.close()

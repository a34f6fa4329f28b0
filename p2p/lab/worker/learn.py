"""The verb `learn`: a run whose last policy is measured as the literature does.

Gymnasium's own reward, episodes as long as the environment allows, ended by its own rule, the mean of the policy's
distribution as the action; on the start states of report rollouts, which chose nothing.
"""

from pathlib import Path

import numpy as np

from p2p.contracts.training import Purpose, StandardReturns, first_seed
from p2p.store.iterations import IterationRecord
from p2p.store.policy import load_policy
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.rollout.episodes import Policy
from p2p.worker.rollout.policy_inputs import PolicyInputs
from p2p.worker.training.run import Run
from p2p.worker.training.train import train_run

EPISODES = 20


def learn(job_dir: Path) -> None:
    """Train the run in `job_dir`, and write the returns of its last checkpoint beside the policy.

    Raises:
        InvalidInput, InvalidReward, InvalidConfig, RewardFailed: as in a training.
    """
    run = Run.open(IterationRecord(job_dir))
    points = train_run(run)
    checkpoint = run.record.checkpoints()[-1]
    first = first_seed(Purpose.REPORT, run.config.seed)
    returns = standard_returns(run, load_policy(checkpoint.policy_path), range(first, first + EPISODES))
    checkpoint.save_returns(StandardReturns(first_seed=first, returns=returns))
    points.remove()


def standard_returns(run: Run, policy: Policy, seeds: range) -> tuple[float, ...]:
    """Undiscounted return of one episode per seed, all at once."""
    config = run.config.model_copy(
        update={"max_episode_steps": run.spec.max_episode_steps, "terminate_when_unhealthy": True}
    )
    env = VecEnv(config, run.spec, len(seeds), training=True)
    env.reset(range(env.n), seeds)
    seen = PolicyInputs(config, env)
    seen.begin(range(env.n))
    going_on = np.ones(env.n, dtype=np.bool_)
    returns = np.zeros(env.n)
    for _ in range(env.episode_steps):
        step = env.step(policy.act(seen.now))
        seen.follow(step)
        rewards = env.simulation.outcome(step.before, step.after, step.actions).rewards
        returns += np.where(going_on, rewards, 0.0)
        going_on &= ~step.terminated
        env.take_block()
    env.close()
    return tuple(returns.tolist())

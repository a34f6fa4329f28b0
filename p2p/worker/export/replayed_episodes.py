"""Rerun the recorded episodes of a checkpoint."""

from collections.abc import Sequence
from statistics import fmean, stdev

import numpy as np
from numpy.typing import NDArray

from p2p.analysis.intervals import mean_interval
from p2p.contracts.senses import Senses
from p2p.contracts.work import RecordedEpisode, ReturnStatistics
from p2p.worker.engine.terrain import lay_terrain
from p2p.worker.export.interface import Interface
from p2p.worker.export.source import Source
from p2p.worker.export.standalone import Act, play
from p2p.worker.export.told import MeasuredProgress, known_to_replay
from p2p.worker.reward.hosted import HostedReward
from p2p.worker.rollout.episodes import judged_config, run_episodes

MAX_ROLLOUTS = 100
"""As many are run again at most, for Gymnasium's own reward."""


class Acting:
    """Adapter: a function as a policy."""

    def __init__(self, act: Act) -> None:
        self._act = act

    def act(self, observations: NDArray[np.floating]) -> NDArray[np.floating]:
        """Actions, shape (B, action_dim), for observations of shape (B, obs_dim)."""
        return self._act(observations)


def recorded_episode(source: Source, interface: Interface) -> RecordedEpisode:
    """The episode that every format replays, with its return by Gymnasium's own reward."""
    rollout = source.rollout
    commands = judged_config(source.config, source.intent).commands
    told = source.config.observe is not None or commands is not None
    robot, terrain = source.spec.robot, source.config.terrain
    laid = lay_terrain(source.spec, terrain) if terrain is not None else None
    if robot is not None and laid is not None:
        robot = robot.model_copy(update={"xml": laid.xml})
    episode = RecordedEpisode(
        env_id=interface.env_id,
        env_kwargs=interface.env_kwargs,
        robot=robot,
        starts=tuple((float(x), float(y)) for x, y in laid.judged_starts) if laid is not None else (),
        frame_skip=source.spec.frame_skip,
        seed=rollout.seed,
        steps=rollout.length,
        purpose=source.evaluation.purpose,
        label=source.label,
        trained_return=rollout.episode_return,
        gymnasium_return=0.0,
        observe=source.config.observe,
        senses=Senses.of(source.spec, source.config.observation),
        commands=commands.of_episode(source.spec) if commands is not None else None,
        torso=source.spec.morphology.torso if told else "",
        upright=source.spec.morphology.upright,
    )
    actions = iter(source.trajectories[source.label]["action"])
    total = gymnasium_return(source, episode, lambda _: next(actions)[None])
    return episode.model_copy(update={"gymnasium_return": total})


def gymnasium_return(source: Source, episode: RecordedEpisode, act: Act) -> float:
    """Return of the recorded episode by Gymnasium's own reward, acted by `act` as `replay.py` does.

    Where the policy is told of features that `replay.py` cannot compute, p2p's own reader tells it.
    """
    observe = episode.observe
    told = MeasuredProgress(observe, source.spec) if observe is not None and not known_to_replay(observe) else None
    return play(episode.model_dump(mode="json"), act, told)


def trained_return(source: Source, act: Act) -> float:
    """Return of the recorded episode's start by the reward the policy was trained on, acted by `act`."""
    reward = HostedReward.from_file(source.run.reward_fn_path)
    config = judged_config(source.config, source.intent)
    (rollout,) = run_episodes(config, source.spec, Acting(act), [source.rollout.seed], reward)
    return rollout.episode_return


def gymnasium_returns(source: Source) -> list[float]:
    """Returns of the recorded rollouts, at most 100 of them, by Gymnasium's own reward."""
    seeds = [rollout.seed for rollout in source.evaluation.rollouts[:MAX_ROLLOUTS]]
    config = judged_config(source.config, source.intent)
    return [rollout.episode_return for rollout in run_episodes(config, source.spec, source.policy, seeds)]


def statistics(returns: Sequence[float]) -> ReturnStatistics:
    """Mean, spread and 95 % interval."""
    interval = mean_interval(returns)
    return ReturnStatistics(
        n=len(returns),
        mean=fmean(returns),
        std=stdev(returns) if len(returns) > 1 else 0.0,
        low=interval[0] if interval else None,
        high=interval[1] if interval else None,
    )

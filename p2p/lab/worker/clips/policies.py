"""Clips of policies that were trained here, from one that has learnt nothing to the last checkpoint."""

from collections.abc import Iterator, Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidInput
from p2p.contracts.known_motions import Claim, Clip
from p2p.contracts.training import Purpose, TrainConfig, first_seed
from p2p.envs import catalog
from p2p.lab.worker.clips.policy_labels import SimulatedCourse, kinds_of
from p2p.store.iterations import IterationRecord
from p2p.store.policy import load_policy
from p2p.worker.engine.environment import compiled_model
from p2p.worker.known_motions.clips import MadeClip
from p2p.worker.known_motions.motion_player import Played, swings_of
from p2p.worker.known_motions.robots import Robot
from p2p.worker.rollout.episodes import Policy, RecordedRollout, run_episodes

EPISODES = 3
"""Of each policy."""


class Untrained:
    """A policy that has learnt nothing: each action is drawn evenly from its range.

    Args:
        spec: Of the environment.
        seed: Of the draws.
    """

    def __init__(self, spec: EnvSpec, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._low = np.array([actuator.low for actuator in spec.action])
        self._high = np.array([actuator.high for actuator in spec.action])

    def act(self, observations: NDArray[np.floating]) -> NDArray[np.floating]:
        """Actions, shape (B, action_dim)."""
        return self._random.uniform(self._low, self._high, (len(observations), len(self._low))).astype(np.float32)


def policy_clips(robot: Robot, runs: Sequence[IterationRecord]) -> list[MadeClip]:
    """Clips of the policies of some runs of a robot, none without runs.

    Raises:
        InvalidInput: a run is missing or broken.
    """
    spec = catalog.load(robot.env_id)
    made = []
    short = robot.env_id.partition("-")[0].lower()
    extra_features = frozenset(one.name for one in swings_of(spec))
    for number, (config, words, policy) in enumerate(_policies(runs, spec), start=1):
        episode = config.model_copy(update={"episode_s": robot.seconds, "max_episode_steps": None})
        first = first_seed(Purpose.REPORT, config.seed)
        model = compiled_model(spec, config.env_kwargs, config.terrain)
        seeds = range(first, first + EPISODES)
        for index, rollout in enumerate(run_episodes(episode, spec, policy, seeds, extra_features=extra_features)):
            made.append(_clip(robot, model, f"{short}-p{number:02d}-{index:02d}", words, rollout))
    return made


def _policies(runs: Sequence[IterationRecord], spec: EnvSpec) -> Iterator[tuple[TrainConfig, str, Policy]]:
    """The policies of runs in the order of their steps, each with what it is in words."""
    for run in runs:
        config = run.read_config()
        if config is None or not run.checkpoints():
            raise InvalidInput(f"{run.path} holds no trained run. To train: p2p judge calibrate --policies STEPS")
        if run is runs[0]:
            yield config, "policy that has learnt nothing", Untrained(spec, config.seed)
        for checkpoint in run.checkpoints():
            yield config, f"policy for {run.config_id}, {checkpoint.step:,} steps", load_policy(checkpoint.policy_path)


def _clip(robot: Robot, model: mujoco.MjModel, clip_id: str, words: str, rollout: RecordedRollout) -> MadeClip:
    arrays = rollout.arrays
    qpos = np.concatenate([arrays["initial_qpos"][None], arrays["qpos"]])
    qvel = np.concatenate([arrays["initial_qvel"][None], arrays["qvel"]])
    course = SimulatedCourse.measured(model, qpos, robot.seconds)
    kinds = kinds_of(robot, course)
    clip = Clip(
        clip_id=clip_id,
        env_id=robot.env_id,
        motion=words,
        parameters=course.numbers(),
        seconds=robot.seconds,
        claims=tuple(Claim(sentence=sentence, kind=kind) for sentence, kind in kinds.items() if kind is not None),
        trained=True,
    )
    return MadeClip(clip, Played(qpos, qvel, arrays["action"].astype(np.float64), rollout.features))

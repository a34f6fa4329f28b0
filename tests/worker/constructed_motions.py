"""Motions prescribed joint by joint, so that what happens in them is known."""

import numpy as np

from p2p.contracts.env import EnvSpec
from p2p.envs import catalog
from p2p.rewards.features import Features, measure_trajectory
from p2p.worker.engine.environment import compiled_model
from p2p.worker.features.kinematics import Kinematics

CHEETAH, ANT = catalog.load("HalfCheetah-v5"), catalog.load("Ant-v5")
STEPS = 100


def measured(spec: EnvSpec, qpos: np.ndarray) -> Features:
    states = Kinematics(compiled_model(spec, {}), spec).read(qpos, np.zeros((len(qpos), spec.nv)))
    return measure_trajectory(spec, states, np.zeros((len(qpos) - 1, spec.action_dim)))


def leaping(turns: float, begin: float = 1.0, lasting: float = 0.7, height: float = 1.2) -> np.ndarray:
    """Joint positions of a cheetah that rests, leaps, turns backward in the air, lands and rests."""
    time = np.arange(STEPS + 1) * CHEETAH.dt
    share = np.clip((time - begin) / lasting, 0, 1)
    qpos = np.zeros((STEPS + 1, CHEETAH.nq))
    qpos[:, 0] = 0.5 * share
    qpos[:, 1] = -measured(CHEETAH, np.zeros((2, CHEETAH.nq)))["clearance"][0] + 4 * height * share * (1 - share)
    qpos[:, 2] = -2 * np.pi * turns * share
    return qpos


def spinning(turns: float) -> np.ndarray:
    model = compiled_model(ANT, {})
    qpos = np.tile(model.qpos0, (STEPS + 1, 1))
    yaw = 2 * np.pi * turns * np.clip(np.arange(STEPS + 1) * ANT.dt / 4 - 0.1, 0, 1)
    qpos[:, 3], qpos[:, 6] = np.cos(yaw / 2), np.sin(yaw / 2)
    return qpos

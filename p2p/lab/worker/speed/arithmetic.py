"""How fast an update computes, against a bare matrix product of the same size on the same core."""

import math
import time
from collections.abc import Callable
from itertools import pairwise
from statistics import median

import numpy as np

from p2p.contracts.training import TrainConfig
from p2p.lab.contracts.measurement import ArithmeticRate
from p2p.worker.learners.learner import Floats, RolloutBatch
from p2p.worker.learners.ppo import FastLearner

TURNS = 7
"""An update and the products are timed in turns, this often."""


def arithmetic_rate(config: TrainConfig, obs_dim: int, action_dim: int) -> ArithmeticRate | None:
    """Time whole updates of the fast learner on random rows, and sgemm, on one thread.

    The product is the one that a minibatch spends most of its time on: its rows through the widest pair of hidden
    layers (the only one, where there is no second), of both networks.

    Returns:
        None where the networks have no hidden layer.
    """
    if not config.net_arch:
        return None
    rows = config.n_envs * config.n_steps
    own = config.model_copy(update={"target_kl": None})
    learner = FastLearner(own, obs_dim, action_dim)
    generator = np.random.default_rng(config.seed)
    columns = [generator.standard_normal(rows).astype(np.float32) for _ in range(4)]
    batch = RolloutBatch(_normal(generator, rows, obs_dim), _normal(generator, rows, action_dim), *columns)
    inputs, units = max(pairwise(config.net_arch), key=math.prod, default=(obs_dim + 1, config.net_arch[0]))
    size = min(config.batch_size, rows)
    left, right = _normal(generator, 2, size, inputs), _normal(generator, 2, inputs, units)
    out = np.empty((2, size, units), np.float32)
    product_flop = 2 * 2 * size * inputs * units
    update_flop = config.n_epochs * update_operations(rows, obs_dim, action_dim, config.net_arch)
    repeats = max(1, update_flop // product_flop // 2)
    updates, products = [], []
    for _ in range(TURNS):
        updates.append(_seconds(lambda: learner.update(batch, 1e-9), 1))
        products.append(_seconds(lambda: np.matmul(left, right, out=out), repeats))
    return ArithmeticRate(
        update_gflops=update_flop / median(updates) / 1e9, sgemm_gflops=product_flop / median(products) / 1e9
    )


def update_operations(rows: int, obs_dim: int, action_dim: int, net_arch: tuple[int, ...]) -> int:
    """Multiplications and additions of the matrix products that an epoch over `rows` rows needs.

    Each weight is used once forward and twice backward, for its own gradient and for the one handed on; the first
    layer hands none on. What the zero blocks of the joined head take is not counted.
    """
    sizes = (obs_dim, *net_arch)
    first = sizes[0] * sizes[1]
    deeper = sum(inputs * units for inputs, units in pairwise(sizes[1:]))
    head = net_arch[-1] * (action_dim + 1)
    return 2 * rows * (2 * 2 * first + 3 * 2 * deeper + 3 * head)


def _normal(generator: np.random.Generator, *shape: int) -> Floats:
    return generator.standard_normal(shape, dtype=np.float32)


def _seconds(act: Callable[[], object], times: int) -> float:
    begun = time.perf_counter()
    for _ in range(times):
        act()
    return (time.perf_counter() - begun) / times

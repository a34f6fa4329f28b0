"""What a curriculum changes in the rollouts of a training, by the share of its steps or by its success."""

from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.curriculum import Curriculum, Pushes, StartCurriculum
from p2p.contracts.errors import InvalidConfig
from p2p.worker.engine.vec_env import Block, VecEnv
from p2p.worker.rollout.reached_goals import ReachedGoals
from p2p.worker.rollout.starts import ORDINARY, StartPlacer
from p2p.worker.saved_state import State, generator_state, joined, part, restore_generator

Floats = NDArray[np.float64]

PUSH_SEED = 1
"""Second word of the seed of pushes: their draws are not those of the starts."""
SUM_TOLERANCE = 1e-6
"""Of a reward against the sum of its terms, relative to their magnitudes: terms may be float32."""


def grown(first: float, last: float, until: float, progress: float) -> float:
    """Value after a share `progress` of a training: linear from `first` to `last`, which it reaches at `until`."""
    return first + (last - first) * min(1.0, progress / until)


class RewardWeights:
    """Factors of a reward's terms; what is learnt from is the reward with each weighted term in place of the term.

    The reward itself is not touched: (factor - 1) times the term is added to its total.

    Args:
        curriculum: Gives the factors.
    """

    def __init__(self, curriculum: Curriculum) -> None:
        self._curriculum = curriculum
        self._checked = False

    def at(self, progress: float) -> dict[str, float]:
        """Factor of each weighted term after a share of the training."""
        return {
            term: float(np.interp(progress, [share for share, _ in knots], [factor for _, factor in knots]))
            for term, knots in self._curriculum.weights.items()
        }

    def apply(self, table: Floats, names: Sequence[str], factors: Mapping[str, float]) -> Floats:
        """Weighted totals, shape (B,), of totals and terms, shape (B, 1 + n_terms).

        Raises:
            InvalidConfig: the reward lacks a term, or is not the sum of its terms.
        """
        if not self._checked:
            self._curriculum.require_terms(tuple(names))
            _require_sum(table)
            self._checked = True
        totals = table[:, 0].copy()
        for term, factor in factors.items():
            totals += (factor - 1.0) * table[:, 1 + names.index(term)]
        return totals


def _require_sum(table: Floats) -> None:
    totals, terms = table[:, 0], table[:, 1:]
    off = np.abs(totals - terms.sum(axis=1)) > SUM_TOLERANCE * (1.0 + np.abs(terms).sum(axis=1))
    if off.any():
        row = int(np.flatnonzero(off)[0])
        raise InvalidConfig(
            f"curriculum.weights needs a reward that is the sum of its terms; one step got {totals[row]:.6g}, and its "
            f"terms add up to {terms[row].sum():.6g}. Return the sum, or leave the weights out."
        )


class Pusher:
    """Random pushes of the torsos of n robots, one after another.

    Args:
        pushes: How strong, how often, how long.
        env: The training environments.
        seed: Of the draws.
    """

    def __init__(self, pushes: Pushes, env: VecEnv, seed: int) -> None:
        self._pushes = pushes
        self._mass = float(env.simulation.model.body(env.spec.morphology.torso).subtreemass[0])
        self._dt = env.spec.dt
        self._lasts = max(1, round(pushes.lasts_s / env.spec.dt))
        self._chance = env.spec.dt / (pushes.every_s - pushes.lasts_s)
        """That a robot that is not being pushed is pushed from the next step on."""
        self._rng = np.random.default_rng((seed, PUSH_SEED))
        self._left = np.zeros(env.n, dtype=np.int64)
        self._forces = np.zeros((env.n, 3))
        self.speed = pushes.speed_start
        """Change of velocity by a push that begins now [m/s]."""

    def follow(self, progress: float) -> None:
        """Set the strength for a share of the training."""
        self.speed = grown(self._pushes.speed_start, self._pushes.speed, self._pushes.until, progress)

    def forces(self) -> Floats:
        """On the torsos in the next control step, shape (n, 3) [N]; as many draws are made whatever happens."""
        n = len(self._left)
        draws = self._rng.random((2, n))
        begins = (self._left == 0) & (draws[0] < self._chance)
        force = self._mass * self.speed / (self._lasts * self._dt)
        angles = 2 * np.pi * draws[1, begins]
        self._forces[begins] = force * np.stack([np.cos(angles), np.sin(angles), np.zeros(len(angles))], axis=1)
        self._left[begins] = self._lasts
        self._forces[self._left == 0] = 0.0
        self._left = np.maximum(self._left - 1, 0)
        return self._forces.copy()

    def end(self, ids: Sequence[int]) -> None:
        """End the pushes in the environments `ids`, whose episodes are over."""
        self._left[list(ids)] = 0

    def state(self) -> State:
        """Pushes under way, and the state of the draws; the strength follows from the share of the training."""
        return {"generator": generator_state(self._rng), "left": self._left, "forces": self._forces}

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        restore_generator(self._rng, state["generator"])
        self._left = state["left"].copy()
        self._forces = state["forces"].copy()


class StartFollower:
    """Moves the starts of a training by its success.

    Args:
        curriculum: How.
        env: The training environments.
        placer: Where their episodes begin; its share is set, and what succeeds from where.
        shortened: Environments whose first episode is cut short and does not count, shape (n,).
    """

    def __init__(
        self, curriculum: StartCurriculum, env: VecEnv, placer: StartPlacer, shortened: NDArray[np.bool_]
    ) -> None:
        self._curriculum = curriculum
        self._placer = placer
        self._share = placer.share
        self._goals = ReachedGoals(curriculum.goal, env.simulation, shortened) if curriculum.goal else None
        self._ordinary: deque[bool] = deque(maxlen=curriculum.episodes)

    def follow(self, block: Block, origins: NDArray[np.intp]) -> None:
        """Take the episodes of the next steps into account.

        Args:
            block: The steps.
            origins: Where the episode of each step began, shape (T, n): see `StartPlacer.origins`.
        """
        if self._goals is None:
            return
        for step, i, reached in self._goals.ended(block):
            self._count(int(origins[step, i]), reached)
        self.succeed(_share_of(self._ordinary))

    def succeed(self, success: float) -> None:
        """Set the share of starts away from the environment's own by the success from there, in [0, 1]."""
        self._placer.share = self._share + (self._curriculum.share_end - self._share) * success

    def _count(self, origin: int, reached: bool) -> None:
        if origin == ORDINARY:
            self._ordinary.append(reached)
        elif self._placer.backward is not None:
            self._placer.backward.count(origin, reached)

    def state(self) -> State:
        """Episodes under way and counted, and what follows from them."""
        goals = self._goals.state() if self._goals is not None else {}
        return {"ordinary": np.array(self._ordinary, dtype=np.bool_), **joined({"goals": goals})}

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        self._ordinary.extend(state["ordinary"].tolist())
        if self._goals is not None:
            self._goals.restore(part(state, "goals"))


def _share_of(episodes: "deque[bool]") -> float:
    """Share of True; 0 until there are as many as are counted."""
    return sum(episodes) / len(episodes) if len(episodes) == episodes.maxlen else 0.0

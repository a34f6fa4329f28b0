"""What each part of the vectoriser buys, on rewards that it was not made with.

`python -m p2p.lab.worker.speed.vectorising` prints the table of docs/speed.md. Times are processor time of this one
process. A reward that a variant does not take costs what the loop costs.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import mean, median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.work import CheckRequest
from p2p.envs import catalog
from p2p.lab.worker.speed.reward_styles import generate
from p2p.worker.reward.recorded_steps import RecordedSteps
from p2p.worker.reward.recording import Recording
from p2p.worker.reward.runner import RewardRunner
from p2p.worker.reward.transitions import record_episodes
from p2p.worker.reward_source.loader import FAILURES, LoadedReward
from p2p.worker.vectorise import NotVectorised, prove, vector_reward, vectorise
from p2p.worker.vectorise.vector_reward import Result, VectorReward

ROWS = 2048
"""Of a block, as in a training's rollout."""
REPETITIONS = 5


class PlainArrays(VectorReward):
    """The reward as written, called once with numpy's own arrays: no rewriting, no `Batch`."""

    def __call__(self, obs: Any, action: Any, next_obs: Any, info: Any) -> Result:
        """See `VectorReward`."""
        count = len(obs)
        try:
            with np.errstate(all="ignore"):
                total, terms = self._instance.compute(obs.T.copy(), action.T.copy(), next_obs.T.copy(), dict(info))
                columns = [np.broadcast_to(np.asarray(value, np.float64), count) for value in (total, *terms.values())]
        except FAILURES as error:
            raise NotVectorised(str(error)) from error
        return columns[0], np.stack(columns[1:], axis=1), tuple(terms)


@contextmanager
def patched(name: str, value: object) -> Iterator[None]:
    """Replace something in the vectoriser for a while."""
    before = getattr(vector_reward, name)
    setattr(vector_reward, name, value)
    try:
        yield
    finally:
        setattr(vector_reward, name, before)


def plain_arrays(reward: LoadedReward) -> VectorReward:
    """Without any part of the vectoriser but the proof."""
    return PlainArrays(reward.fresh(), hand_written=False)


def refuse_to_part(_index: object, _split: object) -> Any:
    """In place of passes: every row goes through the code at once, or the reward is refused."""
    raise NotVectorised("rows part")


Make = Callable[[LoadedReward], VectorReward]
VARIANTS: dict[str, tuple[Make, dict[str, object]]] = {
    "plain arrays, proven": (plain_arrays, {}),
    "`Batch` alone: rows that branch apart refused": (
        vectorise,
        {"rewrite": lambda tree: tree, "_parted": refuse_to_part},
    ),
    "`Batch`, rows that branch apart in passes": (vectorise, {"rewrite": lambda tree: tree}),
    "`Batch` and rewriting, no passes": (vectorise, {"_parted": refuse_to_part}),
    "all: `Batch`, rewriting, passes": (vectorise, {}),
}


def rows_of(recording: Recording) -> tuple[Any, ...]:
    """Arguments of a vectorised reward: a block of `ROWS` rows."""
    index = np.resize(np.arange(len(recording.starts)), ROWS)
    arrays = [array[index] for array in (recording.obs, recording.actions, recording.next_obs)]
    return (*arrays, {name: column[index] for name, column in recording.columns.items()})


def cost(work: Callable[[], object]) -> float:
    """Processor time of one call per row [us]: the least of some."""
    times = []
    for _ in range(REPETITIONS):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return 1e6 * min(times) / ROWS


def measure(reward: LoadedReward, recording: Recording, make: Make) -> tuple[float | None, str]:
    """Microseconds per row, or None and why the reward is not taken."""
    r = recording
    try:
        vector = make(reward)
        prove(vector, reward, r.obs, r.actions, r.next_obs, r.columns, r.starts)
        block = rows_of(recording)
        return cost(lambda: vector(*block)), ""
    except NotVectorised as refusal:
        return None, str(refusal)


def loop_cost(reward: LoadedReward, recording: Recording) -> float:
    """Microseconds per row, step by step."""
    obs, actions, next_obs, columns = rows_of(recording)
    starts: NDArray[np.bool_] = np.arange(ROWS)[:, None] == 0
    return cost(lambda: RewardRunner(reward, 1).run(RecordedSteps(obs, actions, next_obs, starts, columns)))


def main(arguments: list[str]) -> None:
    """Measure all variants and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rewards", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--refusals", action="store_true", help="Print what the whole vectoriser refuses, and why.")
    options = parser.parse_args(arguments)
    recording = record_episodes(catalog.load("HalfCheetah-v5"), CheckRequest(n_transitions=600))
    costs: dict[str, list[float]] = {name: [] for name in VARIANTS}
    taken: Counter[str] = Counter()
    loops: list[float] = []
    styles, refused = Counter[str](), Counter[str]()
    for chosen, source in generate(options.rewards, options.seed):
        reward = LoadedReward(source)
        loops.append(loop_cost(reward, recording))
        for name, (make, changes) in VARIANTS.items():
            with _all_patched(changes):
                found, why = measure(reward, recording, make)
            taken[name] += found is not None
            costs[name].append(loops[-1] if found is None else found)
        styles.update(chosen)
        if found is None:
            refused.update(chosen)
            if options.refusals:
                print(f"{why}: {', '.join(chosen)}", file=sys.stderr)
    print(f"| {options.rewards} rewards of 2 to 4 terms | taken | us a step, mean | median |")
    print("|---|---|---|---|")
    print(f"| the loop | – | {mean(loops):.2f} | {median(loops):.2f} |")
    for name in VARIANTS:
        share = taken[name] / options.rewards
        print(f"| {name} | {share:.0%} | {mean(costs[name]):.2f} | {median(costs[name]):.2f} |")
    always = sorted(style for style in styles if refused[style] == styles[style])
    print(f"\nStyles never taken: {', '.join(always) or 'none'} (of {len(styles)}).")


@contextmanager
def _all_patched(changes: dict[str, object]) -> Iterator[None]:
    if not changes:
        yield
        return
    (name, value), *rest = changes.items()
    with patched(name, value), _all_patched(dict(rest)):
        yield


if __name__ == "__main__":
    main(sys.argv[1:])

"""Whether the two learners learn alike: the same settings, the same seeds, the intervals of their learning curves."""

from collections.abc import Mapping, Sequence
from itertools import product
from statistics import fmean

from p2p.analysis.intervals import mean_interval
from p2p.lab.learning.learn import Learned, number

LEARNERS = ("fast", "sb3")
ENVIRONMENTS = ("HalfCheetah-v5", "Hopper-v5", "Swimmer-v5", "InvertedPendulum-v5")


def row_name(env_id: str, learner: str) -> str:
    """What the runs of one learner in one environment are called."""
    return f"{env_id} {learner}"


def table(rows: Mapping[str, Sequence[Learned]], env_ids: Sequence[str]) -> str:
    """Training returns after each quarter of the steps with their 95 % intervals over the seeds, in Markdown."""
    head = "| environment | learner | 25 % | 50 % | 75 % | 100 % | intervals overlap |\n" + "|---" * 7 + "|"
    lines = [head]
    for env_id, learner in product(env_ids, LEARNERS):
        others = [name for name in LEARNERS if name != learner]
        mine, theirs = (_intervals(rows[row_name(env_id, name)]) for name in (learner, *others))
        shared = sum(max(a[0], b[0]) <= min(a[1], b[1]) for a, b in zip(mine, theirs, strict=True))
        means = [fmean(values) for values in _quarters(rows[row_name(env_id, learner)])]
        cells = [
            f"{number(mean)} [{number(low)}, {number(high)}]" for mean, (low, high) in zip(means, mine, strict=True)
        ]
        lines.append(f"| {' | '.join([env_id, learner, *cells, f'{shared} of {len(mine)}'])} |")
    return "\n".join(lines)


def _intervals(runs: Sequence[Learned]) -> list[tuple[float, float]]:
    return [mean_interval(values) or (values[0], values[0]) for values in _quarters(runs)]


def _quarters(runs: Sequence[Learned]) -> list[list[float]]:
    """The returns of all runs at each quarter."""
    return [list(values) for values in zip(*(run.curve for run in runs), strict=True)]

"""The throughput benchmark in Markdown."""

from p2p.benchmark.throughput import COMPARED
from p2p.contracts.measurement import Spread, ThroughputReport, ThroughputRow

COLUMNS = (
    *("case", "net", "ours, steps/s", "baseline, steps/s", "ratio", "physics alone, steps/s", "share of it"),
    *("reward", "ready", "peak memory", "baseline ready", "its peak memory"),
)


def table(report: ThroughputReport) -> str:
    """One row per case: medians, with the smallest and largest of the repetitions; below it what was compared."""
    head = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"
    return "\n".join([head, *(_row(row) for row in report.rows), "", legend(report)])


def legend(report: ThroughputReport) -> str:
    """What the figures mean."""
    first = report.rows[0]
    config = first.config.model_dump()
    shared = ", ".join(f"{name} {config[name]}" for name in COMPARED)
    return (
        f"Median [smallest, largest] of {len(first.repetitions)} interleaved repetitions of {report.seconds:g} s; "
        f"{report.parallel} at the same time, one thread each, their steps/s added up. Ratios and shares are those "
        "within a repetition. Baseline: stable-baselines3's PPO with VecNormalize on Gymnasium's DummyVecEnv, "
        "the same reward in a wrapper that is called at every step. Environments x steps of a rollout: "
        f"ours {first.config.n_envs} x {first.config.n_steps}, "
        f"baseline {first.baseline_n_envs} x {first.baseline_n_steps}. Both: {shared}."
    )


def _row(row: ThroughputRow) -> str:
    cells = [
        row.case,
        ", ".join(map(str, row.config.net_arch)),
        _spread(row.ours, ",.0f"),
        _spread(row.baseline, ",.0f"),
        _spread(row.ratio, ".1f"),
        _spread(row.physics, ",.0f"),
        _spread(row.physics_share, ".0%"),
        row.method or "–",
        f"{row.ready_s:.1f} s",
        f"{row.peak_memory_mb} MB",
        f"{row.baseline_ready_s:.1f} s",
        f"{row.baseline_peak_memory_mb} MB",
    ]
    return f"| {' | '.join(cells)} |"


def _spread(spread: Spread, style: str) -> str:
    return f"{spread.median:{style}} [{spread.low:{style}}, {spread.high:{style}}]"

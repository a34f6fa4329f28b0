"""The throughput benchmark in Markdown."""

from p2p.lab.contracts.measurement import Spread, ThroughputReport
from p2p.lab.speed.throughput import COMPARED

COLUMNS = (
    *("case", "net", "ours, steps/s", "baseline, steps/s", "ratio", "physics alone, steps/s", "share of it"),
    *("update, GFLOP/s", "share of sgemm's"),
    *("reward", "ready", "peak memory", "baseline ready", "its peak memory"),
)


def table(report: ThroughputReport) -> str:
    """One row per case: medians, with the smallest and largest of the repetitions; below it what was compared."""
    head = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"
    lines = [head]
    for row in report.rows:
        cells = [
            row.case,
            ", ".join(map(str, row.config.net_arch)),
            _spread(row.ours, ",.0f"),
            _spread(row.baseline, ",.0f"),
            _spread(row.ratio, ".1f"),
            _spread(row.physics, ",.0f"),
            _spread(row.physics_share, ".0%"),
            _spread(row.update_gflops, ".0f") if row.update_gflops else "–",
            _spread(row.sgemm_share, ".0%") if row.sgemm_share else "–",
            row.method or "–",
            f"{row.ready_s:.1f} s",
            f"{row.peak_memory_mb} MB",
            f"{row.baseline_ready_s:.1f} s",
            f"{row.baseline_peak_memory_mb} MB",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", legend(report)])


def legend(report: ThroughputReport) -> str:
    """What the figures mean."""
    first = report.rows[0]
    settings: dict[str, list[str]] = {}
    for row in report.rows:
        config = row.config.model_dump()
        shared = ", ".join(f"{name} {config[name]}" for name in COMPARED)
        setting = (
            f"environments x steps of a rollout {row.config.n_envs} x {row.config.n_steps}, "
            f"baseline {row.baseline_n_envs} x {row.baseline_n_steps}, {shared}"
        )
        settings.setdefault(setting, []).append(row.case)
    what = " ".join(f"{', '.join(cases)}: {text}." for text, cases in settings.items())
    return (
        f"Median [smallest, largest] of {len(first.repetitions)} interleaved repetitions of {report.seconds:g} s; "
        f"{report.parallel} at the same time, one thread each, their steps/s added up. Ratios and shares are those "
        "within a repetition. Peak memory is of all processes of a job together: with ours, the reward's too. "
        "An update's GFLOP/s are the operations of its matrix products over all of its time, held against a bare "
        "matrix product of the size that a minibatch has (sgemm), in turns on the same core. "
        "Baseline: stable-baselines3's PPO with VecNormalize on Gymnasium's DummyVecEnv, "
        f"the same reward in a wrapper that is called at every step. {what}"
    )


def _spread(spread: Spread, style: str) -> str:
    return f"{spread.median:{style}} [{spread.low:{style}}, {spread.high:{style}}]"

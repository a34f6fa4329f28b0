"""What it costs that rewards run in a process of their own."""

from collections.abc import Sequence

from p2p.lab.contracts.measurement import ConfinementReport, ConfinementRow, Spread
from p2p.lab.speed.throughput import Jobs, MeasurementPlan, ThroughputBenchmark, ThroughputCase


def measure_confinement(
    benchmark: ThroughputBenchmark, cases: Sequence[ThroughputCase], plan: MeasurementPlan
) -> ConfinementReport:
    """Measure trainings whose reward runs in its own process and in the trainer's, rollout by rollout in turns.

    What else the machine does meanwhile hits both alike.

    Raises:
        InvalidConfig: a setting is misspelt.
        TrainingFailed: a measurement did not reach its end.
    """
    found: dict[str, list[Jobs]] = {case.name: [] for case in cases}
    for number in range(plan.repetitions):
        for case in cases:
            found[case.name].append(benchmark.measure(case, "confinement", number))
    return ConfinementReport(
        parallel=benchmark.parallel,
        seconds=plan.seconds,
        repetitions=plan.repetitions,
        rows=tuple(row(name, repetitions) for name, repetitions in found.items()),
    )


def row(case: str, repetitions: Sequence[Jobs]) -> ConfinementRow:
    """The figures of a case."""
    jobs = [job for repetition in repetitions for job in repetition]
    pairs = [(job.hosted_rollout_s or 0.0, job.in_process_rollout_s or 0.0) for job in jobs]
    return ConfinementRow(
        case=case,
        method=jobs[-1].method,
        hosted_ms=Spread.of(tuple(1e3 * hosted for hosted, _ in pairs)),
        in_process_ms=Spread.of(tuple(1e3 * inside for _, inside in pairs)),
        cost=Spread.of(tuple(1.0 - inside / hosted for hosted, inside in pairs)),
    )


def table(report: ConfinementReport) -> str:
    """One row per case, in Markdown."""
    lines = [
        "| case | reward | rollout and update, reward in its own process | in the trainer's | speed lost |",
        "|---|---|---|---|---|",
        *map(_line, report.rows),
        "",
        f"Median [smallest, largest] of {report.repetitions} repetitions of {report.seconds:g} s, "
        f"{report.parallel} at the same time; within each, the two alternate from rollout to rollout.",
    ]
    return "\n".join(lines)


def _line(row: ConfinementRow) -> str:
    times = (f"{s.median:.1f} ms [{s.low:.1f}, {s.high:.1f}]" for s in (row.hosted_ms, row.in_process_ms))
    cost = f"{row.cost.median:.1%} [{row.cost.low:.1%}, {row.cost.high:.1%}]"
    return f"| {' | '.join([row.case, row.method or '–', *times, cost])} |"

"""`p2p bench confine`: what it costs that rewards run in a process of their own."""

from p2p.cli.options import AsJson, RunsDir, examples
from p2p.cli.output import Output
from p2p.lab.speed.confinement import measure_confinement, table
from p2p.lab.speed.train_command import (
    CaseNames,
    Parallel,
    Repetitions,
    Seconds,
    Settings,
    chosen_cases,
    plan_of,
    prepared_benchmark,
)

CONFINE_EXAMPLES = examples("p2p bench confine", "p2p bench confine --case halfcheetah --repetitions 9 --seconds 3")


def confine(
    case: CaseNames = None,
    repetitions: Repetitions = 5,
    seconds: Seconds = 4.0,
    parallel: Parallel = None,
    assignments: Settings = None,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Measure what it costs that a reward runs in a confined process of its own, against the same reward without."""
    cases = chosen_cases(case)
    output = Output(as_json)
    plan = plan_of(repetitions, seconds, parallel, assignments)
    with prepared_benchmark(runs_dir, plan, output) as benchmark:
        report = measure_confinement(benchmark, cases, plan)
    output.result(report, table(report))

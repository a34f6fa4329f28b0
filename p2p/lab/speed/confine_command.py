"""`p2p bench confine`: what it costs that rewards run in a process of their own."""

from pathlib import Path
from tempfile import TemporaryDirectory

from p2p.cli.config import read_config
from p2p.cli.options import AsJson, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.contracts.training import canonical_names
from p2p.lab.speed.confinement import measure_confinement, table
from p2p.lab.speed.throughput import MeasurementPlan, ThroughputBenchmark
from p2p.lab.speed.train_command import CaseNames, Parallel, Repetitions, Seconds, Settings, chosen_cases

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
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    changes = canonical_names(read_config(None, assignments or (), None))
    plan = MeasurementPlan(repetitions=repetitions, parallel=parallel, seconds=seconds, changes=changes)

    def progress(line: str) -> None:
        output.console.print(line, markup=False, soft_wrap=True)

    with TemporaryDirectory(prefix="p2p-bench-", ignore_cleanup_errors=True) as root:
        benchmark = ThroughputBenchmark(ws, Path(root), plan, progress)
        report = measure_confinement(benchmark, cases, plan)
    output.result(report, table(report))

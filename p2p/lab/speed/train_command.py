"""`p2p bench train`: how fast a training is."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from p2p.cli.config import read_config
from p2p.cli.options import AsJson, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.contracts.errors import UnknownName
from p2p.contracts.training import canonical_names
from p2p.lab.speed.throughput import CASES, MeasurementPlan, ThroughputBenchmark, ThroughputCase
from p2p.lab.speed.throughput_table import table
from p2p.store.robots import is_model_file

TRAIN_EXAMPLES = examples(
    "p2p bench train",
    "p2p bench train --case halfcheetah --case ant --repetitions 5",
    "p2p bench train --set batch_size=64 --set n_epochs=10 --set n_steps=128",
    "p2p bench train --seconds 20 --json > throughput.json",
    "p2p bench train --case ./my_robot.xml",
)
NAMES = tuple(case.name for case in CASES)

CaseNames = Annotated[
    list[str] | None,
    typer.Option(
        "--case",
        metavar="NAME",
        help=f"{', '.join(NAMES)}, or a robot of your own by its model file; repeatable.",
        show_default="all",
    ),
]
Repetitions = Annotated[int, typer.Option(min=1, help="Times each of them is measured, in turns.")]
Seconds = Annotated[float, typer.Option(min=0.1, help="Length of each measurement.")]
Parallel = Annotated[
    int | None, typer.Option(min=1, help="Trainings at the same time.", show_default="one per usable core")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="One field of the training configuration, for the baseline too."),
]


def train(
    case: CaseNames = None,
    repetitions: Repetitions = 3,
    seconds: Seconds = 6.0,
    parallel: Parallel = None,
    assignments: Settings = None,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Measure the speed of a training with a reward of one's own, and print it in Markdown.

    It is held against stable-baselines3 on Gymnasium's environments, and against the physics alone.
    """
    files = [name for name in case or () if is_model_file(name)]
    named = [name for name in case or () if name not in files]
    cases = chosen_cases(named) if named or not files else []
    output = Output(as_json)
    plan = plan_of(repetitions, seconds, parallel, assignments)
    with prepared_benchmark(runs_dir, plan, output) as benchmark:
        report = benchmark.run([*cases, *map(benchmark.case_of, files)])
    output.result(report, table(report))


def plan_of(repetitions: int, seconds: float, parallel: int | None, assignments: list[str] | None) -> MeasurementPlan:
    """What is measured, from the options of a command."""
    changes = canonical_names(read_config(None, assignments or (), None))
    return MeasurementPlan(repetitions=repetitions, parallel=parallel, seconds=seconds, changes=changes)


@contextmanager
def prepared_benchmark(runs_dir: Path | None, plan: MeasurementPlan, output: Output) -> Iterator[ThroughputBenchmark]:
    """Benchmark in a temporary directory; each measurement is printed to the console."""
    ws = open_workspace(runs_dir)

    def progress(line: str) -> None:
        output.console.print(line, markup=False, soft_wrap=True)

    with TemporaryDirectory(prefix="p2p-bench-", ignore_cleanup_errors=True) as root:
        yield ThroughputBenchmark(ws, Path(root), plan, progress)


def chosen_cases(names: list[str] | None) -> list[ThroughputCase]:
    """The cases of these names; all of them where none is given.

    Raises:
        UnknownName: one of them is not there.
    """
    for name in names or ():
        if name not in NAMES:
            raise UnknownName("case", name, NAMES)
    return [known for known in CASES if not names or known.name in names]

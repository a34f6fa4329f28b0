"""`p2p bench learn` and `p2p bench search`: what PPO reaches, and with which settings."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from p2p.benchmark.table_place import TablePlace
from p2p.cli.completion import complete_environment
from p2p.cli.counts import steps
from p2p.cli.options import AsJson, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.contracts.errors import UnknownName
from p2p.contracts.training import TrainConfig
from p2p.lab.learning.learn import LearnBenchmark, Learned, standard_config, table
from p2p.lab.learning.parity import ENVIRONMENTS, LEARNERS, row_name
from p2p.lab.learning.parity import table as compare
from p2p.lab.learning.preset_candidates import CANDIDATES
from p2p.service.machines.setup import require_training
from p2p.service.training.environments import list_environments
from p2p.service.workspace import Workspace

LEARN_EXAMPLES = examples(
    "p2p bench learn --env HalfCheetah-v5 --timesteps 300000",
    "p2p bench learn --readme docs/learning.md",
)
PARITY_EXAMPLES = examples("p2p bench parity --env Hopper-v5 --timesteps 50000")
SEARCH_EXAMPLES = examples("p2p bench search --env Ant-v5 --candidate smooth --candidate default")

Environments = Annotated[
    list[str] | None,
    typer.Option("--env", help="Environment; repeatable.", show_default="all", autocompletion=complete_environment),
]
Lengths = Annotated[
    list[int],
    typer.Option("--timesteps", parser=steps, metavar="STEPS", help="Steps of a training; repeatable."),
]
ReportSeeds = Annotated[list[int], typer.Option("--seed", min=0, max=999, help="Seed of a training; repeatable.")]
Readme = Annotated[
    Path | None,
    typer.Option(exists=True, dir_okay=False, help="File to write the table to, between its `learn` markers."),
]
Candidates = Annotated[
    list[str] | None, typer.Option("--candidate", metavar="NAME", help="Settings to try.", show_default="all")
]


def learn(
    env: Environments = None,
    timesteps: Lengths = [300_000, 1_000_000],  # noqa: B006  typer copies it
    seed: ReportSeeds = [10, 11, 12, 13, 14],  # noqa: B006
    readme: Readme = None,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Train with the presets by Gymnasium's own reward, and print the returns with their interval over the seeds.

    The seeds are not those the presets were chosen on. A run that is there already is not trained again.
    """
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    require_training(ws)
    place = TablePlace(readme) if readme is not None else None
    configs = [
        (f"{name} {steps}", standard_config(ws, name, steps, number, {}))
        for steps in timesteps
        for name in env or _all()
        for number in seed
    ]
    rows = _run(ws, output, "learn", configs)
    if place is not None:
        place.write(table(rows))
    output.result(_plain(rows), Text(table(rows)))


def search(
    env: Environments = None,
    candidate: Candidates = None,
    timesteps: Annotated[int, typer.Option(parser=steps, metavar="STEPS", help="Steps of a training.")] = 1_000_000,
    seed: ReportSeeds = [0, 1],  # noqa: B006
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Try settings on an environment by Gymnasium's own reward, and print what each reached.

    This is how the presets were found. What it prints is a choice, not a result: report on other seeds.
    """
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    require_training(ws)
    for name in candidate or ():
        if name not in CANDIDATES:
            raise UnknownName("candidate", name, CANDIDATES)
    configs = [
        (f"{name}: {label}", standard_config(ws, name, timesteps, number, CANDIDATES[label], bare=True))
        for name in env or _all()
        for label in candidate or CANDIDATES
        for number in seed
    ]
    rows = _run(ws, output, "search", configs)
    output.result(_plain(rows), Text(table(rows)))


def parity(
    env: Environments = None,
    timesteps: Annotated[int, typer.Option(parser=steps, metavar="STEPS", help="Steps of a training.")] = 100_000,
    seed: ReportSeeds = [10, 11, 12, 13, 14],  # noqa: B006
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Train with both learners, `fast` and `sb3`, on the same settings and seeds, and compare their learning curves."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    require_training(ws)
    env_ids = env or list(ENVIRONMENTS)
    configs = [
        (row_name(name, learner), standard_config(ws, name, timesteps, number, {"learner": learner}))
        for name in env_ids
        for learner in LEARNERS
        for number in seed
    ]
    rows = _run(ws, output, "parity", configs)
    output.result(_plain(rows), Text(compare(rows, env_ids)))


def _all() -> list[str]:
    return [spec.env_id for spec in list_environments()]


def _run(ws: Workspace, output: Output, kind: str, configs: list[tuple[str, TrainConfig]]) -> dict[str, list[Learned]]:
    bench = LearnBenchmark(ws, ws.runs.path / kind)
    return bench.run(configs, lambda run: output.console.print(f"{run}: done", markup=False))


def _plain(rows: dict[str, list[Learned]]) -> dict[str, list[dict[str, object]]]:
    """The rows as JSON."""
    return {
        name: [
            {
                "seed": run.config.seed,
                "returns": list(run.returns),
                "training_time_s": run.summary.training_time_s,
                "steps_per_second": run.summary.steps_per_second,
                "curve": list(run.curve),
            }
            for run in runs
        ]
        for name, runs in rows.items()
    }

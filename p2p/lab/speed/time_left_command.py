"""`p2p lab eta`: how right the first estimates of the time left are."""

from typing import Annotated

import typer

from p2p.cli.counts import steps
from p2p.cli.options import AsJson, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.contracts.errors import UnknownName
from p2p.contracts.session import NewSession
from p2p.lab.contracts.measurement import TimeLeft
from p2p.lab.speed.time_left import measure_time_left, table
from p2p.service.machines.setup import require_training
from p2p.store.suite_files import load_suite

ETA_EXAMPLES = examples(
    "p2p lab eta",
    "p2p lab eta --env Ant-v5 --env Hopper-v5 --timesteps 200000 --seeds 3",
    "p2p lab eta --json > eta.json",
)
SENTENCES = {case.env_id: case.prompt for case in reversed(load_suite("basic").cases)}
"""Environment -> what is trained there."""

Environments = Annotated[
    list[str] | None,
    typer.Option("--env", metavar="ID", help=f"{', '.join(SENTENCES)}; repeatable.", show_default="all"),
]
Timesteps = Annotated[int, typer.Option(parser=steps, metavar="STEPS", help="Steps of each training.")]
Seeds = Annotated[int, typer.Option(min=1, help="Trainings of each session.")]


def eta(
    env: Environments = None,
    timesteps: Timesteps = 100_000,
    seeds: Seeds = 2,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Train short sessions and hold the first estimate of the time left against the truth, in Markdown.

    A run's estimate is of the end of its training, a session's of its verdict. Load averages stand beside each, for
    load that changes is no fault of the estimate.
    """
    for name in env or ():
        if name not in SENTENCES:
            raise UnknownName("environment with a sentence", name, SENTENCES)
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    require_training(ws)
    rows: list[TimeLeft] = []
    for name in env or SENTENCES:
        request = NewSession(
            prompt=SENTENCES[name],
            env_id=name,
            n_seeds=seeds,
            max_iterations=1,
            config={"total_timesteps": timesteps},
            priority="normal",
        )
        rows += measure_time_left(ws, request, lambda line: output.console.print(line, markup=False, soft_wrap=True))
    output.result({"estimates": [row.model_dump() for row in rows]}, table(rows))

"""`p2p clusters`: schedulers that trainings are handed to."""

import json
from typing import Annotated

import typer
from pydantic import JsonValue, ValidationError
from rich.table import Table

from p2p import registry
from p2p.cli.options import AsJson, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.cli.session_options import option
from p2p.cli.tables import table
from p2p.contracts.cluster import Cluster
from p2p.contracts.errors import EnvironmentProblem, InvalidInput
from p2p.contracts.node import ClusterView, NodeState
from p2p.service.machines.clusters import add_cluster, check_cluster, remove_cluster, stop_cluster
from p2p.service.machines.clusters import list_clusters as service_list_clusters

clusters = typer.Typer(
    name="clusters",
    no_args_is_help=True,
    help=f"Clusters that trainings run on: {', '.join(registry.cluster_kinds())}.",
)

USUAL = Cluster(name="usual", kind="slurm")
"""Its values are the defaults of the options."""

Name = Annotated[str, typer.Argument(metavar="CLUSTER", help="Name of the cluster.")]
Kind = Annotated[str, typer.Argument(metavar="KIND", help=f"Its scheduler: {', '.join(registry.cluster_kinds())}.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Option of its scheduler, such as partition=gpu."),
]
Setup = Annotated[
    list[str] | None,
    typer.Option(
        "--setup", metavar="LINE", help="Shell line run before each training, such as 'module load python/3.11'."
    ),
]


@clusters.command(
    epilog=examples(
        "p2p clusters add lab slurm --set partition=gpu --set account=robots",
        "p2p clusters add lab slurm --setup 'module load python/3.11' --time-limit-min 120",
    )
)
def add(  # noqa: PLR0913  typer reads one parameter per option
    name: Name,
    kind: Kind,
    options: Options = None,
    setup: Setup = None,
    python: Annotated[str | None, option(Cluster, "python", "--python")] = None,
    wrapper: Annotated[str, option(Cluster, "wrapper", "--wrapper")] = USUAL.wrapper,
    memory_mb: Annotated[int, option(Cluster, "memory_mb", "--memory-mb")] = USUAL.memory_mb,
    cores: Annotated[int, option(Cluster, "cores", "--cores")] = USUAL.cores,
    gpus: Annotated[int, option(Cluster, "gpus", "--gpus")] = USUAL.gpus,
    time_limit_min: Annotated[int | None, option(Cluster, "time_limit_min", "--time-limit-min")] = None,
    max_runs: Annotated[int, option(Cluster, "max_runs", "--max-runs")] = USUAL.max_runs,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Make a cluster known; nothing is sent to it."""
    fields = {
        "name": name,
        "kind": kind,
        "options": dict(_assignment(text) for text in options or ()),
        "setup": tuple(setup or ()),
        "python": python,
        "wrapper": wrapper,
        "memory_mb": memory_mb,
        "cores": cores,
        "gpus": gpus,
        "time_limit_min": time_limit_min,
        "max_runs": max_runs,
    }
    try:
        cluster = Cluster.model_validate(fields)
    except ValidationError as error:
        wrong = error.errors()[0]
        raise InvalidInput(f"A cluster's {wrong['loc'][0]} cannot be {wrong['input']!r}: {wrong['msg']}.") from error
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    view = add_cluster(ws, cluster)
    problem = [view.problem] if view.problem else []
    output.result(view, f"Added {name}. To run a job of one second there: p2p clusters check {name}", *problem)


@clusters.command("list", epilog=examples("p2p clusters list"))
def list_clusters(as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """List the clusters; their schedulers are not asked."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    views = service_list_clusters(ws)
    text = cluster_table(views) if views else "No clusters. To add one: p2p clusters add CLUSTER KIND"
    output.result({"clusters": [view.model_dump(mode="json") for view in views]}, text)


@clusters.command(epilog=examples("p2p clusters check lab", "p2p clusters check slurm --wait 600"))
def check(
    name: Name,
    wait: Annotated[float, typer.Option(min=1.0, help="Longest time in the queue [s].")] = 300.0,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Run a job of one second on a cluster, and see that it comes back."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    with output.console.status(f"Waiting for a job of one second on {name} …"):
        view = check_cluster(ws, name, wait)
    said = view.problem or f"Ready. To train there: p2p run … --backend {view.backend}"
    output.result(view, cluster_table((view,)), said)
    if view.state is not NodeState.READY:
        raise typer.Exit(EnvironmentProblem.exit_code)


@clusters.command(epilog=examples("p2p clusters stop here", "p2p clusters stop here --interrupt"))
def stop(
    name: Name,
    interrupt: Annotated[
        bool, typer.Option("--interrupt", help="Interrupt trainings there; they go on when the cluster runs again.")
    ] = False,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """End what p2p has started on this machine for a cluster, such as a Ray; nothing that others started."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    end = stop_cluster(ws, name, interrupt)
    said = f"Stopped {end.stopped}." if end.stopped else f"Nothing that p2p has started runs for {name}."
    interrupted = [f"Interrupted {path}" for path in end.interrupted]
    again = [f"They go on when it runs again: p2p clusters check {name}"] if interrupted else []
    output.result(end, said, *interrupted, *again)


@clusters.command(epilog=examples("p2p clusters remove lab"))
def remove(name: Name, as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """Forget a cluster."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    remove_cluster(ws, name)
    output.result({"removed": name}, f"Removed {name}.")


def cluster_table(views: tuple[ClusterView, ...]) -> Table:
    """One row per cluster."""
    made = table("cluster", "backend", "state", "options", "cores", "memory", "gpus", "sandbox", "jobs")
    for view in views:
        cluster = view.cluster
        made.add_row(
            cluster.name,
            view.backend,
            str(view.state or ""),
            ", ".join(f"{key}={value}" for key, value in cluster.options.items()),
            str(cluster.cores),
            f"{cluster.memory_mb:,} MiB",
            str(cluster.gpus),
            view.sandbox or "",
            str(view.jobs),
        )
    return made


def _assignment(text: str) -> tuple[str, JsonValue]:
    """`NAME=VALUE`; a value that is JSON is read as such, any other is a text."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise InvalidInput(f"Expected NAME=VALUE, such as partition=gpu, got {text!r}.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value

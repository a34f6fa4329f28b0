"""`p2p nodes`: other machines that trainings run on."""

import re
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.table import Table

from p2p.cli.formats import age
from p2p.cli.options import AsJson, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.cli.tables import table
from p2p.contracts.errors import EnvironmentProblem, InvalidInput
from p2p.contracts.node import Node, NodeState, NodeView
from p2p.service.machines.nodes import add_node, bootstrap_node, check_node, host_key, remove_node, trust_node
from p2p.service.machines.nodes import list_nodes as service_list_nodes

nodes = typer.Typer(name="nodes", no_args_is_help=True, help="Other machines to train on, over SSH.")
ADDRESS = re.compile(r"(?:(?P<user>[^@\s]+)@)?(?P<host>\[[0-9a-fA-F:]+\]|[^@:\s]+)(?::(?P<port>\d+))?")

Name = Annotated[str, typer.Argument(metavar="NODE", help="Name of the node.")]
Address = Annotated[str, typer.Argument(metavar="[USER@]HOST[:PORT]", help="SSH address.")]
Key = Annotated[Path | None, typer.Option("--key", help="Private key to log in with; it stays here.")]
Agent = Annotated[bool, typer.Option("--agent", help="Log in with the keys of the SSH agent, which is not forwarded.")]
Keys = Annotated[bool, typer.Option("--keys", help="Log in with the keys in ~/.ssh.")]
Directory = Annotated[str, typer.Option("--dir", help="Directory there for p2p's files.")]
Python = Annotated[
    str | None,
    typer.Option(
        "--python", help="Python interpreter there whose packages are used.", show_default="p2p installs what it needs"
    ),
]
Extra = Annotated[list[str] | None, typer.Option("--extra", help="Also install this extra there, such as sb3.")]
MaxRuns = Annotated[int | None, typer.Option(min=1, help="Trainings that run at once.", show_default="one per core")]
Timeout = Annotated[
    float, typer.Option(min=1.0, max=600.0, help="Silence after which the node counts as unreachable [s].")
]


@nodes.command(epilog=examples("p2p nodes add attic me@attic.local --key ~/.ssh/id_ed25519"))
def add(  # noqa: PLR0913  typer reads one parameter per option
    name: Name,
    address: Address,
    key: Key = None,
    agent: Agent = False,
    keys: Keys = False,
    directory: Directory = ".p2p",
    python: Python = None,
    extra: Extra = None,
    max_runs: MaxRuns = None,
    timeout: Timeout = 10.0,
    cluster: Annotated[
        str | None,
        typer.Option(help="Cluster of `p2p clusters` whose login node it is: its scheduler is given the trainings."),
    ] = None,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Make a machine known; nothing is sent to it."""
    if (parts := ADDRESS.fullmatch(address)) is None:
        raise InvalidInput(f"Expected an address such as me@attic.local or me@10.0.0.7:2222, got {address!r}.")
    fields = {
        "name": name,
        "user": parts["user"],
        "host": parts["host"].strip("[]"),
        "port": int(parts["port"] or 22),
        "key_file": str(key.expanduser().absolute()) if key is not None else None,
        "allow_agent": agent,
        "look_for_keys": keys,
        "directory": directory,
        "python": python,
        "extras": ("train", *(extra or ())),
        "max_runs": max_runs,
        "timeout_s": timeout,
    }
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    view = add_node(ws, _node(fields), cluster)
    output.result(
        view,
        f"Added {name} ({view.node.address}). Next:\n"
        f"  p2p nodes trust {name}       look at its host key, and trust it\n"
        f"  p2p nodes bootstrap {name}   install there what a training needs",
    )


@nodes.command("list", epilog=examples("p2p nodes list", "p2p nodes list --json | jq '.nodes[].node.name'"))
def list_nodes(as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """List the machines, as they were when last looked at."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    views = service_list_nodes(ws)
    text = node_table(views) if views else "No nodes. To add one: p2p nodes add NODE USER@HOST"
    output.result({"nodes": [view.model_dump(mode="json") for view in views]}, text)


@nodes.command(epilog=examples("p2p nodes check attic"))
def check(name: Name, as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """Look at a machine now: what it has, and whether a training could start there."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    view = check_node(ws, name)
    output.result(view, node_table((view,)), *([view.problem] if view.problem else []))
    if view.state is not NodeState.READY:
        raise typer.Exit(EnvironmentProblem.exit_code)


@nodes.command(epilog=examples("p2p nodes trust attic", "p2p nodes trust attic --fingerprint SHA256:…"))
def trust(
    name: Name,
    fingerprint: Annotated[
        str | None, typer.Option(help="Trust this fingerprint without asking.", show_default="asked for")
    ] = None,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Look at the key by which a machine proves who it is, and trust it."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    key = host_key(ws, name)
    if fingerprint is None and not key.trusted:
        output.console.print(f"{name} shows {key.kind} {key.fingerprint}")
        output.console.print("On the machine itself: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub", soft_wrap=True)
        if as_json or not typer.confirm("Is the fingerprint the same?"):
            raise InvalidInput(f"Not trusted. To trust it: p2p nodes trust {name} --fingerprint {key.fingerprint}")
    if fingerprint is not None or not key.trusted:
        key = trust_node(ws, name, fingerprint or key.fingerprint)
    output.result(key, f"{name} is trusted by {key.fingerprint}.")


@nodes.command(epilog=examples("p2p nodes bootstrap attic"))
def bootstrap(name: Name, as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """Install on a machine what a training needs, once; keys and settings stay here."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    output.console.print(f"Preparing {name}; the first time takes some minutes …")
    view = bootstrap_node(ws, name)
    output.result(view, node_table((view,)), f"Ready. To train there: p2p run … --backend ssh:{name}")


@nodes.command(epilog=examples("p2p nodes remove attic", "p2p nodes remove attic --abandon"))
def remove(
    name: Name,
    abandon: Annotated[
        bool, typer.Option("--abandon", help="Also end its jobs, or give them up if the node cannot be reached.")
    ] = False,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Forget a machine."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    ended = remove_node(ws, name, abandon)
    found = {"removed": name, "jobs": [status.model_dump(mode="json") for status in ended]}
    output.result(found, f"Removed {name}." + (f" Jobs given up: {len(ended)}." if ended else ""))


def node_table(views: tuple[NodeView, ...]) -> Table:
    """One row per machine."""
    right = ("cores", "memory", "disk", "jobs")
    made = table(
        "node", "address", "state", "python", "cores", "memory", "disk", "gpu", "jobs", "looked at", right=right
    )
    for view in views:
        facts = view.node.facts
        state = str(view.state) if view.state is not None else ""
        if facts is None:
            made.add_row(view.node.name, view.node.address, state or "not prepared", *[""] * 5, str(view.jobs), "never")
            continue
        made.add_row(
            view.node.name,
            view.node.address,
            state,
            facts.python_version,
            str(facts.cores),
            f"{facts.memory_mb:,} MiB" if facts.memory_mb is not None else "",
            f"{facts.disk_free_mb:,} MiB",
            ", ".join(facts.gpus),
            str(view.jobs),
            age(facts.measured_at),
        )
    return made


def _node(fields: dict[str, object]) -> Node:
    try:
        return Node.model_validate(fields)
    except ValidationError as error:
        wrong = error.errors()[0]
        raise InvalidInput(f"A node's {wrong['loc'][0]} cannot be {wrong['input']!r}: {wrong['msg']}.") from error

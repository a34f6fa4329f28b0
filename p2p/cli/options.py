"""Options that commands share, and the service they open."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from p2p.cli.completion import complete_environment, complete_session
from p2p.cli.counts import steps
from p2p.cli.interrupts import loading
from p2p.contracts.errors import StorageProblem, UnknownName
from p2p.registry import backend_forms

if TYPE_CHECKING:
    from p2p.service.workspace import Workspace

TRAINING, JUDGING = "What is trained", "How it is judged"
BACKENDS = "|".join(backend_forms())

AsJson = Annotated[
    bool, typer.Option("--json", help="Print exactly one JSON object on stdout; everything else goes to stderr.")
]
RunsDir = Annotated[
    Path | None,
    typer.Option("--runs-dir", envvar="P2P_RUNS_DIR", help="Where sessions are kept.", show_default="./runs"),
]
SessionName = Annotated[
    str,
    typer.Argument(
        metavar="[SESSION]",
        help="A session's id or alias, the beginning or end of an id, or `latest`.",
        autocompletion=complete_session,
    ),
]
SuiteRunName = Annotated[str, typer.Argument(metavar="RUN", help="Name of the run; `p2p benchmark list` shows them.")]
Iteration = Annotated[
    int | None, typer.Option("--iteration", min=1, help="Number of the iteration.", show_default="the best so far")
]
EnvId = Annotated[
    str | None,
    typer.Option(
        "--env",
        help="Environment to train in; `p2p envs` lists them.",
        show_default="HalfCheetah-v5",
        autocompletion=complete_environment,
    ),
]
Timesteps = Annotated[
    int | None,
    typer.Option(
        parser=steps,
        metavar="STEPS",
        help="Steps of each training: 300000, 3e5 or 0.3M.",
        show_default="what suits",
        rich_help_panel=TRAINING,
    ),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        exists=True,
        dir_okay=False,
        help="JSON file with fields of the training configuration.",
        rich_help_panel=TRAINING,
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="One field of the training configuration.", rich_help_panel=TRAINING
    ),
]
Detach = Annotated[bool, typer.Option("--detach", help="Start it and return; `p2p watch` shows it.")]
StopOnExit = Annotated[bool, typer.Option("--stop-on-exit", help="Ctrl-C also stops the trainings.")]

AllowWeakSandbox = Annotated[
    bool,
    typer.Option(
        "--allow-weak-sandbox",
        help="Run generated code even where this machine cannot confine it fully; see `p2p doctor`.",
        show_envvar=False,
        rich_help_panel=TRAINING,
    ),
]


BackendName = Annotated[
    str | None,
    typer.Option(
        "--backend",
        metavar=BACKENDS,
        help="Where to train; `p2p nodes` and `p2p clusters` list other machines.",
        show_default="P2P_BACKEND, or this machine",
        rich_help_panel=TRAINING,
    ),
]

BackendFromNowOn = Annotated[
    str | None,
    typer.Option(
        "--backend",
        metavar=BACKENDS,
        help="Where to train from now on; `p2p nodes` and `p2p clusters` list other machines.",
        show_default="where it was",
        rich_help_panel=TRAINING,
    ),
]


def open_workspace(runs_dir: Path | None, backend: str | None = None, allow_weak_sandbox: bool = False) -> "Workspace":
    """The service of this process.

    Raises:
        InvalidInput: an environment variable holds what it cannot.
        StorageProblem: a file is where sessions are to be kept.
    """
    # The service takes six times as long to import as typer; a help page needs the options and no service.
    with loading():
        from p2p.service.workspace import Workspace  # noqa: PLC0415
        from p2p.settings import Settings  # noqa: PLC0415

    if allow_weak_sandbox:
        os.environ["P2P_ALLOW_WEAK_SANDBOX"] = "1"  # jobs inherit it, the session's driver and its trainings
    settings = Settings.from_environment(runs_dir)
    if (place := settings.runs_dir).exists() and not place.is_dir():
        raise StorageProblem(f"{place} is a file; sessions are kept in a directory. Choose one with --runs-dir.")
    return Workspace(settings if backend is None else settings.model_copy(update={"backend": backend}))


def known_names(kind: str, words: Sequence[str] | None, known: Sequence[str]) -> tuple[str, ...]:
    """Names of an option that is repeated, or holds several with commas between; each once, in their order.

    Raises:
        UnknownName: one is not among `known`.
    """
    names = [name.strip() for word in words or () for name in word.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise UnknownName(kind, name, map(str, known))
    return tuple(dict.fromkeys(names))


def examples(*lines: str) -> str:
    """The end of a command's help: one example on each line."""
    return "\n\n".join(["[bold]Examples[/bold]", *(f"  {line}" for line in lines)])

"""The commands by name."""

from typing import Annotated

import typer

import p2p
from p2p.cli.agent import AGENT_EXAMPLES, agent
from p2p.cli.analyze import ANALYZE_EXAMPLES, analyze
from p2p.cli.attack import ATTACK_EXAMPLES, attack
from p2p.cli.bench import bench
from p2p.cli.calibrate import CALIBRATE_EXAMPLES, calibrate
from p2p.cli.catalog import ENVS_EXAMPLES, envs
from p2p.cli.check import CHECK_EXAMPLES, check
from p2p.cli.compare import COMPARE_EXAMPLES, compare
from p2p.cli.doctor import DOCTOR_EXAMPLES, doctor
from p2p.cli.export import EXPORT_EXAMPLES, export
from p2p.cli.extend import EXTEND_EXAMPLES, extend
from p2p.cli.jobs import JOBS_EXAMPLES, jobs
from p2p.cli.keeping import DELETE_EXAMPLES, TAG_EXAMPLES, TRASH_EXAMPLES, delete, tag, trash
from p2p.cli.label import LABEL_EXAMPLES, label
from p2p.cli.models import models
from p2p.cli.nodes import nodes
from p2p.cli.options import examples
from p2p.cli.preview import CRITERIA_EXAMPLES, criteria
from p2p.cli.run import RUN_EXAMPLES, TRAIN_EXAMPLES, run, train
from p2p.cli.sessions import (
    JUDGE_EXAMPLES,
    LIST_EXAMPLES,
    RESUME_EXAMPLES,
    SHOW_EXAMPLES,
    STOP_EXAMPLES,
    WATCH_EXAMPLES,
    judge,
    list_sessions,
    resume,
    show,
    stop,
    watch,
)
from p2p.cli.steer import STEER_EXAMPLES, steer
from p2p.cli.tighten import TIGHTEN_EXAMPLES, tighten
from p2p.cli.view import PLOT_EXAMPLES, VIEW_EXAMPLES, plot, view

FIRST_STEPS = examples(
    "p2p doctor",
    'p2p run "run forward as fast as you can" --env HalfCheetah-v5',
    "p2p show latest",
    "p2p --install-completion",
)

app = typer.Typer(
    name="p2p",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"p2p {p2p.__version__}")
        raise typer.Exit


@app.callback(epilog=FIRST_STEPS)
def start(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and leave.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", envvar="P2P_DEBUG", help="Show the traceback of an error.")] = False,
) -> None:
    """One sentence in, a trained and judged policy out.

    Exit codes: 0 passed or done, 2 usage or rejected input, 3 ended without passing, 4 a problem of this machine,
    130 interrupted (trainings go on).
    """


app.command(epilog=RUN_EXAMPLES)(run)
app.command(epilog=CRITERIA_EXAMPLES)(criteria)
app.command(epilog=CHECK_EXAMPLES)(check)
app.command(epilog=AGENT_EXAMPLES)(agent)
app.command(epilog=TRAIN_EXAMPLES)(train)
app.command(epilog=JUDGE_EXAMPLES)(judge)
app.command(epilog=CALIBRATE_EXAMPLES)(calibrate)
app.command(epilog=ATTACK_EXAMPLES)(attack)
app.command("list", epilog=LIST_EXAMPLES)(list_sessions)
app.command(epilog=SHOW_EXAMPLES)(show)
app.command(epilog=WATCH_EXAMPLES)(watch)
app.command(epilog=VIEW_EXAMPLES)(view)
app.command(epilog=PLOT_EXAMPLES)(plot)
app.command(epilog=COMPARE_EXAMPLES)(compare)
app.command(epilog=STOP_EXAMPLES)(stop)
app.command(epilog=RESUME_EXAMPLES)(resume)
app.command(epilog=EXTEND_EXAMPLES)(extend)
app.command(epilog=TAG_EXAMPLES)(tag)
app.command(epilog=DELETE_EXAMPLES)(delete)
app.command(epilog=TRASH_EXAMPLES)(trash)
app.command(epilog=STEER_EXAMPLES)(steer)
app.command(epilog=TIGHTEN_EXAMPLES)(tighten)
app.command(epilog=ANALYZE_EXAMPLES)(analyze)
app.command(epilog=LABEL_EXAMPLES)(label)
app.command(epilog=JOBS_EXAMPLES)(jobs)
app.command(epilog=EXPORT_EXAMPLES)(export)
app.command(epilog=ENVS_EXAMPLES)(envs)
app.command(epilog=DOCTOR_EXAMPLES)(doctor)
app.add_typer(bench)
app.add_typer(models)
app.add_typer(nodes)

"""`p2p lab`: measurements of p2p itself; `p2p bench` are those of speed and learning."""

import typer

from p2p.cli.app import Commands
from p2p.cli.lazy import LazyCommand, LazyGroup

BENCHES = (
    LazyCommand(
        "train",
        "p2p.lab.speed.train_command:train",
        "Measure the speed of a training with a reward of one's own, and print it in Markdown.",
    ),
    LazyCommand(
        "confine",
        "p2p.lab.speed.confine_command:confine",
        "Measure what it costs that a reward runs in a confined process of its own, against the same reward without.",
    ),
    LazyCommand(
        "start",
        "p2p.lab.speed.start_command:start",
        "Measure the processor time of commands and of the MCP server when they start, and print it in Markdown.",
    ),
    LazyCommand(
        "queue",
        "p2p.lab.speed.queue_command:queue",
        "Measure what it costs to hand many runs to a backend and to watch them; the runs only sleep.",
    ),
    LazyCommand(
        "listing",
        "p2p.lab.speed.listing_command:listing",
        "Measure what it costs to list, show, filter and resume a run of a suite; its sessions are made up.",
    ),
    LazyCommand(
        "learn",
        "p2p.lab.learning.commands:learn",
        "Train with the presets by Gymnasium's own reward, and print the returns with their interval over the seeds.",
    ),
    LazyCommand(
        "search",
        "p2p.lab.learning.commands:search",
        "Try settings on an environment by Gymnasium's own reward, and print what each reached.",
    ),
    LazyCommand(
        "parity",
        "p2p.lab.learning.commands:parity",
        "Train with both learners, `fast` and `sb3`, on the same settings and seeds, and compare their "
        "learning curves.",
    ),
    LazyCommand(
        "behaviours",
        "p2p.lab.behaviours.command:behaviours",
        "Run the whole grammar of the built-in author as real sessions, and show what passes and why the rest does "
        "not.",
    ),
)
ESTIMATES = (
    LazyCommand(
        "eta",
        "p2p.lab.speed.time_left_command:eta",
        "Train short sessions and hold the first estimate of the time left against the truth, in Markdown.",
    ),
)
ROBOTS = (
    LazyCommand(
        "gallery",
        "p2p.lab.gallery.command:gallery",
        "Describe, draw and train robots whose models are in packages that pip installs.",
    ),
)
STATISTICS = (
    LazyCommand(
        "suites",
        "p2p.lab.suites.commands:suites",
        "Simulate suites whose truth is known, and count false alarms, intervals that hold the truth, and changes "
        "seen.",
    ),
    LazyCommand(
        "understood",
        "p2p.lab.suites.understood:understood",
        "Count the sentences of each suite that the built-in author understands without leaving anything out.",
    ),
)
JUDGES = tuple(row for row in Commands.rows if row.name in ("calibrate", "attack"))


class Benches(LazyGroup):
    """Measurements of speed, learning and behaviours."""

    rows = BENCHES


class Measurements(LazyGroup):
    """Every measurement of p2p itself."""

    rows = (*BENCHES, *ESTIMATES, *ROBOTS, *STATISTICS, *JUDGES)


bench = typer.Typer(
    name="bench",
    cls=Benches,
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Measure what p2p claims: how fast it trains, what its presets learn, and what its sentences become.",
)
lab = typer.Typer(
    name="lab",
    cls=Measurements,
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Measure p2p itself: speed, confinement, presets, learners, statistics, and how often its judges are right.",
)

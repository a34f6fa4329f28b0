"""`p2p bench`: the measurements behind the figures that p2p claims."""

import typer

from p2p.cli.lazy import LazyCommand, LazyGroup


class Benches(LazyGroup):
    """Every measurement."""

    rows = (
        LazyCommand(
            "train",
            "p2p.cli.bench_train:train",
            "Measure the speed of a training with a reward of one's own, and print it in Markdown.",
        ),
        LazyCommand(
            "confine",
            "p2p.cli.bench_confine:confine",
            "Measure what it costs that a reward runs in a confined process of its own, against the same "
            "reward without.",
        ),
        LazyCommand(
            "learn",
            "p2p.cli.bench_learn:learn",
            "Train with the presets by Gymnasium's own reward, and print the returns with their interval "
            "over the seeds.",
        ),
        LazyCommand(
            "search",
            "p2p.cli.bench_learn:search",
            "Try settings on an environment by Gymnasium's own reward, and print what each reached.",
        ),
        LazyCommand(
            "parity",
            "p2p.cli.bench_learn:parity",
            "Train with both learners, `fast` and `sb3`, on the same settings and seeds, and compare their "
            "learning curves.",
        ),
    )


bench = typer.Typer(
    name="bench",
    cls=Benches,
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Measure what p2p claims: how fast it trains, and what its presets learn.",
)

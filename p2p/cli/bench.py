"""`p2p bench`: the measurements behind the figures that p2p claims."""

import typer

from p2p.cli import bench_confine, bench_learn, bench_train

bench = typer.Typer(
    name="bench",
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Measure what p2p claims: how fast it trains, and what its presets learn.",
)
bench.command(epilog=bench_train.TRAIN_EXAMPLES)(bench_train.train)
bench.command(epilog=bench_confine.CONFINE_EXAMPLES)(bench_confine.confine)
bench.command(epilog=bench_learn.LEARN_EXAMPLES)(bench_learn.learn)
bench.command(epilog=bench_learn.SEARCH_EXAMPLES)(bench_learn.search)
bench.command(epilog=bench_learn.PARITY_EXAMPLES)(bench_learn.parity)

"""`p2p lab suites`: how honest the statistics of suites are."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from p2p.benchmark.table_place import TablePlace
from p2p.cli.options import AsJson, examples
from p2p.cli.output import Output
from p2p.contracts.errors import InvalidInput
from p2p.lab.suites.honesty import Honesty, honesty_table, power_table, simulate
from p2p.lab.suites.worlds import CHOSEN_ON, LIFTS, OTHERS, World

SUITES_EXAMPLES = examples("p2p lab suites", "p2p lab suites --design 15x3 --suites 1000")
DESIGNS = ("5x3", "8x3", "15x1", "15x3", "30x3", "60x1", "60x3")

Designs = Annotated[
    list[str] | None,
    typer.Option(
        "--design", metavar="CASESxSEEDS", help="Size of a suite; repeatable.", show_default=" ".join(DESIGNS)
    ),
]
Readme = Annotated[
    Path | None,
    typer.Option(
        exists=True,
        dir_okay=False,
        help="File to write the tables to, between its `power`, `chosen-on` and `others` markers.",
    ),
]


def suites(
    design: Designs = None,
    n_suites: Annotated[int, typer.Option("--suites", min=1, help="Simulated suites of each row.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Of everything that is drawn.")] = 1,
    hierarchical: Annotated[
        bool, typer.Option("--hierarchical", help="Measure a bootstrap of cases and of seeds within them too (JSON).")
    ] = False,
    readme: Readme = None,
    as_json: AsJson = False,
) -> None:
    """Simulate suites whose truth is known, and count false alarms, intervals that hold the truth, and changes seen.

    The first table is the power of a design, the second has the rules that the interval was chosen on, the third
    has others.
    """
    output = Output(as_json)
    sizes = [parse_design(text) for text in design or DESIGNS]
    groups: dict[str, tuple[World, ...]] = {"power": (*LIFTS,), "chosen-on": (*CHOSEN_ON,), "others": (*OTHERS,)}
    places = {name: TablePlace(readme, name) for name in groups} if readme is not None else {}
    rows: dict[str, list[Honesty]] = {}
    for name, worlds in groups.items():
        rows[name] = []
        for cases, seeds in sizes:
            for world in worlds:
                rival = hierarchical and name == "chosen-on"
                rows[name].append(simulate(world, cases, seeds, n_suites, seed, rival=rival))
                output.console.print(f"{cases} x {seeds}, {world.name}: done", markup=False)
    tables = {name: (power_table if name == "power" else honesty_table)(found) for name, found in rows.items()}
    for name, place in places.items():
        place.write(tables[name])
    plain = {
        name: [{field: getattr(row, field) for field in Honesty.__slots__} for row in found]
        for name, found in rows.items()
    }
    output.result(plain, *(Text(table + "\n") for table in tables.values()))


def parse_design(text: str) -> tuple[int, int]:
    """Cases and seeds of "60x3".

    Raises:
        InvalidInput: it is nothing of the kind, or has fewer than two cases.
    """
    cases, _, seeds = text.partition("x")
    if not (cases.isdecimal() and seeds.isdecimal() and int(cases) > 1 and int(seeds) > 0):
        raise InvalidInput(f"{text!r} is no design: expected CASESxSEEDS, such as 60x3, with two cases or more.")
    return int(cases), int(seeds)

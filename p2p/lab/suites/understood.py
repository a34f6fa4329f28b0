"""`p2p lab understood`: how many sentences of each suite the built-in author understands."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.benchmark.table_place import TablePlace
from p2p.cli.options import AsJson, examples
from p2p.cli.output import Output
from p2p.contracts.errors import InvalidInput
from p2p.contracts.suite import Case, Difficulty, Suite
from p2p.envs.catalog import load
from p2p.store.suite_files import load_suite, shipped_suites

UNDERSTOOD_EXAMPLES = examples("p2p lab understood", "p2p lab understood --readme docs/suites.md")
HEADER = (
    "| suite | sentences | kept back | the built-in author understands | of them easy, medium, hard |",
    "|---|---|---|---|---|",
)

Readme = Annotated[
    Path | None,
    typer.Option(exists=True, dir_okay=False, help="File to write the table to, between its `understood` markers."),
]


def understood(readme: Readme = None, as_json: AsJson = False) -> None:
    """Count the sentences of each suite that the built-in author understands without leaving anything out."""
    place = TablePlace(readme, "understood") if readme is not None else None
    suites = [load_suite(name) for name in shipped_suites()]
    found = {suite.name: [case for case in suite.cases if is_understood(case)] for suite in suites}
    text = table(suites, found)
    if place is not None:
        place.write(text)
    Output(as_json).result({name: [case.name for case in cases] for name, cases in found.items()}, text)


def is_understood(case: Case) -> bool:
    """Whether the built-in author writes criteria for all of a sentence."""
    try:
        BuiltinAuthor().elicit(case.prompt, load(case.env_id))
    except InvalidInput:
        return False
    return True


def table(suites: list[Suite], found: dict[str, list[Case]]) -> str:
    """Table in Markdown."""
    lines = [*HEADER]
    for suite in suites:
        own = found[suite.name]
        by = Counter(case.difficulty for case in own)
        told = ", ".join(str(by[difficulty]) for difficulty in Difficulty)
        share = f"{len(own)} ({len(own) / len(suite.cases):.0%})"
        lines.append(f"| `{suite.name}` | {len(suite.cases)} | {len(suite.held_back)} | {share} | {told} |")
    return "\n".join(lines)

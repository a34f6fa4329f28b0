"""`p2p tighten`: stricter criteria after eyes refused what met them."""

import getpass
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError

from p2p.cli.live import threshold as threshold_of
from p2p.cli.options import AsJson, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.intent import Criterion, Intent
from p2p.service.progress.listing import find_session
from p2p.service.rewards.criteria import tighten_criteria

TIGHTEN_EXAMPLES = examples(
    'p2p tighten latest --threshold moves=2.5 --require calm --why "it slides on its belly"',
    'p2p tighten 1a2b3c4d --file criteria.json --why "it lands lying"',
)

SessionArgument = Annotated[str, typer.Argument(metavar="SESSION", help='Its id, the start or end of it, or "latest".')]
Why = Annotated[str, typer.Option(help="What met the criteria without being what was meant; saved with the change.")]
Thresholds = Annotated[
    list[str], typer.Option("--threshold", metavar="KEY=VALUE", help="A stricter threshold; repeatable.")
]
Required = Annotated[list[str], typer.Option("--require", metavar="KEY", help="Make it required; repeatable.")]
File = Annotated[
    Path | None, typer.Option("--file", exists=True, dir_okay=False, help="A JSON list of changed or new criteria.")
]
By = Annotated[str | None, typer.Option("--by", help="Name of the person.", show_default="your user name")]


def tighten(  # noqa: PLR0913  typer reads one parameter per option
    session: SessionArgument,
    why: Why,
    threshold: Thresholds = [],  # noqa: B006  typer copies it
    require: Required = [],  # noqa: B006
    file: File = None,
    by: By = None,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Make criteria stricter for the next iterations, after eyes refused a policy that met them; never looser."""
    ws = open_workspace(runs_dir)
    found = find_session(ws, session)
    present = ws.record(found).read_criteria()
    if present is None:
        raise InvalidInput(f"{found} has no criteria yet.")
    changes = [
        *criteria_from_options(present, threshold, require),
        *(criteria_from_file(file) if file is not None else []),
    ]
    made = tighten_criteria(ws, found, changes, why, by or getpass.getuser())
    lines = [f"- {c.title} ({c.key}){'' if c.required else ', optional'}: {threshold_of(c)}" for c in made.criteria]
    Output(as_json).result(made, f"Criteria of {found} from its next iteration on:", *lines)


def criteria_from_options(present: Intent, thresholds: Sequence[str], required: Sequence[str]) -> list[Criterion]:
    """Criteria changed by `--threshold KEY=VALUE` and `--require KEY`.

    Raises:
        UnknownName: there is no such criterion.
        InvalidInput: it has no threshold, or the value is no number.
    """
    known = {criterion.key: criterion for criterion in present.criteria}
    changed: dict[str, Criterion] = {}

    def of(key: str) -> Criterion:
        if key not in known:
            raise UnknownName("criterion", key, known)
        return changed.get(key, known[key])

    for text in thresholds:
        key, _, value = text.partition("=")
        criterion = of(key)
        if criterion.predicate is None:
            raise InvalidInput(f"{key!r} is judged by eyes and has no threshold.")
        try:
            predicate = criterion.predicate.model_copy(update={"threshold": float(value)})
        except ValueError as error:
            raise InvalidInput(f"--threshold takes KEY=VALUE with a number, got {text!r}.") from error
        changed[key] = criterion.model_copy(update={"predicate": predicate})
    for key in required:
        changed[key] = of(key).model_copy(update={"required": True})
    return list(changed.values())


def criteria_from_file(file: Path) -> tuple[Criterion, ...]:
    """Criteria of a JSON list.

    Raises:
        InvalidInput: the file is none.
    """
    try:
        return TypeAdapter(tuple[Criterion, ...]).validate_json(file.read_bytes())
    except ValidationError as error:
        wrong = error.errors()[0]
        raise InvalidInput(f"{file} is not a JSON list of criteria: {wrong['msg']} at {wrong['loc']}.") from error

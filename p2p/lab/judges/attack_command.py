"""`p2p judge attack`, or `p2p attack`: a search for motions that fool the criteria of a sentence."""

import time
from pathlib import Path
from typing import Annotated

import typer

from p2p.benchmark.table_place import TablePlace
from p2p.cli.formats import short_path
from p2p.cli.options import AsJson, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.cli.tables import table
from p2p.contracts.errors import NOT_PASSED, InvalidInput
from p2p.lab.contracts.attack import ATTACKED, HELD_BACK, Attack, AttackRequest
from p2p.lab.judges.calibrate import attack as search
from p2p.lab.judges.calibrate import film_attack
from p2p.service.machines.setup import require_training

ATTACK_EXAMPLES = examples(
    "p2p judge attack",
    'p2p judge attack "walk forward" --env Ant-v5',
    'p2p attack "spin in place" --env Ant-v5 --tries 2000 --seed 7',
    "p2p judge attack --all --table docs/attacks.md",
    "p2p judge attack --held-back --table docs/attacks.md",
)
_TRIES, _SEED = (AttackRequest.model_fields[name].default for name in ("tries", "seed"))


def attack(  # noqa: PLR0913  typer reads one parameter per option
    sentence: Annotated[str | None, typer.Argument(help="A sentence of the calibration set.")] = None,
    env: Annotated[str | None, typer.Option("--env", help="Robot of the calibration set.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Attack the 20 sentences of docs/attacks.md.")] = False,
    held_back: Annotated[
        bool, typer.Option("--held-back", help="Attack the 48 others: on what is found there no criterion was mended.")
    ] = False,
    tries: Annotated[int, typer.Option(min=1, max=100_000, help="Motions played for each sentence.")] = _TRIES,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the search.")] = _SEED,
    film: Annotated[bool, typer.Option("--film/--no-film", help="Film what is found for a single sentence.")] = True,
    readme: Annotated[
        Path | None,
        typer.Option(
            "--table",
            exists=True,
            dir_okay=False,
            help="File to write the table to, between its `attacks` or `attacks_held_back` markers.",
        ),
    ] = None,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Search for motions that meet the criteria of a sentence without doing what it asks for.

    Motions that do it are disturbed at random, and the disturbances evolved: stops, falls, drifts, turns, stiff legs,
    motors off. Whether a motion is wrong is told by checks of the simulator's states, with limits far outside of what
    could be debated, and never by the criteria. Ends with 3 when something is found.
    """
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    require_training(ws)
    pairs = _pairs(sentence, env, everything, held_back)
    place = TablePlace(readme, "attacks_held_back" if held_back else "attacks") if readme is not None else None
    begun = time.monotonic()
    found = search(ws, pairs, tries, seed, lambda text: output.console.print(text, markup=False))
    seconds = time.monotonic() - begun
    if place is not None:
        head = "| robot | sentence | pass | pass and are wrong | first at try | in what |\n|---|---|---|---|---|---|"
        rows = [f"| {' | '.join(_cells(each))} |" for each in found]
        place.write("\n".join([head, *rows, "", _setting(found, seconds)]))
    films = []
    if film and len(found) == 1:
        films = [
            f"{each.clip.clip_id}  {each.clip.motion}: {short_path(ws.runs.path / each.video)}"
            for each in film_attack(ws, found[0])
        ]
    made = table("robot", "sentence", "passes", "wrong", "first at", "in what", right=("passes", "wrong", "first at"))
    for each in found:
        made.add_row(*_cells(each))
    output.result({"attacks": [each.model_dump(mode="json") for each in found]}, made, *films, _setting(found, seconds))
    if any(each.wrong_passes for each in found):
        raise typer.Exit(NOT_PASSED)


def _pairs(sentence: str | None, env: str | None, everything: bool, held_back: bool) -> tuple[tuple[str, str], ...]:
    if sentence is not None and env is not None and not (everything or held_back):
        return ((env, sentence),)
    if sentence is None and env is None and everything != held_back:
        return ATTACKED if everything else HELD_BACK
    raise InvalidInput(
        'Expected a sentence and its robot, or --all, or --held-back: p2p judge attack "walk forward" --env Ant-v5'
    )


def _cells(each: Attack) -> tuple[str, ...]:
    return (
        each.env_id,
        each.sentence,
        f"{each.passes:,} of {each.tries:,}",
        f"{each.wrong_passes:,}",
        "–" if each.first_at is None else f"{each.first_at:,}",
        "; ".join(f"{words} ({count})" for words, count in each.by_wrong.items()) or "–",
    )


def _setting(found: list[Attack], seconds: float) -> str:
    fooled = sum(each.wrong_passes > 0 for each in found)
    wrong = sum(each.wrong_passes for each in found)
    passes = sum(each.passes for each in found)
    return (
        f"{fooled} of {len(found)} sentences are fooled; {wrong:,} of {passes:,} passes are wrong. "
        f"{found[0].tries:,} tries each, seed {found[0].seed}, {seconds:.0f} s."
    )

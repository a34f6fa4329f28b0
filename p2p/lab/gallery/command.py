"""`p2p lab gallery`: robots of installed packages, described, drawn and trained."""

import shutil
import time
from pathlib import Path
from typing import Annotated

import typer
from pydantic import Field
from rich.text import Text

import p2p
from p2p.benchmark.table_place import TablePlace
from p2p.cli.options import AsJson, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.contracts.base import Contract
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import EnvironmentProblem, InvalidInput, UnknownName
from p2p.lab.gallery.exhibits import EXHIBITS, Exhibit, Found, find
from p2p.service.pictures.portrait import portrait
from p2p.service.training.robots import add_robot
from p2p.service.workspace import Workspace
from p2p.store import files

GALLERY_EXAMPLES = examples(
    "p2p lab gallery --from wheels --only spot",
    "p2p lab gallery --train --seeds 3 --timesteps 300000 --readme docs/gallery.md",
)


class Verdict(Contract):
    """One sentence, trained once."""

    robot: str
    env_id: str
    sentence: str
    seed: int
    total_timesteps: int | None = None
    """As given; None where p2p chose them."""
    outcome: str
    success_rate: float | None = Field(default=None, ge=0, le=1)
    wall_s: float


class Shown(Contract):
    """One robot of the gallery."""

    name: str
    package: str
    licence: str
    env_id: str = ""
    mass_kg: float = 0.0
    actions: int = 0
    stance: str = ""
    picture: str = ""
    refused: str = ""
    """Why it is not taken; empty where it is."""
    verdicts: tuple[Verdict, ...] = ()


class Gallery(Contract):
    """All robots that were asked for."""

    robots: tuple[Shown, ...]


def gallery(  # noqa: PLR0913  typer reads one parameter per option
    only: Annotated[list[str] | None, typer.Option(help="Only this robot; repeatable.")] = None,
    folder: Annotated[
        Path | None, typer.Option("--from", metavar="DIR", help="Unpacked packages by name; else those installed.")
    ] = None,
    train: Annotated[bool, typer.Option(help="Train the sentences too, one session at a time.")] = False,
    seeds: Annotated[int, typer.Option(min=1, help="Sessions of each sentence.")] = 1,
    timesteps: Annotated[
        int | None, typer.Option(min=1000, help="Steps of each training; else as many as p2p takes for the sentence.")
    ] = None,
    readme: Annotated[Path | None, typer.Option(help="Write the table and the pictures into this document.")] = None,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Describe, draw and train robots whose models are in packages that pip installs."""
    place_of_table = TablePlace(readme, "gallery") if readme is not None else None
    names = [exhibit.name for exhibit in EXHIBITS]
    for name in only or ():
        if name not in names:
            raise UnknownName("robot", name, names)
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    place = ws.runs.path / "gallery"
    shown = []
    for exhibit in [one for one in EXHIBITS if not only or one.name in only]:
        robot = _shown(ws, exhibit, folder, place)
        if train and not robot.refused:
            for sentence in exhibit.sentences:
                for seed in range(1, seeds + 1):
                    _trained(ws, place, robot, sentence, seed, timesteps)
        known = files.read_models(place / "verdicts.jsonl", Verdict)
        robot = robot.model_copy(update={"verdicts": tuple(one for one in known if one.env_id == robot.env_id)})
        output.console.print(Text(f"{robot.name}: {robot.refused or robot.stance}"))
        shown.append(robot)
    found = Gallery(robots=tuple(shown))
    if readme is not None and place_of_table is not None:
        for robot in found.robots:
            if robot.picture:
                pictures = readme.parent / "gallery"
                pictures.mkdir(exist_ok=True)
                shutil.copyfile(robot.picture, pictures / f"{robot.name}.png")
        place_of_table.write(markdown(found))
    output.result(found, Text(markdown(found)))


def _shown(ws: Workspace, exhibit: Exhibit, folder: Path | None, place: Path) -> Shown:
    """Described and drawn, with its licence kept beside; or why it is refused."""
    facts = {"name": exhibit.name, "package": exhibit.package or "p2p"}
    try:
        found = find(exhibit, folder)
    except InvalidInput as error:
        return Shown(**facts, licence="", refused=str(error))
    try:
        spec = add_robot(ws, exhibit.name, str(found.model))
    except InvalidInput as error:
        return Shown(**facts, licence=found.licence, refused=str(error))
    _keep_licence(found, place / exhibit.name)
    try:
        picture = str(portrait(ws, spec))
    except EnvironmentProblem:
        picture = ""
    return Shown(
        **facts,
        licence=found.licence,
        env_id=spec.env_id,
        mass_kg=spec.total_mass,
        actions=spec.action_dim,
        stance=_stance(spec),
        picture=picture,
    )


def _stance(spec: EnvSpec) -> str:
    choices = spec.robot.choices if spec.robot is not None else ()
    return next((one.removeprefix("stance: ") for one in choices if one.startswith("stance: ")), "")


def _keep_licence(found: Found, place: Path) -> None:
    if found.licence_file is not None:
        place.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found.licence_file, place / "LICENSE")


def _trained(ws: Workspace, place: Path, robot: Shown, sentence: str, seed: int, timesteps: int | None) -> None:
    """Train a sentence once, unless that has been done."""
    record = place / "verdicts.jsonl"
    for one in files.read_models(record, Verdict):
        if (one.env_id, one.sentence, one.seed, one.total_timesteps) == (robot.env_id, sentence, seed, timesteps):
            return
    begun = time.monotonic()
    session = p2p.run(
        sentence,
        env=robot.name,
        runs_dir=ws.runs.path,
        n_seeds=1,
        seed=seed,
        config={"total_timesteps": timesteps} if timesteps is not None else {},
    ).wait()
    verdict = Verdict(
        robot=robot.name,
        env_id=robot.env_id,
        sentence=sentence,
        seed=seed,
        total_timesteps=timesteps,
        outcome=str(session.status),
        success_rate=session.judgment.success_rate if session.judgment is not None else None,
        wall_s=round(time.monotonic() - begun, 1),
    )
    place.mkdir(parents=True, exist_ok=True)
    files.append_line(record, verdict.model_dump_json())


def markdown(gallery: Gallery) -> str:
    """The table of a document."""
    lines = [
        "| robot | picture | package, licence | facts | stance | sentences: passed of sessions, success, wall time |",
        "|---|---|---|---|---|---|",
    ]
    for robot in gallery.robots:
        package = f"{robot.package}, {robot.licence or '-'}"
        if robot.refused:
            lines.append(f"| {robot.name} | | {package} | refused: {robot.refused.replace('|', '/')} | | |")
            continue
        picture = f"![{robot.name}](gallery/{robot.name}.png)" if robot.picture else "-"
        facts = f"{robot.mass_kg:.3g} kg, {robot.actions} actions"
        told = "; ".join(_told(robot, sentence) for sentence in dict.fromkeys(one.sentence for one in robot.verdicts))
        lines.append(f"| {robot.name} | {picture} | {package} | {facts} | {robot.stance} | {told or 'not trained'} |")
    return "\n".join(lines)


def _told(robot: Shown, sentence: str) -> str:
    mine = [one for one in robot.verdicts if one.sentence == sentence]
    passed = sum(one.outcome == "passed" for one in mine)
    rates = ", ".join("-" if one.success_rate is None else f"{one.success_rate:.0%}" for one in mine)
    times = ", ".join(f"{one.wall_s:.0f} s" for one in mine)
    given = dict.fromkeys(one.total_timesteps for one in mine)
    steps = " or ".join("p2p's own number of steps" if count is None else f"{count:,} steps" for count in given)
    return f'"{sentence}": {passed} of {len(mine)} ({rates}; {times}; {steps})'

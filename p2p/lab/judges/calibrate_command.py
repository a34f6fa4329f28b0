"""`p2p judge calibrate`, or `p2p calibrate`: how often the judges are right, on clips whose truth is known."""

from pathlib import Path
from typing import Annotated

import typer

from p2p.benchmark.table_place import TablePlace
from p2p.cli.formats import short_path
from p2p.cli.model_options import CapOption, parse_caps
from p2p.cli.options import AsJson, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.contracts.errors import NOT_PASSED
from p2p.contracts.spending import Caps
from p2p.lab.contracts.calibration import CalibrationRequest, on_target
from p2p.lab.contracts.exams import ExamCalibrationRequest
from p2p.lab.exams.command import run as calibrate_exams
from p2p.lab.judges.calibrate import calibrate as measure
from p2p.lab.judges.calibrate import calibration_chart
from p2p.lab.judges.calibration_tables import calibration_tables, markdown, what_remains
from p2p.lab.judges.clip_films import film_clip
from p2p.service.machines.setup import require_training
from p2p.service.workspace import Workspace

CALIBRATE_EXAMPLES = examples(
    "p2p judge calibrate",
    "p2p judge calibrate --readme docs/calibration.md --remaining docs/calibration.md",
    "p2p calibrate --env Ant-v5 --variations 10",
    "p2p judge calibrate --judge gemini:gemini-3.1-pro-preview --limit 60 --cap dollars=5",
    "p2p judge calibrate --judge code:anthropic:claude-opus-5-5 --env Ant-v5 --cap dollars=5",
    "p2p judge calibrate --judge-code my_functions",
    "p2p judge calibrate --policies 200000 --env HalfCheetah-v5",
    "p2p calibrate --video hopper-045-00",
    "p2p judge calibrate --exams p2p-60 --readme docs/calibration.md",
)
_DEFAULTS = CalibrationRequest()

Judges = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="NAME",
        help="predicates, PROVIDER:MODEL (eyes), synthesis:PROVIDER:MODEL (both), or code:PROVIDER:MODEL (the code it "
        "writes); repeatable.",
        show_default="predicates",
    ),
]
JudgeCode = Annotated[
    list[Path] | None,
    typer.Option(
        "--judge-code",
        metavar="DIR",
        help="Folder of judge functions, ROBOT/SENTENCE.py, to measure on their sentences; repeatable.",
    ),
]
Robots = Annotated[
    list[str] | None, typer.Option("--env", help="Robot of the set; repeatable.", show_default="all six")
]
Readme = Annotated[
    Path | None,
    typer.Option(
        exists=True, dir_okay=False, help="File to write the table to, between its `judges` or `judge-code` markers."
    ),
]
Remaining = Annotated[
    Path | None,
    typer.Option(
        "--remaining",
        exists=True,
        dir_okay=False,
        help="File to write the wrong verdicts to, by change and sentence.",
    ),
]
Policies = Annotated[
    int | None,
    typer.Option(
        "--policies",
        metavar="STEPS",
        min=1,
        help="Also train policies for this many steps, and judge clips of them.",
        show_default="none",
    ),
]
Mutations = Annotated[
    bool,
    typer.Option(
        "--mutations/--no-mutations",
        help="Also judge changed clips: those that must fail after the change, and those that must still pass.",
    ),
]
HoldOutSeed = Annotated[
    int,
    typer.Option(min=0, help="Seed that chooses the changes and the robot that are held out."),
]
OpenHeldOut = Annotated[
    bool,
    typer.Option(
        "--open-held-out",
        help="List the mistakes on held-out clips too, or film one; they are then no longer held out.",
    ),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Most verdicts per judge, drawn evenly.", show_default="all")]
Exams = Annotated[
    list[str] | None,
    typer.Option(
        "--exams",
        metavar="SUITE",
        help="Measure the exams of this suite of sentences instead, or of `all` that come with p2p; repeatable.",
    ),
]
Ship = Annotated[
    bool,
    typer.Option("--ship", help="With --exams: write the report beside the exams, where a release looks for it."),
]
Video = Annotated[
    str | None,
    typer.Option("--video", metavar="CLIP", help="Only film this clip of the last calibration, and show what it is."),
]


def calibrate(  # noqa: PLR0913  typer reads one parameter per option
    judge: Judges = None,
    judge_code: JudgeCode = None,
    env: Robots = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the clips.")] = _DEFAULTS.seed,
    variations: Annotated[int, typer.Option(min=1, max=100, help="Clips of each motion.")] = _DEFAULTS.variations,
    mutations: Mutations = _DEFAULTS.mutations,
    hold_out_seed: HoldOutSeed = _DEFAULTS.hold_out_seed,
    open_held_out: OpenHeldOut = False,
    policies: Policies = None,
    limit: Limit = None,
    cap: CapOption = None,
    readme: Readme = None,
    remaining: Remaining = None,
    video: Video = None,
    exams: Exams = None,
    ship: Ship = False,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Measure how often the judges are right, on a thousand generated clips of known truth.

    What the clips show is prescribed joint by joint: labels follow from how they are made, not from a judge. The
    costly error is a near miss or an exploit that passes. Clips that do what is asked are changed too, so that they
    must fail, or must still pass; some of the changes and one robot are held out, and of those only rates are told. Of
    clips of trained policies only what is beyond doubt is asked. Ends with 3 when the predicates miss their targets.
    """
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    require_training(ws)
    if video is not None:
        _film(ws, output, video, open_held_out)
        return
    if exams:
        asked = ExamCalibrationRequest(suites=tuple(exams), env_ids=tuple(env or ()), seed=seed, variations=variations)
        if not calibrate_exams(ws, output, asked, ship=ship, readme=readme):
            raise typer.Exit(NOT_PASSED)
        return
    place = TablePlace(readme, "judge-code" if judge_code else "judges") if readme is not None else None
    rest = TablePlace(remaining, "remaining") if remaining is not None else None
    request = CalibrationRequest(
        judges=tuple(judge or _DEFAULTS.judges),
        judge_code=tuple(map(str, judge_code or ())),
        env_ids=tuple(env or _DEFAULTS.env_ids),
        seed=seed,
        variations=variations,
        mutations=mutations,
        hold_out_seed=hold_out_seed,
        open_held_out=open_held_out,
        policy_steps=policies,
        limit=limit,
        caps=Caps.model_validate(parse_caps(cap or ())),
    )
    calibration = measure(ws, request, lambda text: output.console.print(text, markup=False))
    if place is not None:
        place.write(markdown(calibration))
    if rest is not None:
        rest.write(what_remains(calibration))
    files = f"report          {short_path(calibration_chart(ws).parent)}"
    output.result(calibration, *calibration_tables(calibration), files)
    measured = (*calibration.judges, *calibration.never_looked_at)
    if not all(on_target(found) for found in measured if found.judge == "predicates"):
        raise typer.Exit(NOT_PASSED)


def _film(ws: Workspace, output: Output, clip_id: str, open_held_out: bool) -> None:
    found = film_clip(ws, clip_id, open_held_out=open_held_out)
    made_from = ", ".join(f"{name} {value:.3g}" for name, value in found.clip.parameters.items())
    claims = [f"  {claim.kind.replace('_', ' '):<10} “{claim.sentence}”" for claim in found.clip.claims]
    output.result(
        found,
        f"{clip_id}  {found.clip.env_id}  {found.clip.motion}" + (f"  ({made_from})" if made_from else ""),
        *claims,
        f"video           {short_path(ws.runs.path / found.video)}",
        f"contact sheet   {short_path(ws.runs.path / found.sheet)}",
    )

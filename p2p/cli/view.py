"""`p2p view` and `p2p plot`: look at a recorded rollout, and at how it was learnt."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import RenderableType
from rich.text import Text

from p2p.cli.formats import short_path
from p2p.cli.options import AsJson, Iteration, RunsDir, SessionName, examples, open_workspace
from p2p.cli.output import Output
from p2p.cli.session_options import option
from p2p.cli.tables import table
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.work import MetricsPlot, RolloutPictures, ViewCamera, ViewRequest
from p2p.service.pictures.plotting import plot_metrics
from p2p.service.pictures.viewing import view_rollout
from p2p.service.progress.listing import find_session

VIEW_EXAMPLES = examples(
    "p2p view",
    "p2p view latest --camera top --slow 4",
    "p2p view latest --path bfoot --from 1 --to 2",
    "p2p view 1a2b3c4d --iteration 2 --compare 1 --label p90 --json",
)
PLOT_EXAMPLES = examples("p2p plot", "p2p plot latest --what terms", "p2p plot 1a2b3c4d --iteration 3 --compare 1")

CameraName = Annotated[str, typer.Option("--camera", metavar="|".join(ViewCamera), help="Camera.")]
Slow = Annotated[float, option(ViewRequest, "slow_motion", "--slow", help="Slow motion: makes a video.")]
Compare = Annotated[
    int | None,
    option(ViewRequest, "compare_with", "--compare", metavar="ITERATION", help="Another iteration, shown beside it."),
]
Label = Annotated[str, typer.Option("--label", metavar="p10|median|p90", help="Which of the recorded rollouts.")]
Frames = Annotated[int, option(ViewRequest, "frames", "--frames", help="Number of moments to save as single pictures.")]
Video = Annotated[bool, typer.Option("--video", help="Make a video at real speed.")]
Width = Annotated[int, option(ViewRequest, "width", "--width", help="Width of single pictures and videos [px].")]
Plain = Annotated[bool, typer.Option("--plain", help="Draw no time, speed or coloured limbs into videos.")]
Start = Annotated[float | None, typer.Option("--from", metavar="SECONDS", help="Start of the part shown.")]
End = Annotated[float | None, typer.Option("--to", metavar="SECONDS", help="End of the part shown.")]
PathOf = Annotated[str | None, typer.Option("--path", metavar="BODY", help="Body whose path is drawn, such as torso.")]
What = Annotated[str, typer.Option("--what", metavar="|".join(MetricsPlot), help="What is plotted.")]

USUAL = ViewRequest()


def view(  # noqa: PLR0913  typer reads one parameter per option
    session: SessionName = "latest",
    iteration: Iteration = None,
    label: Label = USUAL.label,
    camera: CameraName = USUAL.camera,
    slow: Slow = USUAL.slow_motion,
    compare: Compare = None,
    frames: Frames = USUAL.frames,
    video: Video = False,
    width: Width = USUAL.width,
    plain: Plain = False,
    start: Start = None,
    end: End = None,
    path: PathOf = None,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Make pictures of a recorded rollout: a contact sheet of what happens in it, moments, a video in slow motion."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    request = _request(
        label=label,
        camera=camera,
        slow_motion=slow,
        compare_with=compare,
        frames=frames,
        video=video,
        width=width,
        plain=plain,
        start_s=start,
        end_s=end,
        path_of=path,
    )
    made = view_rollout(ws, find_session(ws, session), iteration, request)
    output.result(made, *shown(made, ws.runs.path))


def plot(
    session: SessionName = "latest",
    iteration: Iteration = None,
    what: What = "curve",
    compare: Compare = None,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Plot how an iteration trained: returns and success, reward terms, or what the learner did."""
    if what not in list(MetricsPlot):
        raise UnknownName("plot", what, map(str, MetricsPlot))
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    chosen = MetricsPlot.COMPARE if compare is not None else MetricsPlot(what)
    made = plot_metrics(ws, find_session(ws, session), iteration, chosen, compare)
    output.result(made, f"  {short_path(ws.runs.path / made.picture.path)}")


def shown(made: RolloutPictures, root: Path) -> list[RenderableType]:
    """What was made, and the moments it shows."""
    moments = table("moment", "time", "step", "event", right=("moment", "time", "step"))
    for frame in made.frames:
        moments.add_row(str(frame.index), f"{frame.t_s:.2f} s", str(frame.step), frame.event)
    files = [made.sheet, *made.frame_files, *([made.video] if made.video is not None else [])]
    compared = f" beside iteration {made.compared_with}" if made.compared_with is not None else ""
    return [
        Text(f"Iteration {made.iteration}{compared}, {made.label} rollout: {made.note}."),
        moments,
        *(f"  {short_path(root / file.path)}" for file in files),
    ]


def _request(**fields: object) -> ViewRequest:
    try:
        return ViewRequest.model_validate(fields)
    except ValidationError as error:
        wrong = error.errors()[0]
        names = {"slow_motion": "slow", "compare_with": "compare", "start_s": "from", "end_s": "to", "path_of": "path"}
        if not wrong["loc"]:
            raise InvalidInput("--to must be later than --from.") from error
        option = names.get(str(wrong["loc"][0]), wrong["loc"][0])
        raise InvalidInput(f"--{option}: {wrong['msg']}, got {wrong['input']!r}.") from error

"""What the worker is asked to do: `request.json` in a job's directory. Paths are relative to that directory."""

from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, model_validator

from p2p.contracts.base import Contract
from p2p.contracts.export import ExportFormat
from p2p.contracts.intent import Intent
from p2p.contracts.pictures import FrameNote, MetricsPlot


class CheckRequest(Contract):
    """Run `reward_fn.py` of the job's directory on real transitions of the environment."""

    n_transitions: int = Field(default=200, ge=1)
    terminate_when_unhealthy: bool = False
    env_kwargs: dict[str, bool | int | float | str] = {}
    side_info: bool = False
    intent: Intent | None = None
    """What the reward is to teach; with it, the reward is held against known motions too."""
    refuse_wrong_preferences: bool = True
    """Whether a reward that pays more for what was not asked is refused; else it is only warned of."""


class EvaluateRequest(Contract):
    """Run report rollouts of a checkpoint, and make the pictures."""

    run_dir: str
    """Directory of the run."""
    run_id: str
    checkpoint: int
    """Step of the checkpoint."""
    n_rollouts: int = Field(ge=1, le=1000)
    seed_offset: int = Field(default=0, ge=0)
    """Added to the first report seed, so that each session and each iteration is judged on starts of its own."""
    sibling_runs: tuple[str, ...] = ()
    """Directories of the other runs of the iteration, for the learning curve."""


class FilmRequest(Contract):
    """Make the videos of every checkpoint of some finished runs."""

    runs: tuple[str, ...]
    """Directories of the runs, the most interesting first."""


class ViewCamera(StrEnum):
    """Where a rollout is looked at from; no camera turns with the robot."""

    TRACKING = "tracking"
    """The environment's own camera, which follows the robot; it stands still before arms and pendulums."""
    SIDE = "side"
    """From the robot's right at the start, level: +x is to the right."""
    FRONT = "front"
    """From where +x points to, level."""
    TOP = "top"
    """From above: +x is to the right, +y upwards."""


LEAST_WIDTH, MOST_WIDTH = 240, 1920
"""Of single pictures and videos [px]."""


class ViewRequest(Contract):
    """How a recorded rollout is to be shown."""

    label: Literal["p10", "median", "p90"] = "median"
    """Which of the recorded rollouts, by its place among them."""
    camera: ViewCamera = ViewCamera.TRACKING
    slow_motion: float = Field(default=1.0, ge=1.0, le=8.0)
    """The video takes this many times as long; the simulation is run again for what lies between control steps."""
    frames: int = Field(default=0, ge=0, le=12)
    """How many of the moments are written as pictures of their own."""
    video: bool = False
    """Whether a video is made; slow motion makes one in any case."""
    compare_with: int | None = Field(default=None, ge=1)
    """Another iteration, shown below on the same time axis."""
    width: int = Field(default=480, ge=LEAST_WIDTH, le=MOST_WIDTH)
    """Of single frames and of the video [px]; they are three quarters as high, at most 1080 pixels."""
    plain: bool = False
    """Whether the video goes without time and speed in it and without coloured limbs."""
    start_s: float | None = Field(default=None, ge=0.0)
    """Begin of the part shown; None takes the start of the episode [s]."""
    end_s: float | None = Field(default=None, gt=0.0)
    """End of the part shown; None takes the end of the episode [s]."""
    path_of: str | None = Field(default=None, min_length=1, max_length=80)
    """Body whose path is drawn over all pictures; None for none."""

    @model_validator(mode="after")
    def _some_time(self) -> Self:
        if self.start_s is not None and self.end_s is not None and self.end_s <= self.start_s:
            raise ValueError(f"end_s must be later than start_s, got {self.start_s} to {self.end_s}")
        return self


class RecordedFile(Contract):
    """A recorded rollout."""

    run_dir: str
    """Directory of the run it is of."""
    trajectory: str
    """Its file."""
    title: str
    """Written above it."""


class PictureRequest(Contract):
    """Make pictures of one rollout, or of two below one another."""

    rollouts: tuple[RecordedFile, ...] = Field(min_length=1, max_length=2)
    view: ViewRequest


class PictureResult(Contract):
    """What was made (`result.json`). Paths are relative to the directory."""

    sheet: str
    """The contact sheet, or the plot."""
    frames: tuple[FrameNote, ...] = ()
    video: str | None = None
    note: str = ""
    """How the moments were chosen, and how slow motion was made."""
    sizes: dict[str, tuple[int, int]]
    """Width and height of every file [px]."""


class RunsToPlot(Contract):
    """The runs of an iteration."""

    name: str
    """In the legend."""
    runs: tuple[str, ...]
    """Their directories, the best first."""


class PlotRequest(Contract):
    """Plot a training."""

    view: MetricsPlot
    iterations: tuple[RunsToPlot, ...] = Field(min_length=1, max_length=2)
    title: str


class ExportRequest(Contract):
    """Hand out a checkpoint."""

    run_dir: str
    """Directory of the run; the iteration's judgment and report rollouts are beside it."""
    checkpoint: int
    """Step of the checkpoint."""
    formats: tuple[ExportFormat, ...] = Field(min_length=1)
    license: str
    """Named in the model card."""


class DescribeRequest(Contract):
    """Describe an environment from its live model into `env_spec.json`."""

    env_id: str


class RendererReport(Contract):
    """Which of the ways to make pictures works here (`result.json` of the verb `probe`)."""

    chosen: str
    """"egl", "osmesa" or "raycast"."""
    failures: dict[str, str]
    """Why the others do not work: last line of their error."""

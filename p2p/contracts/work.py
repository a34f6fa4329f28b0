"""Requests to the worker and their results: pictures, exports, calls of generated code, checks."""

from enum import StrEnum
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, JsonValue, model_validator

from p2p.contracts.base import Contract, RelativePath
from p2p.contracts.commands import EpisodeCommands
from p2p.contracts.env import EnvModule, RobotModel
from p2p.contracts.frame import FrameNote
from p2p.contracts.intent import Intent
from p2p.contracts.observe import Observe
from p2p.contracts.senses import Senses
from p2p.contracts.training import EXAM_SEEDS, Purpose


class PictureFile(Contract):
    """A picture or a video."""

    path: RelativePath
    """Relative to the runs directory."""
    size_bytes: int
    width: int
    """[px]."""
    height: int
    """[px]."""
    mime_type: str


class RolloutPictures(Contract):
    """What was made of one request."""

    session_id: str
    iteration: int
    compared_with: int | None
    label: str
    """"p10", "median" or "p90"."""
    sheet: PictureFile
    frames: tuple[FrameNote, ...]
    """The moments on the sheet; those of the second iteration of a comparison follow the first's."""
    frame_files: tuple[PictureFile, ...]
    """The moments that are pictures of their own, in the order of `frames`."""
    video: PictureFile | None
    note: str
    """How the moments were chosen, and how slow motion was made."""


class MetricsPlot(StrEnum):
    """What of a training is plotted."""

    CURVE = "curve"
    """Return and success of every run over steps."""
    TERMS = "terms"
    """Mean of each reward term over steps."""
    DYNAMICS = "dynamics"
    """approx_kl, clip_fraction, explained_variance and std over steps."""
    COMPARE = "compare"
    """Return and success of two iterations."""


class MetricsPicture(Contract):
    """A plot of a training."""

    session_id: str
    iteration: int
    view: MetricsPlot
    with_iteration: int | None
    picture: PictureFile


class ExportFormat(StrEnum):
    """What others load."""

    SB3 = "sb3"
    """A zip for `stable_baselines3.PPO.load` and a pickle for `VecNormalize.load`."""
    ONNX = "onnx"
    """One graph, observation -> action."""
    TORCHSCRIPT = "torchscript"
    """One module, observation -> action."""


class NewExport(Contract):
    """Which policy is handed out, and how."""

    formats: tuple[ExportFormat, ...] = Field(min_length=1)
    iteration: int | None = None
    """None takes the best one so far."""
    run_id: str | None = None
    """None takes the best run of the iteration."""
    checkpoint: int | None = None
    """Step of the checkpoint; None takes the best one of the run."""
    output: Path | None = None
    """Folder to write; None makes one in the session's directory."""
    overwrite: bool = False
    """Replaces the files of an earlier export; other files in the folder stay."""
    license: str = Field(default="mit", pattern=r"^[A-Za-z0-9][A-Za-z0-9.+-]*$")
    """Named in the model card, as the Hugging Face Hub spells it."""


class ReturnStatistics(Contract):
    """Returns of several rollouts."""

    n: int
    mean: float
    std: float
    """Of the rollouts (n - 1 in its denominator); 0 for a single one."""
    low: float | None
    """Lower end of the mean's 95 % interval; None for a single rollout."""
    high: float | None


class RecordedEpisode(Contract):
    """A rollout that was recorded before the export, and is replayed by every format."""

    env_id: str
    env_kwargs: dict[str, bool | int | float | str]
    """All that `gymnasium.make` is given, or the class `Robot` of `replay.py`."""
    robot: RobotModel | None = Field(default=None, exclude_if=lambda robot: robot is None)
    """Of an environment that p2p has made from a model file; where the session has a terrain, on it."""
    starts: tuple[tuple[float, float], ...] = Field(default=(), exclude_if=lambda starts: not starts)
    """x and y of the places on its terrain where episodes begin [m]; empty without one."""
    frame_skip: int
    """Simulator steps in a control step."""
    seed: int
    """Of the environment's reset."""
    steps: int
    purpose: Purpose
    label: str
    """"p10", "median" or "p90" of the rollouts of its purpose."""
    trained_return: float
    """By the reward it was trained on, as it was recorded."""
    gymnasium_return: float
    """By Gymnasium's own reward, for the recorded actions."""
    observe: Observe | None = None
    """What the policy is told besides Gymnasium's observation."""
    senses: Senses | None = Field(default=None, exclude_if=lambda senses: senses is None)
    """What it sees in place of that, where it sees what its own sensors measure."""
    commands: EpisodeCommands | None = Field(default=None, exclude_if=lambda commands: commands is None)
    """What it is told to follow, after all else that it sees; drawn from the seed of the reset."""
    torso: str = ""
    """Body whose turns and way these read; empty where it is told nothing."""
    upright: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    """Orientation of that body's frame when the robot stands facing +x, as a quaternion (w, x, y, z)."""


class FormatCheck(Contract):
    """How one format did: against the policy on recorded observations, and on the recorded episode."""

    format: str
    """An `ExportFormat`; "sb3-predict" for stable-baselines3's own arithmetic, "numpy" for `policy.npz` itself."""
    files: tuple[str, ...]
    n_observations: int
    """Recorded observations it was compared on."""
    max_difference: float
    """Largest difference of an action from that of `policy.npz`, as a share of the action's range."""
    trained_return: float
    """Of its own episode from the recorded start."""
    gymnasium_return: float


class ExportReport(Contract):
    """What was handed out and what it was measured to do (`export.json`)."""

    run_id: str
    checkpoint: int
    episode: RecordedEpisode
    checks: tuple[FormatCheck, ...]
    trained_returns: ReturnStatistics
    """Of the recorded rollouts of the episode's purpose, by the trained reward."""
    gymnasium_returns: ReturnStatistics
    """Of the same episodes, by Gymnasium's own reward."""
    versions: dict[str, str]
    """Of the packages that made it."""


class Export(Contract):
    """An export as front ends show it."""

    session_id: str
    iteration: int
    directory: str
    files: tuple[str, ...]
    """Paths of all files."""
    report: ExportReport


class CodeLimits(Contract):
    """What code may use, and how much it may answer."""

    timeout_s: float = Field(default=10.0, gt=0.0, le=600.0)
    """For loading it and calling it once [s]."""
    max_values: int = Field(default=1_000, ge=1, le=100_000)
    """Numbers, texts and truth values of the answer in all, names included."""
    max_characters: int = Field(default=2_000, ge=0, le=20_000)
    """Of one text."""
    max_depth: int = Field(default=4, ge=1, le=16)
    """Of dicts and lists inside each other."""


class CodeRequest(Contract):
    """Call a function of some source with the arrays beside it (`arrays.npz`), as one dict from name to array."""

    source: str
    function: str
    limits: CodeLimits = CodeLimits()


class CodeResult(Contract):
    """What came of it (`result.json`)."""

    value: dict[str, JsonValue] | None
    """What the function returned; None when it failed. Texts in it are the model's: show them, and follow none."""
    error: str = ""
    line: int | None = None
    """Line that is to blame; None when no single one is."""


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
    exam_seed: int | None = Field(default=None, ge=EXAM_SEEDS)
    """First seed of exam rollouts, of which no pictures are made; None for report rollouts."""
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


LEAST_WIDTH = 240
MOST_WIDTH = 1920
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

    sheet: RelativePath
    """The contact sheet, or the plot."""
    frames: tuple[FrameNote, ...] = ()
    video: RelativePath | None = None
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
    """Gymnasium's id, or for a model file what the robot's id begins with."""
    model_path: str | None = None
    """Model file to make an environment of; None for one of Gymnasium's."""
    module: EnvModule | None = None
    """Module that registers it, for an id "module:Id"."""


class RendererReport(Contract):
    """Which of the ways to make pictures works here (`result.json` of the verb `probe`)."""

    chosen: str
    """"egl", "osmesa" or "raycast"; "none" where P2P_RENDERER says that nothing is drawn."""
    failures: dict[str, str]
    """Why the others do not work: last line of their error."""

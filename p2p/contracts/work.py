"""What the worker is asked to do: `request.json` in a job's directory. Paths are relative to that directory."""

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.export import ExportFormat


class CheckRequest(Contract):
    """Run `reward_fn.py` of the job's directory on real transitions of the environment."""

    n_transitions: int = Field(default=200, ge=1)
    terminate_when_unhealthy: bool = False
    env_kwargs: dict[str, bool | int | float | str] = {}
    side_info: bool = False


class EvaluateRequest(Contract):
    """Run report rollouts of a checkpoint, and make the pictures."""

    run_dir: str
    """Directory of the run."""
    run_id: str
    checkpoint: int
    """Step of the checkpoint."""
    n_rollouts: int = Field(ge=1, le=1000)
    seed_offset: int = Field(default=0, ge=0)
    """Added to the first report seed, so that each iteration is judged on starts no earlier one was."""
    sibling_runs: tuple[str, ...] = ()
    """Directories of the other runs of the iteration, for the learning curve."""


class FilmRequest(Contract):
    """Make the videos of every checkpoint of some finished runs."""

    runs: tuple[str, ...]
    """Directories of the runs, the most interesting first."""


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

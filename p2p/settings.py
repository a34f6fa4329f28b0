"""Settings of a process: variables of the environment first, then the configuration file."""

import os
from pathlib import Path

from pydantic import Field, ValidationError

from p2p import config_file
from p2p.contracts.base import Contract
from p2p.contracts.errors import InvalidInput
from p2p.contracts.loggers import Loggers

API_KEYS = ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY")
"""Variables that hold keys; their values are never written or shown."""


class Settings(Contract):
    """Settings of a process, each with its variable."""

    runs_dir: Path = Path("runs")
    """Where sessions are kept (`P2P_RUNS_DIR`)."""
    backend: str = "local"
    """Backend that trainings run on (`P2P_BACKEND`), as `--backend` names it; inline runs each job in this process."""
    nodes_dir: Path | None = None
    """Where nodes and their host keys are kept (`P2P_NODES_DIR`); None means beside the configuration file."""
    max_parallel: int | None = Field(default=None, ge=1)
    """Trainings at a time (`P2P_MAX_PARALLEL`); None means one per usable core."""

    allow_weak_sandbox: bool = False
    """Run generated code even where this machine cannot confine it fully (`P2P_ALLOW_WEAK_SANDBOX`)."""

    max_jobs: int = Field(default=1, ge=1)
    """Background jobs at a time (`P2P_MAX_JOBS`); others wait for their turn."""
    max_memory_share: float = Field(default=0.5, gt=0, le=1)
    """Share of its machine's memory at which a training is ended (`P2P_MAX_MEMORY_SHARE`)."""
    min_free_disk_gb: float = Field(default=1.0, ge=0)
    """Free disk below which no training starts [GiB] (`P2P_MIN_FREE_DISK_GB`)."""
    model: str = ""
    """`provider:model` that writes when nothing else is said (`P2P_MODEL`); empty means the built-in author."""
    light_model: str = ""
    """`provider:model` for small tasks (`P2P_LIGHT_MODEL`)."""
    model_patience_s: float = Field(default=1_800.0, gt=0)
    """How long one answer of a model is waited for, all attempts together [s] (`P2P_MODEL_PATIENCE_S`)."""
    model_silence_s: float = Field(default=120.0, gt=0)
    """A model that says nothing for so long is asked again [s] (`P2P_MODEL_SILENCE_S`)."""
    log: Loggers = ()
    """Loggers of sessions that name none, such as tensorboard,wandb (`P2P_LOG`)."""
    agent_model: str = "claude-opus-5-5"
    """Model of `p2p agent` (`P2P_AGENT_MODEL`)."""

    @classmethod
    def from_environment(cls, runs_dir: Path | None = None) -> "Settings":
        """Settings of this process; an explicit `runs_dir` wins over the environment.

        Raises:
            InvalidInput: a variable holds what it cannot, or the configuration file is broken.
        """
        said = variables()
        fields = {name: value for name in cls.model_fields if (value := said.get(f"P2P_{name.upper()}"))}
        try:
            return cls.model_validate(
                {**fields, "runs_dir": (runs_dir or Path(fields.get("runs_dir", "runs"))).absolute()}
            )
        except ValidationError as error:
            wrong = error.errors()[0]
            name = f"P2P_{wrong['loc'][0]}".upper()
            told = f"The variable {name}" if os.environ.get(name) else f"In {config_file.location()}, {wrong['loc'][0]}"
            raise InvalidInput(f"{told}={wrong['input']} has a wrong value: {wrong['msg']}.") from error


def variables() -> dict[str, str]:
    """Variables of the environment over those of the configuration file; an empty one counts as unset.

    Raises:
        InvalidInput: the configuration file is broken.
    """
    written = config_file.read(config_file.location(), list(Settings.model_fields)).variables()
    return {**written, **{name: value for name, value in os.environ.items() if value or name not in written}}


def adopt_config_file() -> None:
    """Put the variables of the configuration file into the environment, where libraries look; once per process.

    Raises:
        InvalidInput: the configuration file is broken.
    """
    os.environ.update(variables())
    if problem := exposed_keys():
        import logging  # noqa: PLC0415  3 % of the start of a command, for what hardly ever happens

        logging.getLogger(__name__).warning(problem)


def exposed_keys() -> str:
    """Warning that other users can read the keys in the configuration file; empty when they cannot."""
    path = config_file.location()
    if config_file.read(path, list(Settings.model_fields)).keys and config_file.readable_by_others(path):
        return f"{path} holds keys, and others on this machine can read it. Run: chmod 600 {path}"
    return ""


def api_key(name: str) -> str | None:
    """Read an API key; None if unset."""
    return variables().get(name) or None


def keys_present() -> dict[str, bool]:
    """Which API keys are set; never their values."""
    said = variables()
    return {name: bool(said.get(name)) for name in API_KEYS}

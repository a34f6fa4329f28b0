"""Environment variables, read once."""

import os
from pathlib import Path

from pydantic import Field, ValidationError

from p2p.contracts.base import Contract
from p2p.contracts.errors import InvalidInput

API_KEYS = ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY")
"""Variables that hold keys; their values are never written or shown."""


class Settings(Contract):
    """What a process is told from outside."""

    runs_dir: Path = Path("runs")
    """Where sessions are kept (`P2P_RUNS_DIR`)."""
    backend: str = "local"
    """Where jobs run (`P2P_BACKEND`)."""
    max_parallel: int | None = Field(default=None, ge=1)
    """Trainings at a time (`P2P_MAX_PARALLEL`); None means one per usable core."""

    max_jobs: int = Field(default=1, ge=1)
    """Background jobs at a time (`P2P_MAX_JOBS`); others wait for their turn."""
    agent_model: str = "claude-opus-5-5"
    """Who works in `p2p agent` (`P2P_AGENT_MODEL`)."""

    @classmethod
    def from_environment(cls, runs_dir: Path | None = None) -> "Settings":
        """Settings of this process; an explicit `runs_dir` wins over the environment.

        Raises:
            InvalidInput: a variable holds what it cannot.
        """
        fields = {
            "runs_dir": (runs_dir or Path(os.environ.get("P2P_RUNS_DIR", "runs"))).absolute(),
            "backend": os.environ.get("P2P_BACKEND", "local"),
            "max_parallel": os.environ.get("P2P_MAX_PARALLEL") or None,
            "max_jobs": os.environ.get("P2P_MAX_JOBS") or 1,
            "agent_model": os.environ.get("P2P_AGENT_MODEL") or cls.model_fields["agent_model"].default,
        }
        try:
            return cls.model_validate(fields)
        except ValidationError as error:
            wrong = error.errors()[0]
            name = f"P2P_{wrong['loc'][0]}".upper()
            raise InvalidInput(f"The variable {name}={wrong['input']} has a wrong value: {wrong['msg']}.") from error


def api_key(name: str) -> str | None:
    """The key in a variable, or None; for whoever calls a provider, and for nobody else."""
    return os.environ.get(name) or None


def keys_present() -> dict[str, bool]:
    """Which API keys are set; never their values."""
    return {name: bool(os.environ.get(name)) for name in API_KEYS}

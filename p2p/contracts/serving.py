"""Language models that this machine serves."""

from typing import Literal

from pydantic import Field

from p2p.contracts.base import Contract

HOST = "127.0.0.1"
"""Nobody but this machine reaches them."""


class VllmOptions(Contract):
    """What a vLLM server serves, and how."""

    model: str = Field(min_length=1)
    port: int = Field(default=8000, ge=1, le=65_535)
    max_model_len: int = Field(default=32_768, ge=1)
    """Longest conversation [tokens]."""
    gpu_memory_share: float = Field(default=0.9, gt=0, le=1)
    devices: str | None = None
    """`CUDA_VISIBLE_DEVICES`; None leaves all."""
    start_s: float = Field(default=600.0, gt=0)
    """How long it may take until it answers [s]: it loads the model."""


class ServedModel(Contract):
    """A server that was started here and goes on by itself."""

    model: str
    port: int
    key: str = Field(repr=False)
    """What it wants to be shown; made for it, and good for nothing else."""
    pid: int
    """Leader of its process group."""
    began: str
    """When that process began, which tells it from a later one of the same number."""
    log: str
    """File its output goes to."""
    started_at: str
    """UTC, ISO 8601."""

    @property
    def base_url(self) -> str:
        """Its address, as OpenAI's library wants it."""
        return f"http://{HOST}:{self.port}/v1"


class ServedModels(Contract):
    """All of them, the one that was started last at the end (`served_models.json`)."""

    servers: tuple[ServedModel, ...] = ()


class ServedModelView(Contract):
    """How a server stands."""

    model: str
    name: str
    """What `--model` calls it."""
    base_url: str
    state: Literal["ready", "silent", "ended"]
    """It answers and serves the model; it lives and does not; its process is gone."""
    pid: int
    log: str
    started_at: str
    """UTC, ISO 8601."""

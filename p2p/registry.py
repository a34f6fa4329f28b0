"""What users plug in, by name: "module:attribute", imported on first use. A new one is one file and one line."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from p2p.contracts.errors import MissingExtra, UnknownName

AUTHORS: dict[str, str] = {
    "builtin": "p2p.agents.builtin.author:BuiltinAuthor",
    "model": "p2p.agents.model.author:ModelAuthor",
}
BACKENDS: dict[str, str] = {
    "inline": "p2p.scheduler.backends.inline:InlineBackend",
    "k8s": "p2p.scheduler.backends.k8s.backend:KubernetesBackend",
    "local": "p2p.scheduler.backends.local:LocalBackend",
    "pool": "p2p.scheduler.backends.pool:PoolBackend",
    "ray": "p2p.scheduler.backends.ray:RayBackend",
    "slurm": "p2p.scheduler.backends.slurm:SlurmBackend",
    "ssh": "p2p.scheduler.backends.ssh:SSHBackend",
}
PLACES: dict[str, str] = {"k8s": "CLUSTER", "pool": "NODE,…", "ray": "CLUSTER", "slurm": "CLUSTER", "ssh": "NODE"}
"""What may follow the name of a backend, after a colon."""
PROVIDERS: dict[str, str] = {
    "anthropic": "p2p.inference.providers.anthropic:AnthropicModel",
    "gemini": "p2p.inference.providers.gemini:GeminiModel",
    "openai": "p2p.inference.providers.openai:OpenAIModel",
    "vllm": "p2p.inference.providers.openai:VllmModel",
    "ollama": "p2p.inference.providers.openai:OllamaModel",
}
LOGGERS: dict[str, str] = {
    "tensorboard": "p2p.loggers.tensorboard:TensorBoardLog",
    "wandb": "p2p.loggers.wandb:WandbLog",
}

_EXTRA_OF = {
    **dict.fromkeys(("numpy", "mujoco", "gymnasium"), "train"),
    **dict.fromkeys(("torch", "stable_baselines3"), "sb3"),
    **dict.fromkeys(("onnx", "onnxruntime"), "onnx"),
    "anthropic": "anthropic",
    "google": "gemini",
    "openai": "openai",
    "paramiko": "ssh",
    "kubernetes": "k8s",
    "tensorboard": "tensorboard",
    "wandb": "wandb",
}


def backend_forms() -> list[str]:
    """The backends as they are named in an option: "local", "ssh[:NODE]"."""
    return [f"{name}[:{PLACES[name]}]" if name in PLACES else name for name in BACKENDS]


def cluster_kinds() -> tuple[str, ...]:
    """Backends that hand trainings to the scheduler of a cluster."""
    return tuple(name for name, place in PLACES.items() if place == "CLUSTER")


def load(kind: str, registry: Mapping[str, str], name: str) -> Any:
    """The object registered as `name`; `kind` names it in the error.

    Raises:
        UnknownName: nothing is registered under `name`.
        MissingExtra: what it needs is not installed.
    """
    if name not in registry:
        raise UnknownName(kind, name, registry)
    module, attribute = registry[name].split(":")
    with naming_extras():
        return getattr(import_module(module), attribute)


@contextmanager
def naming_extras() -> Iterator[None]:
    """Name the extra that is to be installed when an import in the block lacks a package.

    Raises:
        MissingExtra: a package of an extra is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        if package in _EXTRA_OF:
            raise MissingExtra(package, _EXTRA_OF[package]) from error
        raise

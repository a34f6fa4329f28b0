"""Environment facts and default configurations."""

import re

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import P2PError, UnknownName
from p2p.contracts.training import TrainConfig
from p2p.contracts.work import DescribeRequest
from p2p.envs import catalog
from p2p.service.jobs.worker_jobs import run_to_end
from p2p.service.training.plan import parse_config
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.iterations import IterationRecord
from p2p.training.presets import preset

_GYMNASIUM_ID = re.compile(r"([\w-]+/)?\w[\w.-]*-v\d{1,3}", re.ASCII)
"""An id as Gymnasium registers it, without the "module:" before it that would import one."""


def list_environments() -> tuple[EnvSpec, ...]:
    """Environments described in the package."""
    return tuple(catalog.load(env_id) for env_id in catalog.known())


def default_config(env_id: str) -> TrainConfig:
    """Default training configuration of an environment."""
    return parse_config({**preset(env_id), "env_id": env_id})


def describe_environment(ws: Workspace, env_id: str) -> EnvSpec:
    """Facts of an environment; an unknown one is described once from its live model.

    Raises:
        UnknownName: Gymnasium does not know `env_id` either, or it is not a MuJoCo environment.
    """
    if env_id in catalog.known():
        return catalog.load(env_id)
    if len(env_id) > 100 or not _GYMNASIUM_ID.fullmatch(env_id):  # no process is started to find that out
        raise UnknownName("environment", env_id[:100], catalog.known())
    directory = ws.runs.environment_dir(env_id)
    record = IterationRecord(directory)
    if (spec := record.read_env_spec()) is None or spec.env_id != env_id:
        record.save_describe_request(DescribeRequest(env_id=env_id))
        try:
            run_to_end(ws.backend, "describe", directory)
        except P2PError:
            files.discard(directory)
            raise
        spec = record.read_env_spec()
    if spec is None:
        raise UnknownName("environment", env_id, catalog.known())
    return spec

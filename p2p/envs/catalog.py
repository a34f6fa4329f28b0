"""Described environments, stored as data to avoid heavy imports."""

from functools import cache
from importlib.resources import files

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import UnknownName

_DATA = files("p2p.envs") / "data"


@cache
def known() -> tuple[str, ...]:
    """Ids of the described environments, sorted."""
    return tuple(sorted(file.name.removesuffix(".json") for file in _DATA.iterdir() if file.name.endswith(".json")))


@cache
def load(env_id: str) -> EnvSpec:
    """The facts of an environment.

    Raises:
        UnknownName: it is not among the described ones.
    """
    if env_id not in known():
        raise UnknownName("environment", env_id, known())
    return EnvSpec.model_validate_json((_DATA / f"{env_id}.json").read_text(encoding="utf-8"))


def newest(name: str) -> str:
    """The described id of a name without its version, such as "Hopper-v5" of "Hopper"; any other name as it is."""
    versions = {int(env_id.rpartition("-v")[2]): env_id for env_id in known() if env_id.rpartition("-v")[0] == name}
    return versions[max(versions)] if versions else name

"""Environments and robots, from Python."""

from pathlib import Path

from p2p.api.remedies import worded
from p2p.contracts.env import EnvSpec
from p2p.service.pictures import portrait as pictures
from p2p.service.training import environments as known
from p2p.service.training import robots
from p2p.service.workspace import Workspace
from p2p.settings import Settings


def _workspace(runs_dir: Path | str | None) -> Workspace:
    return Workspace(Settings.from_environment(Path(runs_dir) if runs_dir is not None else None))


@worded
def environments(*, runs_dir: Path | str | None = None) -> dict[str, EnvSpec]:
    """What can be trained on, by id; robots that were given a name by that. Others are described by `environment`."""
    ws = _workspace(runs_dir)
    found = {spec.env_id: spec for spec in (*known.list_environments(), *known.list_robots(ws))}
    return {**found, **{name: found[robot.env_id] for name, robot in robots.named_robots(ws).items()}}


@worded
def environment(name: str | Path, *, runs_dir: Path | str | None = None) -> EnvSpec:
    """Facts of an environment.

    Args:
        name: Its id, the name of a robot, or the path of a robot's model file.
        runs_dir: As in `run`.

    Raises:
        UnknownName: there is no such environment.
        InvalidInput: the model file is broken or not taken.
    """
    return known.find_environment(_workspace(runs_dir), str(name))


@worded
def portrait(name: str | Path, *, runs_dir: Path | str | None = None) -> Path:
    """A picture of an environment's robot as its episodes begin, as a PNG file; arguments and errors as above."""
    ws = _workspace(runs_dir)
    return pictures.portrait(ws, known.find_environment(ws, str(name)))


@worded
def add_robot(name: str, file: str | Path, *, runs_dir: Path | str | None = None) -> EnvSpec:
    """Keep a robot's model file under a name, for `env=`.

    Raises:
        InvalidInput: the name is taken or none, or the file is none or not taken.
    """
    return robots.add_robot(_workspace(runs_dir), name, str(file))


@worded
def remove_robot(name: str, *, runs_dir: Path | str | None = None) -> None:
    """Take a robot's name back; sessions that have the robot go on.

    Raises:
        UnknownName: no robot has it.
    """
    robots.remove_robot(_workspace(runs_dir), name)

"""What can be trained on, and what this machine can do."""

from pathlib import Path
from typing import Annotated

from mcp.types import CallToolResult
from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.env import Actuator, Dimension, EnvSpec, Feature, InfoKey
from p2p.contracts.errors import P2PError
from p2p.contracts.node import SetupCheck
from p2p.service.machines import setup
from p2p.service.pictures.portrait import portrait
from p2p.service.training import environments, robots
from p2p.service.wording import reward_constraints
from p2p.service.workspace import Workspace
from p2p_mcp.fields import EnvironmentId
from p2p_mcp.views.answer import Answer
from p2p_mcp.views.content import reply


class EnvironmentLine(Contract):
    """One environment."""

    env_id: str
    description: str
    observation_size: int
    action_size: int
    dt: float
    """Control period [s]."""
    uri: str
    """Resource with all its facts."""


class EnvironmentList(Answer):
    """What can be trained on."""

    environments: tuple[EnvironmentLine, ...]
    next_step: str


class EnvironmentFacts(Answer):
    """What a reward for an environment can read."""

    env_id: str
    description: str
    dt: float
    """Control period [s]."""
    termination: str
    observation: tuple[Dimension, ...]
    """Entries of `obs`, the longest parts cut; the resource p2p://environments/{id} has all."""
    observation_size: int
    action: tuple[Actuator, ...]
    features: tuple[Feature, ...]
    """Measurements that criteria are made of, and that `info` holds under their names."""
    info: tuple[InfoKey, ...]
    choices: tuple[str, ...] = ()
    """Of a robot from a model file: what was chosen from the model, and why."""
    reward_rules: str
    """What a reward may import, read and return, and what its training may be changed to."""
    next_step: str


class SetupAnswer(Answer):
    """What this machine has, and what it lacks."""

    usable: bool
    """True when training is possible."""
    checks: tuple[SetupCheck, ...]
    next_step: str


TAKE_BACK = "-"
RobotName = Annotated[str, Field(description='Name to keep a file\'s robot under; "-" drops it.')]
MAX_ENTRIES = 60
"""Entries of an observation that are listed; a humanoid has 348."""


def list_environments(ws: Workspace) -> Annotated[CallToolResult, EnvironmentList]:
    """List the robots that can be trained. Call it first when the user names none."""
    named = robots.named_robots(ws)
    of_files = [(name, environments.describe_environment(ws, name)) for name in named]
    packaged = [(spec.env_id, spec) for spec in environments.list_environments()]
    lines = tuple(
        EnvironmentLine(
            env_id=name,
            description=spec.description,
            observation_size=spec.obs_dim,
            action_size=spec.action_dim,
            dt=spec.dt,
            uri=f"p2p://environments/{spec.env_id}",
        )
        for name, spec in (*packaged, *of_files)
    )
    answer = EnvironmentList(environments=lines, next_step='create_session(intent="...", environment="...")')
    return reply(answer, ours=not of_files)


def describe_environment(
    ws: Workspace, env_id: EnvironmentId, name: RobotName = ""
) -> Annotated[CallToolResult, EnvironmentFacts]:
    """Observations, actions and features of one robot, with units: read it before writing a reward."""
    spec = environments.find_environment(ws, env_id)
    if name == TAKE_BACK:
        robots.remove_robot(ws, env_id)
    elif name:
        spec = robots.add_robot(ws, name, env_id)
    facts = EnvironmentFacts(
        env_id=spec.env_id,
        description=spec.description,
        dt=spec.dt,
        termination=spec.termination,
        observation=spec.observation[:MAX_ENTRIES],
        observation_size=spec.obs_dim,
        action=spec.action,
        features=spec.features,
        info=spec.info,
        choices=spec.robot.choices if spec.robot is not None else (),
        reward_rules=reward_constraints(spec, features=False),
        next_step=f'create_session(intent="...", environment="{spec.env_id}")',
    )
    packaged = {known.env_id for known in environments.list_environments()}
    return reply(facts, _pictures(ws, spec), ours=spec.env_id in packaged)


def _pictures(ws: Workspace, spec: EnvSpec) -> list[Path]:
    """How a robot of a model file stands; the facts are told too where nothing can be drawn."""
    if spec.robot is None:
        return []
    try:
        return [portrait(ws, spec)]
    except P2PError:
        return []


def check_setup(ws: Workspace) -> Annotated[CallToolResult, SetupAnswer]:
    """Check packages, renderer, cores, memory, disk and keys: before a first training, or when one cannot start."""
    report = setup.check_setup(ws)
    wrong = [check.remedy for check in report.checks if check.remedy]
    answer = SetupAnswer(
        usable=report.usable,
        checks=report.checks,
        next_step="create_session" if report.usable else f"Tell the user: {' '.join(wrong)}",
    )
    return reply(answer, ours=True)

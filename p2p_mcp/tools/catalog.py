"""What can be trained on, and what this machine can do."""

from typing import Annotated

from mcp.types import CallToolResult

from p2p.contracts.base import Contract
from p2p.contracts.env import Actuator, Dimension, Feature, InfoKey
from p2p.contracts.node import SetupCheck
from p2p.service.machines import setup
from p2p.service.training import environments
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
    reward_rules: str
    """What a reward may import, read and return, and what its training may be changed to."""
    next_step: str


class SetupAnswer(Answer):
    """What this machine has, and what it lacks."""

    usable: bool
    """True when training is possible."""
    checks: tuple[SetupCheck, ...]
    next_step: str


MAX_ENTRIES = 60
"""Entries of an observation that are listed; a humanoid has 348."""


def list_environments() -> Annotated[CallToolResult, EnvironmentList]:
    """List the robots that can be trained. Call it first when the user names none; then create_session."""
    lines = tuple(
        EnvironmentLine(
            env_id=spec.env_id,
            description=spec.description,
            observation_size=spec.obs_dim,
            action_size=spec.action_dim,
            dt=spec.dt,
            uri=f"p2p://environments/{spec.env_id}",
        )
        for spec in environments.list_environments()
    )
    answer = EnvironmentList(environments=lines, next_step='create_session(intent="...", environment="...")')
    return reply(answer, ours=True)


def describe_environment(ws: Workspace, env_id: EnvironmentId) -> Annotated[CallToolResult, EnvironmentFacts]:
    """Observations, actions, features and info keys of one robot, with units: read it before writing a reward."""
    spec = environments.find_environment(ws, env_id)
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
        reward_rules=reward_constraints(spec, features=False),
        next_step=f'create_session(intent="...", environment="{spec.env_id}")',
    )
    packaged = {known.env_id for known in environments.list_environments()}
    return reply(facts, ours=spec.env_id in packaged)


def check_setup(ws: Workspace) -> Annotated[CallToolResult, SetupAnswer]:
    """Check Python, packages, renderer, cores, memory, disk and keys of the machine that trains.

    Call it when a training cannot be started, or before the first one.
    """
    report = setup.check_setup(ws)
    wrong = [check.remedy for check in report.checks if check.remedy]
    answer = SetupAnswer(
        usable=report.usable,
        checks=report.checks,
        next_step="create_session" if report.usable else f"Tell the user: {' '.join(wrong)}",
    )
    return reply(answer, ours=True)

"""Environments, and what a sentence would be judged by in one."""

from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from p2p.contracts.env import EnvSpec
from p2p.contracts.intent import Preview, Understanding
from p2p.contracts.reward_template import RewardTemplate
from p2p.contracts.robot import NamedRobot
from p2p.contracts.session import NewSession
from p2p.service.pictures.portrait import portrait
from p2p.service.rewards.criteria import understand
from p2p.service.sessions.lifecycle import preview
from p2p.service.training.environments import default_config, describe_environment, list_environments
from p2p.service.training.robots import add_robot, named_robots, remove_robot
from p2p.web.arguments import Ws
from p2p.web.router import Router
from p2p.web.schemas import EnvInfo, RobotFile, Sentence
from p2p.web.sharing import SHARED

router = Router(prefix="/api", tags=["environments"])


@router.get("/envs", openapi_extra=SHARED)
def environments(ws: Ws) -> tuple[EnvInfo, ...]:
    """What can be trained on; robots with a name by that."""
    robots = tuple(EnvInfo.of(describe_environment(ws, name), name) for name in named_robots(ws))
    return (*(EnvInfo.of(spec) for spec in list_environments()), *robots)


@router.post("/envs", status_code=201)
def add(ws: Ws, request: RobotFile) -> EnvSpec:
    """Keep the robot of a model file of the server's machine under a name."""
    return add_robot(ws, request.name, request.file)


@router.delete("/envs/{name}")
def remove(ws: Ws, name: str) -> NamedRobot:
    """Take a robot's name back; sessions that have the robot go on."""
    return remove_robot(ws, name)


@router.get("/envs/{env_id}/portrait.png", openapi_extra=SHARED, response_class=Response)
def picture(ws: Ws, env_id: str) -> Response:
    """The robot as its episodes begin."""
    return Response(portrait(ws, describe_environment(ws, env_id)).read_bytes(), media_type="image/png")


@router.get("/envs/{env_id}", openapi_extra=SHARED)
def environment(ws: Ws, env_id: str) -> EnvSpec:
    """All that is known of one."""
    return describe_environment(ws, env_id)


@router.get("/reward-templates", openapi_extra=SHARED)
def templates(env: Annotated[str | None, Query(max_length=100)] = None) -> tuple[RewardTemplate, ...]:
    """Behaviours that the built-in author knows: sentences that ask for each, and its reward."""
    from p2p.service.rewards.template_list import reward_templates  # noqa: PLC0415  loads the built-in author

    return reward_templates(env)


@router.get("/defaults")
def defaults(ws: Ws, env: Annotated[str, Query(max_length=100)] = NewSession().env_id) -> dict[str, Any]:
    """What a session has where nothing is said, and a training's configuration in an environment."""
    config = default_config(describe_environment(ws, env))
    return {"session": NewSession(env_id=env).model_dump(mode="json"), "config": config.model_dump(mode="json")}


@router.post("/elaborate-intent")
def elaborate(ws: Ws, request: Sentence) -> Understanding:
    """What a sentence would be judged by; nothing is kept."""
    return understand(ws, request.prompt, request.env_id)


@router.post("/preview")
def previewed(ws: Ws, request: NewSession) -> Preview:
    """What a session would be judged by, how it would be trained, and about how long; nothing is kept."""
    return preview(ws, request)

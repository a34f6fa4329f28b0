"""`p2p envs`: what can be trained on."""

from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from p2p.cli.completion import complete_environment
from p2p.cli.options import AsJson, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.cli.tables import table
from p2p.contracts.env import EnvSpec
from p2p.contracts.intent import number
from p2p.service.training.environments import default_config, find_environment, list_environments, list_robots

ENVS_EXAMPLES = examples(
    "p2p envs",
    "p2p envs Ant-v5",
    "p2p envs ./my_robot.xml",
    "p2p envs HalfCheetah-v5 --json | jq '.features[].name'",
)

EnvName = Annotated[
    str | None,
    typer.Argument(
        metavar="[ENV]",
        help="Environment to describe, or a robot's model file; none lists them.",
        autocompletion=complete_environment,
    ),
]


def envs(env: EnvName = None, as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """List the environments, or describe one: observations, actions, features, termination."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    if env is not None:
        spec = find_environment(ws, env)
        parts = [*description(spec)]
        if left_out := default_config(spec.env_id).env_kwargs:  # training sees less than the whole observation
            settings = ", ".join(f"{name}={value}" for name, value in left_out.items())
            parts += ["", Text(f"p2p trains with {settings}: `obs` ends where these entries would begin.")]
        output.result(spec, *parts)
        return
    specs = (*list_environments(), *list_robots(ws))
    hint = "Described on first use: any other MuJoCo environment of Gymnasium, any robot's MJCF or URDF file."
    output.result({"environments": [_summary(spec) for spec in specs]}, listing(specs), hint)


def listing(specs: tuple[EnvSpec, ...]) -> Table:
    """One row per environment."""
    numbers = ("observations", "actions", "period")
    made = table("environment", *numbers, "what it is", right=numbers)
    for spec in specs:
        period = number(spec.dt, "s")
        made.add_row(spec.env_id, str(spec.obs_dim), str(spec.action_dim), period, Text(spec.description))
    return made


def description(spec: EnvSpec) -> list[RenderableType]:
    """Everything a reward's author wants to know about an environment."""
    seconds = spec.max_episode_steps * spec.dt
    facts = (
        f"control period {spec.dt:g} s ({spec.frame_skip} simulator steps), "
        f"at most {spec.max_episode_steps} steps ({seconds:g} s) an episode, ends early {spec.termination}; "
        f"mass {spec.total_mass:.3g} kg, torso at {spec.rest_height:.3g} m in the initial pose"
    )
    observation = table("index", "name", "quantity", "unit", "frame", title="Observation")
    for entry in spec.observation:
        observation.add_row(str(entry.index), Text(entry.name), entry.quantity, entry.unit, entry.frame)
    actions = table("index", "name", "joint", "range", "unit", "gear", title="Action")
    for actuator in spec.action:
        between = f"{actuator.low:g} … {actuator.high:g}"
        actions.add_row(
            str(actuator.index), Text(actuator.name), Text(actuator.joint), between, actuator.unit, f"{actuator.gear:g}"
        )
    info = table("key", "random rollout gave", title="Gymnasium's info")
    for key in spec.info:
        info.add_row(Text(key.name), f"{key.low:g} … {key.high:g}")
    features = table(
        "name",
        "unit",
        "frame",
        "what it is",
        title="Features, by the same names in rewards, criteria and prompts",
    )
    for feature in spec.features:
        features.add_row(feature.name, feature.unit, feature.frame, Text(feature.description))
    return [
        Text(spec.env_id, style="bold"),
        Text(spec.description),
        Text(facts),
        *([Text("Chosen from the model:"), *(Text(f"- {one}") for one in spec.robot.choices)] if spec.robot else []),
        "",
        observation,
        actions,
        info,
        features,
    ]


def _summary(spec: EnvSpec) -> dict[str, object]:
    return {
        "env_id": spec.env_id,
        "description": spec.description,
        "obs_dim": spec.obs_dim,
        "action_dim": spec.action_dim,
        "dt": spec.dt,
        "max_episode_steps": spec.max_episode_steps,
        "termination": spec.termination,
        "features": list(spec.feature_names),
    }

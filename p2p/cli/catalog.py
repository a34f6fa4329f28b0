"""`p2p envs`: what can be trained on."""

from collections.abc import Mapping
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
from p2p.contracts.errors import InvalidInput, P2PError
from p2p.contracts.intent import number
from p2p.service.pictures.portrait import portrait
from p2p.service.training.environments import default_config, find_environment, list_environments, list_robots
from p2p.service.training.robots import add_robot, named_robots, remove_robot
from p2p.service.workspace import Workspace

ENVS_EXAMPLES = examples(
    "p2p envs",
    "p2p envs Ant-v5",
    "p2p envs ./my_robot.xml",
    "p2p envs add my_robot ./my_robot.xml",
    "p2p envs remove my_robot",
    "p2p envs HalfCheetah-v5 --json | jq '.features[].name'",
)

EnvWords = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ENV | add NAME FILE | remove NAME]",
        help="Environment to describe, or a robot's name or model file; none lists them. `add` keeps a robot's model "
        "file under a name, `remove` takes the name back.",
        autocompletion=complete_environment,
    ),
]


def envs(env: EnvWords = None, as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """List the environments, or describe one with a picture; keep a robot of your own under a name."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    match env or []:
        case []:
            _list(ws, output)
        case ["add", name, file]:
            spec = add_robot(ws, name, file)
            _describe(ws, output, spec, f"{name} is {spec.env_id} from now on: --env {name}")
        case ["remove", name]:
            removed = remove_robot(ws, name)
            said = f"{name} names nothing any more. {removed.env_id} stays, for the sessions that have it."
            output.result({"removed": name, "env_id": removed.env_id}, said)
        case [name] if name not in ("add", "remove"):
            _describe(ws, output, find_environment(ws, name))
        case words:
            raise InvalidInput(f"{' '.join(words)!r} is none of: ENV, `add NAME FILE`, `remove NAME`.")


def _describe(ws: Workspace, output: Output, spec: EnvSpec, said: str = "") -> None:
    parts = [*description(spec)]
    usual = default_config(spec)
    if left_out := usual.env_kwargs:  # training sees less than the whole observation
        parts += ["", Text(f"p2p trains with {_settings(left_out)}: `obs` ends where these entries would begin.")]
    if spec.robot is not None and (of_kind := usual.model_dump(exclude={"env_id"}, exclude_defaults=True)):
        parts += ["", Text(f"p2p trains robots of its kind with {_settings(of_kind)}.")]
    if not output.as_json:
        try:
            parts += ["", Text(f"Picture: {portrait(ws, spec)}")]
        except P2PError as error:  # the facts are there all the same
            parts += ["", Text(f"No picture: {error}")]
    output.result(spec, *parts, *([said] if said else []))


def _settings(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _list(ws: Workspace, output: Output) -> None:
    specs = (*list_environments(), *list_robots(ws))
    names = {robot.env_id: name for name, robot in named_robots(ws).items()}
    hint = "Described on first use: any other MuJoCo environment of Gymnasium, any robot's MJCF or URDF file."
    rows = [_summary(spec) | ({"name": names[spec.env_id]} if spec.env_id in names else {}) for spec in specs]
    output.result({"environments": rows}, listing(specs, names), hint)


def listing(specs: tuple[EnvSpec, ...], names: Mapping[str, str]) -> Table:
    """One row per environment; robots with a name begin with it."""
    numbers = ("observations", "actions", "period")
    made = table("environment", *numbers, "what it is", right=numbers)
    for spec in specs:
        period = number(spec.dt, "s")
        called = f"{names[spec.env_id]} ({spec.env_id})" if spec.env_id in names else spec.env_id
        made.add_row(called, str(spec.obs_dim), str(spec.action_dim), period, Text(spec.description))
    return made


def description(spec: EnvSpec) -> list[RenderableType]:
    """Everything a reward's author wants to know about an environment."""
    seconds = spec.max_episode_steps * spec.dt
    pose = "as it stands; it begins lying" if spec.begins_lying else "in the initial pose"
    facts = (
        f"control period {spec.dt:g} s ({spec.frame_skip} simulator steps), "
        f"at most {spec.max_episode_steps} steps ({seconds:g} s) an episode, ends early {spec.termination}; "
        f"mass {spec.total_mass:.3g} kg, torso at {spec.rest_height:.3g} m {pose}"
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

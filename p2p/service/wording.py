"""Words of the service: the prompt texts of `prompts/`, and what is wrong with a value."""

import json
from collections.abc import Mapping
from importlib.resources import files
from string import Template

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from p2p.contracts.env import EnvSpec, parts_in_words
from p2p.contracts.errors import InvalidInput
from p2p.contracts.observe import REMEMBERED
from p2p.contracts.reward_rules import ALLOWED_IMPORTS
from p2p.contracts.terrain import Terrain
from p2p.training.tuning import BOUNDS


def fill(name: str, **values: object) -> str:
    """Text `prompts/<name>.md` with its placeholders replaced.

    Raises:
        KeyError: a placeholder has no value.
    """
    text = files("p2p.service.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")
    return Template(text).substitute({key: str(value) for key, value in values.items()}).strip()


def as_data(text: object, name: str) -> str:
    """Mark a text as data for the reader of a prompt; see `p2p.prompts.rendering.data`."""
    from p2p.prompts.rendering import data  # noqa: PLC0415  jinja2 comes with it, and the server starts without

    return data(text, name)


def reward_constraints(
    spec: EnvSpec,
    *,
    features: bool = True,
    terrain: Terrain | None = None,
    settings: Mapping[str, object] | None = None,
) -> str:
    """Rules for a reward in an environment: imports, inputs, outputs, and limits of configuration changes.

    Args:
        spec: The environment.
        features: Whether its features are listed; False where the reader gets them elsewhere.
        terrain: The ground of its session; None for a level floor.
        settings: What p2p's own author trains the session's sentence with; None where it does not know it.
    """
    listed = "\n".join(f"- {f.name} [{f.unit}]: {f.description}" for f in spec.features)
    if spec.commands is not None:
        listed += f"\n\nThe robot is told to follow commands, and its policy sees them: {spec.commands.words}"
    rules = fill(
        "constraints",
        imports=", ".join(ALLOWED_IMPORTS),
        obs_dim=spec.obs_dim,
        action_dim=spec.action_dim,
        dt=f"{spec.dt:g}",
        info_keys=", ".join(key.name for key in spec.info) or "nothing else",
        features=listed if features else "- those under `features`",
        parts="\n".join(
            f"- {quantities}" + (f" Parts: {parts}." if parts else "") for quantities, parts in parts_in_words(spec)
        ),
        remembered=", ".join(name for name in REMEMBERED if name in spec.feature_names),
        bounds=", ".join(f"{name} {low:g} … {high:g}" for name, (low, high) in BOUNDS.items()),
    )
    if terrain is not None:
        rules += (
            f"\nThe ground is not level: {terrain.words}. Heights, clearances, contacts and the torso's height in "
            "obs are measured above the ground below; velocity_z is the world's, as is qpos."
        )
    if settings:
        rules += (
            "\np2p's own author trains this sentence with these config_changes, which were found by measuring. Take "
            "them over, but for what your reward needs otherwise: hard motions are seldom learnt without.\n"
            + json.dumps(settings)
        )
    return rules


def field_problem(problem: ErrorDetails) -> str:
    """One indented line on what pydantic refused: the field's name, the rule, and the value."""
    if not problem["loc"]:  # a rule over several fields names them itself
        return f"  {problem['msg'].removeprefix('Value error, ')}"
    return f"  {'.'.join(map(str, problem['loc']))}: {problem['msg']}, got {problem['input']!r}"


def refused(error: ValidationError) -> InvalidInput:
    """What is wrong with a request, a line for each of its fields that pydantic refused."""
    return InvalidInput("\n".join(["The request is not valid:", *map(field_problem, error.errors())]))

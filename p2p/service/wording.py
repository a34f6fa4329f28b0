"""The texts of `prompts/`, filled in."""

from importlib.resources import files
from string import Template

from p2p.contracts.env import EnvSpec
from p2p.contracts.parts import parts_in_words
from p2p.contracts.reward_rules import ALLOWED_IMPORTS
from p2p.training.tuning import BOUNDS


def fill(name: str, **values: object) -> str:
    """The text `prompts/<name>.md` with its placeholders replaced.

    Raises:
        KeyError: a placeholder has no value.
    """
    text = files("p2p.service.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")
    return Template(text).substitute({key: str(value) for key, value in values.items()}).strip()


def reward_constraints(spec: EnvSpec, *, features: bool = True) -> str:
    """What a reward in an environment may import, read and return, and how far its training may be changed.

    Args:
        spec: The environment.
        features: Whether its features are listed; False where the reader has them beside this text.
    """
    listed = "\n".join(f"- {f.name} [{f.unit}]: {f.description}" for f in spec.features)
    return fill(
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
        bounds=", ".join(f"{name} {low:g} … {high:g}" for name, (low, high) in BOUNDS.items()),
    )

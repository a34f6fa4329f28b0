"""Configuration changes by an author: what is allowed, problems, and the result."""

from collections.abc import Mapping

from pydantic import ValidationError

from p2p.contracts.errors import InvalidConfig
from p2p.contracts.training import TrainConfig
from p2p.training.presets import preset
from p2p.training.tuning import BOUNDS, HYPERPARAMETERS, TASK_FIELDS, check_bounds


def config_problems(changes: Mapping[str, object], steps_left: int | None = None) -> list[str]:
    """Problems of configuration changes: names, types, ranges, and the budget of steps."""
    found = []
    values = {name: value for name, value in changes.items() if value is not None}
    unknown = sorted(set(changes) - {*HYPERPARAMETERS, *TASK_FIELDS})
    if unknown:
        found.append(f"There are no fields {', '.join(unknown)} that an author may change.")
        values = {name: value for name, value in values.items() if name not in unknown}
    for name in sorted(set(values) & set(BOUNDS)):
        if isinstance(values[name], bool) or not isinstance(values[name], int | float):
            found.append(f"{name} must be a number, got {values[name]!r}.")
            del values[name]
    try:
        check_bounds(values)
        TrainConfig.model_validate(values)
    except (InvalidConfig, ValueError) as error:
        found.append(str(error))
    steps = values.get("total_timesteps")
    if steps_left is not None and isinstance(steps, int) and steps > steps_left:
        found.append(f"total_timesteps {steps:,} is more than the {steps_left:,} steps that the session has left.")
    return found


def planned_config(
    base: TrainConfig, changes: Mapping[str, object], of_robot: Mapping[str, object] = {}
) -> TrainConfig:
    """Configuration with an author's changes; None resets a field to the preset.

    Changes that do not go together leave it as it is: their training is refused, and says why.

    Args:
        base: Configuration that is changed.
        changes: New values, by the names of the fields.
        of_robot: `preset` of the session.
    """
    usual = TrainConfig.model_validate({"env_id": base.env_id, **preset(base.env_id, base.total_timesteps, of_robot)})
    wanted = {name: getattr(usual, name, None) if value is None else value for name, value in changes.items()}
    try:
        return TrainConfig.model_validate({**base.model_dump(), **wanted})
    except ValidationError:
        return base

"""What an author may change of a training, and what is wrong with a change."""

from collections.abc import Mapping

from p2p.contracts.errors import InvalidConfig
from p2p.contracts.training import TrainConfig
from p2p.training.tuning import BOUNDS, check_bounds


def config_problems(changes: Mapping[str, object], steps_left: int | None = None) -> list[str]:
    """What is wrong with changes of the configuration: names, types, ranges, and the budget of steps."""
    found = []
    values = {name: value for name, value in changes.items() if value is not None}
    unknown = sorted(set(changes) - set(TrainConfig.model_fields))
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

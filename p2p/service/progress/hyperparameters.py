"""Configurations of trainings as lists of fields."""

from p2p.contracts.hyperparameter import Hyperparameter, HyperparameterPair
from p2p.contracts.training import EffectiveConfig


def hyperparameters(config: EffectiveConfig | None) -> tuple[Hyperparameter, ...]:
    """Every field with the value it has in the end, those that somebody chose first; none before there are any."""
    found: dict[str, Hyperparameter] = {}
    for set_by in EffectiveConfig.model_fields if config is not None else ():
        for name, value in getattr(config, set_by).items():
            found[name] = Hyperparameter(name=name, value=value, set_by=set_by)
    order = list(reversed(EffectiveConfig.model_fields))
    return tuple(sorted(found.values(), key=lambda field: (order.index(field.set_by), field.name)))


def hyperparameter_pairs(
    first: EffectiveConfig | None, second: EffectiveConfig | None
) -> tuple[HyperparameterPair, ...]:
    """Fields whose value differs between two configurations, by name."""
    one = {field.name: field for field in hyperparameters(first)}
    two = {field.name: field for field in hyperparameters(second)}
    pairs = []
    for name in sorted({*one, *two}):
        a, b = one.get(name), two.get(name)
        values = (a.value if a else None, b.value if b else None)
        if values[0] != values[1]:
            set_by = (a.set_by if a else "", b.set_by if b else "")
            pairs.append(HyperparameterPair(name=name, values=values, set_by=set_by))
    return tuple(pairs)

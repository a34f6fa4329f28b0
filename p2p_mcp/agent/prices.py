"""What a model costs, from a table that carries its date."""

import json
import re
from functools import cache
from importlib.resources import files

from p2p.contracts.agent import AgentRequest, Price, Usage
from p2p.contracts.base import Contract
from p2p.contracts.errors import InvalidInput

MILLION = 1_000_000
DATED = re.compile(r"-\d{8}$")
"""The end of a name that pins a day's version of a model, which costs what the model costs."""


class PriceTable(Contract):
    """`prices.json`."""

    date: str
    """Day it was read, ISO 8601."""
    source: str
    unit: str
    note: str
    models: dict[str, Price]


@cache
def price_table() -> PriceTable:
    """The table that ships with the package."""
    text = files("p2p_mcp.agent").joinpath("prices.json").read_text(encoding="utf-8")
    return PriceTable.model_validate(json.loads(text))


def price_of(model: str) -> Price | None:
    """The price of a model, or None where the table does not have it."""
    return price_table().models.get(DATED.sub("", model))


def price_for(request: AgentRequest) -> Price | None:
    """The price a request is counted with; None where it is not known and a person capped the tokens instead.

    Raises:
        InvalidInput: nothing would cap the cost.
    """
    price = request.price or price_of(request.model)
    if price is None and not request.token_cap_given:
        raise InvalidInput(
            f"The price of {request.model!r} is not known. Known: {', '.join(sorted(price_table().models))}. "
            "Give --price INPUT,OUTPUT in dollars per million tokens, or cap the tokens with --max-tokens."
        )
    return price


def cost(usage: Usage, price: Price) -> float:
    """What one answer costs [US dollars]."""
    return (
        usage.input * price.input
        + usage.output * price.output
        + usage.cache_read * price.cache_read
        + usage.cache_write_5m * price.cache_write_5m
        + usage.cache_write_1h * price.cache_write_1h
    ) / MILLION

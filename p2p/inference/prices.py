"""Prices of models, from a dated table."""

import re
from functools import cache
from importlib.resources import files

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.inference import ModelName
from p2p.contracts.spending import Price

DATED = re.compile(r"-\d{8}$|-\d{4}-\d{2}-\d{2}$")
"""The end of a name that pins a day's version of a model, which costs what the model costs."""
FREE = Price(input=0, output=0, cache_read=0, cache_write_5m=0, cache_write_1h=0)


class ProviderPrices(Contract):
    """The prices of one provider."""

    date: str
    """Day they were read, ISO 8601."""
    source: str
    note: str
    free: bool = False
    """True where no model costs anything."""
    models: dict[str, Price] = Field(default={})


class PriceTable(Contract):
    """`prices.json`."""

    unit: str
    providers: dict[str, ProviderPrices]


@cache
def price_table() -> PriceTable:
    """The table that ships with the package."""
    return PriceTable.model_validate_json(files("p2p.inference").joinpath("prices.json").read_text(encoding="utf-8"))


def price_of(name: ModelName) -> Price | None:
    """Price of a model; None if the table lacks it."""
    prices = price_table().providers.get(name.provider)
    if prices is None:
        return None
    return FREE if prices.free else prices.models.get(DATED.sub("", name.model))

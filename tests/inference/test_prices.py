import pytest

from p2p import registry
from p2p.contracts.inference import ModelName
from p2p.inference.prices import FREE, price_of, price_table


@pytest.mark.parametrize("provider", registry.PROVIDERS)
def test_every_provider_has_prices_with_their_date(provider: str) -> None:
    prices = price_table().providers[provider]
    assert len(prices.date) == 10
    assert prices.free == (not prices.models)
    for price in prices.models.values():
        assert 0 < price.cache_read < price.input <= price.cache_write_5m <= price.cache_write_1h < price.output


def test_a_dated_name_costs_what_the_model_costs() -> None:
    dated, plain = (ModelName(provider="anthropic", model=f"claude-haiku-4-5{end}") for end in ("-20251001", ""))
    assert price_of(dated) == price_of(plain) is not None
    assert price_of(ModelName.parse("openai:gpt-5.4-2026-03-05")) == price_of(ModelName.parse("openai:gpt-5.4"))


def test_a_model_of_one_s_own_is_free_and_an_unheard_of_one_has_no_price() -> None:
    assert price_of(ModelName.parse("ollama:qwen3:32b")) == FREE
    assert price_of(ModelName.parse("anthropic:claude-unheard-of")) is None
    assert price_of(ModelName.parse("nobody:model")) is None

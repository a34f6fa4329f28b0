import pytest

from p2p.contracts.agent import AgentLimits, AgentRequest, Spending
from p2p.contracts.errors import InvalidInput
from p2p.contracts.inference import Usage, cost
from p2p.contracts.spending import Price
from p2p_mcp.agent.agent_budget import MAX_ANSWER, AgentBudget
from p2p_mcp.agent.briefing import what_is_left
from p2p_mcp.agent.ended import Ended
from p2p_mcp.agent.prices import price_for

PRICE = Price(input=4, output=20, cache_read=0.2, cache_write_5m=5, cache_write_1h=8)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_an_answer_costs_what_each_kind_of_token_costs() -> None:
    usage = Usage(input=1_000_000, output=100_000, cache_read=1_000_000, cache_write_5m=200_000, cache_write_1h=500_000)
    assert cost(usage, PRICE) == pytest.approx(4 + 2 + 0.2 + 1 + 4)


def test_nothing_is_begun_that_nothing_caps() -> None:
    with pytest.raises(InvalidInput, match="--max-tokens"):
        price_for(AgentRequest(model="claude-unheard-of"))
    assert price_for(AgentRequest(model="claude-unheard-of", price=PRICE)) == PRICE
    assert price_for(AgentRequest(model="claude-opus-5-5")) == PRICE


@pytest.mark.parametrize(
    ("limits", "usage", "option"),
    [
        (AgentLimits(turns=1), Usage(), "--max-turns"),
        (AgentLimits(tokens=50_000), Usage(input=49_500), "--max-tokens"),
        (AgentLimits(dollars=1), Usage(output=49_990), "--max-cost"),
    ],
)
def test_a_cap_that_the_next_answer_would_pass_ends_it(limits: AgentLimits, usage: Usage, option: str) -> None:
    budget = AgentBudget(limits, PRICE)
    budget.open_turn(100)
    budget.charge(usage)
    with pytest.raises(Ended, match=option):
        budget.open_turn(100)


def test_an_answer_is_no_longer_than_the_caps_can_bear() -> None:
    assert AgentBudget(AgentLimits(), PRICE).open_turn(1000) == MAX_ANSWER
    assert AgentBudget(AgentLimits(tokens=10_000), PRICE).open_turn(1000) == 9000
    assert AgentBudget(AgentLimits(dollars=0.1), PRICE).open_turn(1000) == pytest.approx((0.1 - 0.008) / 20e-6, abs=1)


def test_time_runs_and_ends_it() -> None:
    clock = Clock()
    budget = AgentBudget(AgentLimits(minutes=2), PRICE, Spending(seconds=60), clock)
    clock.now = 59
    budget.open_turn(10)
    assert budget.spending.seconds == 119
    clock.now = 60
    with pytest.raises(Ended, match="--max-minutes"):
        budget.open_turn(10)


def test_steps_are_counted_by_training_and_end_it() -> None:
    budget = AgentBudget(AgentLimits(environment_steps=1000), PRICE)
    budget.count_steps("a", 300)
    budget.count_steps("a", 400)
    budget.count_steps("b", 500)
    assert budget.steps_left == 100
    budget.count_steps("b", 600)
    with pytest.raises(Ended, match="--max-steps"):
        budget.open_turn(10)


def test_an_unknown_price_counts_no_dollars() -> None:
    budget = AgentBudget(AgentLimits(dollars=0.01), None)
    budget.charge(Usage(output=10_000_00))
    assert budget.spending.dollars is None
    assert budget.open_turn(10) == MAX_ANSWER


def test_only_scarce_caps_are_told() -> None:
    assert what_is_left(AgentLimits(), Spending(turns=3)) == ""
    told = what_is_left(AgentLimits(turns=10, dollars=2), Spending(turns=8, dollars=1.9))
    assert told == "Left of your caps: 2 turns, 0.10 dollars."

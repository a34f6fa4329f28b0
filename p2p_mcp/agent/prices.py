"""What the agent's model costs."""

from p2p.contracts.agent import AgentRequest
from p2p.contracts.errors import InvalidInput
from p2p.contracts.usage import Price
from p2p.service import Service

PROVIDER = "anthropic"


def price_for(service: Service, request: AgentRequest) -> Price | None:
    """The price a request is counted with; None where it is not known and a person capped the tokens instead.

    Raises:
        InvalidInput: nothing would cap the cost.
    """
    price = request.price or service.price_of(f"{PROVIDER}:{request.model}")
    if price is None and not request.token_cap_given:
        raise InvalidInput(
            f"The price of {request.model!r} is not known. Known: {', '.join(service.priced_models(PROVIDER))}. "
            "Give --price INPUT,OUTPUT in dollars per million tokens, or cap the tokens with --max-tokens."
        )
    return price

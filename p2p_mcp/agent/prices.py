"""What the agent's model costs."""

from p2p.contracts.agent import AgentRequest
from p2p.contracts.errors import InvalidInput
from p2p.contracts.spending import Price
from p2p.service.models.session_models import price_of_model, priced_models

PROVIDER = "anthropic"


def price_for(request: AgentRequest) -> Price | None:
    """The price a request is counted with; None where it is not known and a person capped the tokens instead.

    Raises:
        InvalidInput: nothing would cap the cost.
    """
    price = request.price or price_of_model(f"{PROVIDER}:{request.model}")
    if price is None and not request.token_cap_given:
        raise InvalidInput(
            f"The price of {request.model!r} is not known. Known: {', '.join(priced_models(PROVIDER))}. "
            "Give --price INPUT,OUTPUT in dollars per million tokens, or cap the tokens with --max-tokens."
        )
    return price

"""The client's own model as eyes that compare: what it is asked about one picture, and what is read in its reply."""

from pathlib import Path

from mcp.types import CreateMessageResult, SamplingMessage, TextContent

from p2p.contracts.preference import Compared, PairToCompare
from p2p_mcp.model_replies import read_object
from p2p_mcp.views.content import picture_block

MAX_TOKENS = 800
FORM = """\
Reply with one JSON object and nothing else:
{"above": "what the motion above does", "below": "what the motion below does", "better": "above", "below" or "same"}"""


def question(pair: PairToCompare, picture: Path) -> list[SamplingMessage]:
    """One picture, how to compare, and the form of the answer."""
    text = TextContent(type="text", text=f"{pair.rubric}\n\n{FORM}")
    return [SamplingMessage(role="user", content=[picture_block(picture), text])]


def read_both(
    one: CreateMessageResult | None, two: CreateMessageResult | None
) -> tuple[tuple[Compared, Compared] | None, str]:
    """What the model saw in both pictures; or in words why its replies cannot be taken, where it was asked."""
    if one is None or two is None:
        return None, ""
    first, second = (read_object(reply, Compared.model_validate) for reply in (one, two))
    if isinstance(first, Compared) and isinstance(second, Compared):
        return (first, second), ""
    wrong = first if isinstance(first, str) else second
    return None, f"The client's model was asked, and its reply could not be read: {wrong}"

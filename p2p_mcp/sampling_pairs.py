"""The client's own model as eyes that compare: what it is asked about one picture, and what is read in its reply."""

import json
from pathlib import Path
from typing import Any

from mcp.types import CreateMessageResult, SamplingMessage, TextContent
from pydantic import ValidationError

from p2p.contracts.preference import Compared, PairToCompare
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
    first, second = _read(one), _read(two)
    if isinstance(first, Compared) and isinstance(second, Compared):
        return (first, second), ""
    wrong = first if isinstance(first, str) else second
    return None, f"The client's model was asked, and its reply could not be read: {wrong}"


def _read(reply: CreateMessageResult) -> Compared | str:
    """What the model saw; or in words why its reply cannot be taken."""
    text = reply.content.text if isinstance(reply.content, TextContent) else ""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return "there is no JSON object in it."
    try:
        said: Any = json.loads(text[start : end + 1])
        return Compared.model_validate(said)
    except json.JSONDecodeError as error:
        return f"it is not JSON ({error.msg} at {error.pos})."
    except ValidationError as error:
        wrong = error.errors()[0]
        return f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}."

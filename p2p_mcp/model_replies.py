"""What the client's own model replied: text that should hold one JSON object."""

import json
from collections.abc import Callable
from typing import Any, TypeVar

from mcp.types import CreateMessageResult, TextContent
from pydantic import ValidationError

T = TypeVar("T")


def text_of(reply: CreateMessageResult) -> str:
    """Its text; empty where it is something else."""
    return reply.content.text if isinstance(reply.content, TextContent) else ""


def read_object(reply: CreateMessageResult, made_of: Callable[[dict[str, Any]], T]) -> T | str:
    """What is made of the JSON object in a reply; or in words why it cannot be taken.

    Args:
        reply: Of the model; there may be words around the object.
        made_of: Takes the object, and raises `ValidationError` where it is not what was asked for.
    """
    text = text_of(reply)
    start = text.find("{")
    end = text.rfind("}")
    if start < 0 or end < start:
        return "there is no JSON object in it."
    try:
        return made_of(json.loads(text[start : end + 1]))
    except json.JSONDecodeError as error:
        return f"it is not JSON ({error.msg} at {error.pos})."
    except ValidationError as error:
        wrong = error.errors()[0]
        return f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}."

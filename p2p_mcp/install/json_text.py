"""A client's configuration as JSON: read with its comments, rewritten only where there is nothing to lose."""

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from p2p.contracts.errors import InvalidInput

STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
STRING_OR_LAST_COMMA = re.compile(r'"(?:\\.|[^"\\\n])*"|,(?=\s*[}\]])')
INDENT = re.compile(r"\s*\{\s*\n([ \t]+)\"")


class Dialect(StrEnum):
    """What a program reads besides JSON."""

    STRICT = "strict"
    COMMENTED = "commented"
    """Comments."""
    LENIENT = "lenient"
    """Comments, and a comma after a last member."""


def parse(text: str, dialect: Dialect = Dialect.LENIENT) -> dict[str, Any]:
    """Read the object in a text; an empty text is an empty object.

    Raises:
        InvalidInput: it is not JSON of that dialect, or no object.
    """
    uncommented = STRING_OR_COMMENT.sub(lambda match: match[0] if match[0][0] == '"' else " ", text)
    lenient = STRING_OR_LAST_COMMA.sub(lambda match: match[0] if match[0][0] == '"' else " ", uncommented)
    plain = {Dialect.STRICT: text, Dialect.COMMENTED: uncommented, Dialect.LENIENT: lenient}[dialect]
    if not plain.strip():
        return {}
    try:
        value = json.loads(plain)
    except (ValueError, RecursionError) as error:
        hint = " It has comments or commas that this client does not read." if plain != lenient else ""
        raise InvalidInput(f"it is not valid JSON: {error}.{hint}") from error
    if not isinstance(value, dict):
        raise InvalidInput(f"it holds a {type(value).__name__} where an object is expected.")
    return value


def with_section(text: str, section: str, servers: Mapping[str, Any]) -> str:
    """Rewrite a text with another list of servers, indented as before.

    Args:
        text: Plain JSON, or nothing.
        section: Member that lists the servers.
        servers: By name.

    Raises:
        InvalidInput: the text has what rewriting would lose: comments, commas after a last member, a name twice.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise InvalidInput("it has a name twice in one object, and one of the two would be lost")
        return dict(pairs)

    try:
        document = json.loads(text, object_pairs_hook=once) if text.strip() else {}
    except ValueError as error:
        raise InvalidInput("it has comments or trailing commas, which would be lost") from error
    document[section] = dict(servers)
    indent = INDENT.match(text)
    # what was escaped stays escaped: a lone half of a character could not be written otherwise
    written = json.dumps(document, indent=indent[1] if indent else 2, ensure_ascii="\\u" in text)
    written += "\n" if text.endswith("\n") or not text.strip() else ""
    return written.replace("\n", "\r\n") if "\r\n" in text else written

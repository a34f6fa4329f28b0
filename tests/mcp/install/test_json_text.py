import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from p2p.contracts.errors import InvalidInput
from p2p_mcp.install.json_text import Dialect, parse, with_section

ENTRY = {"command": "/opt/p2p/bin/p2p-mcp", "args": ["--runs-dir", "/data/ü"]}


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_text_becomes_an_object_with_the_section(text: str) -> None:
    assert parse(with_section(text, "mcpServers", {"p2p": ENTRY})) == {"mcpServers": {"p2p": ENTRY}}


@pytest.mark.parametrize(
    "text",
    [
        '{\n\t"a": 1,\n\t"mcpServers": {\n\t\t"x": {}\n\t},\n\t"b": 2\n}\n',
        '{\r\n    "mcpServers": {\r\n        "x": {}\r\n    }\r\n}',
        '{\n  "theme": "d\\u00e4mmrig",\n  "mcpServers": {\n    "x": {}\n  }\n}\n',
    ],
)
def test_order_indentation_ends_of_lines_and_escapes_stay(text: str) -> None:
    assert with_section(text, "mcpServers", {"x": {}}) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1} // c', "comments or trailing commas"),
        ('{"a": 1,}', "comments or trailing commas"),
        ("// nothing yet\n", "comments or trailing commas"),
        ('{"a": {"b": 1, "b": 2}}', "a name twice"),
    ],
)
def test_what_rewriting_would_lose_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        with_section(text, "mcpServers", {})


@pytest.mark.parametrize(
    ("text", "dialect", "message"),
    [
        ("{", Dialect.STRICT, "not valid JSON"),
        ("[]", Dialect.LENIENT, "a list where an object"),
        ('{"a": 1} // c', Dialect.STRICT, "comments or commas that this client does not read"),
        ('{"a": 1,}', Dialect.STRICT, "comments or commas"),
        ('{"a": 1,} // c', Dialect.COMMENTED, "comments or commas"),
        ("[" * 100_000, Dialect.LENIENT, "not valid JSON"),
    ],
)
def test_what_is_no_object_is_refused(text: str, dialect: Dialect, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        parse(text, dialect)


def test_a_comment_with_a_brace_and_a_string_with_slashes_are_told_apart() -> None:
    text = '// {\n{"a": "http://b", /* } */ "c": "/*",\n}'
    assert parse(text) == {"a": "http://b", "c": "/*"}


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
documents = st.dictionaries(st.text(max_size=4), values, max_size=3)


@settings(max_examples=150)
@given(documents, documents, st.sampled_from([None, 1, 4, "\t"]), st.booleans())
def test_any_document_keeps_what_is_not_ours(
    document: dict[str, Any], own: dict[str, Any], indent: int | str | None, escaped: bool
) -> None:
    text = json.dumps({**document, "mcpServers": own}, indent=indent, ensure_ascii=escaped)
    written = with_section(text, "mcpServers", {**own, "p2p": ENTRY})
    assert json.loads(written) == {**document, "mcpServers": {**own, "p2p": ENTRY}}

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from p2p.contracts.errors import InvalidInput
from p2p_mcp.install.json_text import Dialect, parse, with_member, without_member

PATH = ("mcpServers", "p2p")
ENTRY = {"command": "/opt/p2p/bin/p2p-mcp", "args": ["--runs-dir", "/data/ü"]}

WRITTEN_BY_A_PERSON = """\
// my servers
{
    "theme": "dark", /* not light */
    "ratio": 1.50,
    "mcpServers": {
        "files": {"command": "npx", "args": ["-y", "files"]}, // keep: {"}
    },
}
"""


@pytest.mark.parametrize("text", ["", "  \n", "// nothing yet\n"])
def test_an_empty_text_becomes_an_object_with_the_member(text: str) -> None:
    assert parse(with_member(text, PATH, ENTRY)) == {"mcpServers": {"p2p": ENTRY}}


def test_every_character_that_was_there_stays() -> None:
    text = with_member(WRITTEN_BY_A_PERSON, PATH, ENTRY)

    assert parse(text)["mcpServers"] == {
        "files": {"command": "npx", "args": ["-y", "files"]},
        "p2p": ENTRY,
    }
    assert [line for line in WRITTEN_BY_A_PERSON.splitlines() if line not in text.splitlines()] == []
    assert '        "p2p": {\n            "command": "/opt/p2p/bin/p2p-mcp",\n' in text
    assert without_member(text, PATH) == WRITTEN_BY_A_PERSON


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"mcpServers":{}}',
        '{"mcpServers": {"a": {}}, "b": [1, 2]}',
        '{\n\t"mcpServers": {\n\t\t"a": {}\n\t}\n}\n',
        '{\r\n  "mcpServers": {\r\n    "a": 1\r\n  }\r\n}\r\n',
        '{\n  "mcpServers": {\n    "a": 1 // last\n  }\n}',
        '{\n  "mcpServers": {\n    // none\n  }\n}',
        '{\n  "mcpServers": {\n    // none\n  }}',
    ],
)
def test_setting_twice_is_setting_once_and_removing_leaves_what_was_there(text: str) -> None:
    once = with_member(text, PATH, ENTRY)
    assert with_member(once, PATH, ENTRY) == once
    assert parse(once)["mcpServers"]["p2p"] == ENTRY
    left = parse(without_member(once, PATH))
    assert left == {"mcpServers": {}, **parse(text)}
    if "mcpServers" in text and "\n" in text and "}}" not in text:
        assert without_member(once, PATH) == text


def test_a_member_is_replaced_where_it_stands_and_a_repeated_one_is_removed_wholly() -> None:
    text = '{"mcpServers": {"p2p": 1, "z": 2, "p2p": 3}}'
    assert with_member(text, PATH, 4) == '{"mcpServers": {"p2p": 1, "z": 2, "p2p": 4}}'
    assert parse(without_member(text, PATH)) == {"mcpServers": {"z": 2}}


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


def test_a_section_that_is_no_object_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'mcpServers' is not an object"):
        with_member('{"mcpServers": []}', PATH, ENTRY)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
documents = st.dictionaries(st.text(max_size=4), values, max_size=3)
servers = st.dictionaries(st.sampled_from(["a", "p2p", '"', "//", "é"]), values, max_size=4)


@settings(max_examples=150, deadline=None)
@given(documents, servers, st.sampled_from([None, 1, 4, "\t"]), st.booleans())
def test_any_document_keeps_what_is_not_ours(
    document: dict[str, Any], own: dict[str, Any], indent: int | str | None, commented: bool
) -> None:
    text = json.dumps({**document, "mcpServers": own}, indent=indent)
    if commented and indent is not None:
        text = text.replace(",\n", ", // , } note\n").replace("\n]", "\n]")
    added = with_member(text, PATH, ENTRY)
    assert parse(added) == {**document, "mcpServers": {**own, "p2p": ENTRY}}
    removed = parse(without_member(added, PATH))
    assert removed == {**document, "mcpServers": {k: v for k, v in own.items() if k != "p2p"}}

"""Remedies: data inside a message, which each door puts into its own words."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from typer.core import TyperCommand, TyperGroup

import p2p
from p2p.api.remedies import CALLS, worded
from p2p.cli.app import Commands
from p2p.cli.lazy import LazyCommand
from p2p.cli.remedies import COMMANDS
from p2p.contracts.errors import InvalidInput
from p2p.contracts.remedies import Remedy, end_of, remedies_in, reworded, reworded_data
from p2p.web.remedies import REQUESTS
from p2p_mcp.remedies import TOOLS as TOOL_WORDS
from p2p_mcp.tools import TOOLS

ROOT = Path(p2p.__file__).parent
FRONT_ENDS = ("cli", "api", "executor", "web", "http_server")
NOT_SAID = ("deaths.py",)
"""Writes the table of docs/ about the command `p2p resume`."""
OTHER_PROGRAMS = ("pip ", "kubectl ", "scontrol ")
"""A text that begins with one of these is a command of it."""
NAMES = sorted(str(row.name) for row in Commands.rows)
COMMAND = re.compile(rf"\bp2p ({'|'.join(NAMES)})\b|(?<!-)--[a-z][a-z-]+ (?:[A-Z]|provider:)")
CALLED = re.compile(rf"\b({'|'.join(tool.function.__name__ for tool in TOOLS)})\b")


@pytest.mark.parametrize(
    "words", [COMMANDS, TOOL_WORDS, CALLS, REQUESTS], ids=["commands", "tools", "calls", "requests"]
)
def test_every_front_end_words_every_remedy(words: Mapping[Remedy, str]) -> None:
    assert set(words) == set(Remedy)
    for remedy in Remedy:
        text = reworded(f"To go on: {remedy.of(session='one', iteration=2, job='job_1', node='attic')}.", words)
        assert "<<" not in text
        assert not re.search(r"{[a-z]+}", text)


def test_commands_and_tools_that_remedies_name_exist() -> None:
    named = {found.group(1) for text in COMMANDS.values() if (found := re.match(r"p2p (\w+)", text))}
    assert named <= set(NAMES)
    called = {found.group(1) for text in TOOL_WORDS.values() if (found := re.match(r"(\w+_\w+)", text))}
    assert called <= {tool.function.__name__ for tool in TOOLS} | {"judge_model"}


def test_a_command_stands_in_json_as_it_is() -> None:
    assert [text for text in COMMANDS.values() if '"' in text or "\\" in text] == []


def test_each_front_end_says_it_in_its_own_words() -> None:
    message = f"To go on: {Remedy.RESUME.of(session='one')}"
    assert reworded(message, COMMANDS) == "To go on: p2p resume one"
    assert reworded(message, TOOL_WORDS) == 'To go on: run_session(session_id="one")'
    assert reworded(message, CALLS) == 'To go on: p2p.load_session("one").resume()'


def test_an_argument_that_is_not_known_is_a_placeholder() -> None:
    assert reworded(Remedy.RAISE_CAP.of(cap="dollars"), COMMANDS) == "p2p resume SESSION --cap dollars=MORE"


def test_a_remedy_is_read_from_its_message_with_its_arguments() -> None:
    message = f"One ({Remedy.STOP.of(session='a b<c>')}), or {Remedy.LIST.of()}."
    assert remedies_in(message) == [(Remedy.STOP, {"session": "a b<c>"}), (Remedy.LIST, {})]


def test_texts_of_others_stay_as_they_are() -> None:
    text = "x = a <<b>> c; y <<= 2; <<resume session=>>"
    assert reworded(text, COMMANDS) == text
    assert remedies_in(text) == []


def test_remedies_anywhere_in_data_are_worded() -> None:
    data = {"error": Remedy.LIST.of(), "runs": [{"error": None, "steps": 3, "why": (Remedy.EXPORT.of(),)}]}
    assert reworded_data(data, COMMANDS) == {
        "error": "p2p list",
        "runs": [{"error": None, "steps": 3, "why": ["p2p export"]}],
    }


@pytest.mark.parametrize("length", range(60))
def test_the_end_of_a_message_holds_a_remedy_whole_or_not_at_all(length: int) -> None:
    whole = "It ended."
    message = f"It stands still, x <<= 2. {Remedy.RESUME.of(session='session_1')} {whole}"
    end = end_of(message, length)
    assert len(end) <= length
    assert message.endswith(end)
    assert len(remedies_in(end)) == end.count(">>")
    assert end.endswith(whole) or len(whole) > length


def test_an_error_of_the_api_names_calls() -> None:
    @worded
    def refuse() -> None:
        raise InvalidInput(f"It is at work. To end it: {Remedy.STOP.of(session='one')}")

    with pytest.raises(InvalidInput, match=re.escape('To end it: p2p.load_session("one").stop()')):
        refuse()


def test_no_text_below_the_front_ends_names_a_command_or_a_tool() -> None:
    named = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in sorted(ROOT.rglob("*.py"))
        if path.relative_to(ROOT).parts[0] not in (*FRONT_ENDS, "lab", "benchmark") and path.name not in NOT_SAID
        for line, text in _texts(path)
        if COMMAND.search(text) or (" " in text and "python -m" not in text and CALLED.search(text))
    ]
    assert named == []


def test_no_text_below_the_front_ends_names_an_option_of_a_command() -> None:
    """A text of one word is an argument of a process that p2p starts, such as `--runs-dir` of a session's driver."""
    options = {option for row in Commands.rows for option in _options(row.load())} - {"--help", "--version"}
    assert {"--set", "--runs-dir", "--allow-weak-sandbox"} <= options
    named = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in sorted(ROOT.rglob("*.py"))
        if path.relative_to(ROOT).parts[0] not in (*FRONT_ENDS, "lab", "benchmark")
        for line, text in _texts(path)
        if " " in text and not text.startswith(OTHER_PROGRAMS)
        if options & set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
    ]
    assert named == []


def _options(command: TyperCommand | TyperGroup) -> Iterator[str]:
    """Options of a command, and of those in its group."""
    yield from (option for parameter in command.params for option in parameter.opts if option.startswith("--"))
    if isinstance(command, TyperGroup):
        for one in command.commands.values():
            yield from _options(one.load() if isinstance(one, LazyCommand) else one)


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """Strings of a module that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            yield node.lineno, node.value

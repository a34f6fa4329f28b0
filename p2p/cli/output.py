"""Where a command writes: people's text, or one JSON object on stdout and people's text on stderr."""

import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType
from rich.text import Text

from p2p.cli.remedies import in_commands

if TYPE_CHECKING:
    from pydantic import BaseModel

PLAIN_WIDTH = 140
"""Columns where there is no terminal to ask."""


class Output:
    """Writes the result of one command.

    Args:
        as_json: print one JSON object on stdout instead of text.
    """

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self.console = console(stderr=as_json)

    def result(self, value: "BaseModel | Mapping[str, Any] | str", *text: RenderableType) -> None:
        """Write what the command found: `value` as JSON (a `str` is JSON already), or `text` for people."""
        if self.as_json:
            print_json(value)
            return
        for part in text:
            if isinstance(part, str):  # one line each, so that a path can be copied whole
                self.console.print(in_commands(part), soft_wrap=True, markup=False)
            elif isinstance(part, Text) and "<<" in part.plain:
                self.console.print(Text(in_commands(part.plain), style=part.style))
            else:
                self.console.print(part)


class PipedConsole(Console):
    """A console whose closed pipe is an error like any other: rich would leave at once, with a session untold."""

    def on_broken_pipe(self) -> None:
        """Raise it again."""
        self.quiet = True
        raise BrokenPipeError


def console(stderr: bool) -> Console:
    """A console as wide as the terminal; wide enough for tables where there is none."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else PLAIN_WIDTH
    return PipedConsole(stderr=stderr, width=width, highlight=False, emoji=False)


def print_json(value: "BaseModel | Mapping[str, Any] | str") -> None:
    """Print one object on stdout; a `str` is JSON already."""
    if isinstance(value, str):
        text = value
    else:
        text = json.dumps(value, indent=2) if isinstance(value, Mapping) else value.model_dump_json(indent=2)
    sys.stdout.write(in_commands(text) + "\n")  # a command holds nothing that JSON would escape
    sys.stdout.flush()


def print_error(error: Exception, as_json: bool, kind: str = "") -> None:
    """Print an error in red on stderr, or as the one JSON object on stdout."""
    if as_json:
        print_json({"error": {"type": kind or type(error).__name__, "message": str(error)}})
        return
    text = Text("Error: ", style="bold red").append(Text(in_commands(str(error)), style="red"))
    console(stderr=True).print(text, soft_wrap=True)

"""Commands known by name and help text; their modules are imported when they are called.

`p2p --help` and completion list some thirty commands. Importing them all takes eight times as long as importing typer
and rich; so the list is kept as data, and a test holds it against the modules.
"""

from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from p2p.cli.interrupts import loading


class LazyCommand(TyperCommand):
    """Stand in for a command or a group of commands until it is called.

    Args:
        name: As it is typed.
        place: "module:attribute" of a function with options, or of a `typer.Typer`. Beside a function the module holds
            `<NAME>_EXAMPLES`, the end of its help page.
        help: First paragraph of its help page, as the list of commands shows it.
    """

    def __init__(self, name: str, place: str, help: str) -> None:  # noqa: A002  typer's word
        super().__init__(name, help=help, rich_markup_mode="rich")
        self.place = place

    def load(self) -> TyperCommand | TyperGroup:
        """Import the command."""
        path, attribute = self.place.split(":")
        with loading():
            module = import_module(path)
        found = getattr(module, attribute)
        if isinstance(found, typer.Typer):
            return get_group(found)
        alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
        alone.command(self.name, epilog=getattr(module, f"{self.name}_EXAMPLES".upper()))(found)
        command = get_command(alone)
        assert isinstance(command, TyperCommand)
        return command

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Parse the words of the command itself; typer calls this for a run, a help page and a completion."""
        return self.load().make_context(*arguments, **options)


class LazyGroup(TyperGroup):
    """A group whose commands are the rows of a subclass."""

    rows: ClassVar[tuple[LazyCommand, ...]]

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**{**attributes, "commands": {str(row.name): row for row in self.rows}})

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Parse the words before the command's name, for which typer loads pydantic."""
        with loading():
            return super().make_context(*arguments, **options)

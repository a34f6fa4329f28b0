"""One command of the command line, from its words to its exit code."""

import os
import sys
import tempfile
import traceback
from typing import Protocol, runtime_checkable

import typer

from p2p import config_location
from p2p.cli.app import app
from p2p.cli.interrupts import loading
from p2p.cli.output import print_error
from p2p.contracts.errors import INTERRUPTED, P2PError


@runtime_checkable
class UsageError(Protocol):
    """What typer raises for a command it cannot parse; where its class lives differs between its versions."""

    exit_code: int

    def format_message(self) -> str:
        """The message in one line."""

    def show(self) -> None:
        """Print usage and message on stderr."""


def run_command(words: list[str]) -> int:
    """Run one command; returns the exit code, see `p2p.cli.main`."""
    # `p2p judge calibrate` is `p2p calibrate`, and so is `attack`: after `p2p judge`, any other word is a session.
    words = words[1:] if words[:1] == ["judge"] and words[1:2] in (["calibrate"], ["attack"]) else words
    as_json = "--json" in words
    try:
        _adopt_config_file()
        code = app(args=words, prog_name="p2p", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except P2PError as error:
        print_error(error, as_json)
        _trace(words)
        return error.exit_code
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:  # the entry point of every command
        if not isinstance(error, UsageError):
            return _crash(error, words, as_json)
        if as_json:
            print_error(ValueError(error.format_message()), as_json, kind="UsageError")
        else:
            error.show()
        return error.exit_code
    return code if isinstance(code, int) else 0


def _adopt_config_file() -> None:
    """Put what the configuration file says into the environment, where there is such a file."""
    if config_location.absent():
        return
    with loading():
        from p2p.settings import adopt_config_file  # noqa: PLC0415  with pydantic, longer to import than typer

    adopt_config_file()


def _crash(error: Exception, words: list[str], as_json: bool) -> int:
    """Say in short what nobody foresaw, and where the rest is."""
    where = "Set P2P_DEBUG=1 to see the traceback."
    if _debug(words):
        where = ""
        _trace(words)
    else:
        try:
            # a name that others can guess could be a link of theirs
            descriptor, log = tempfile.mkstemp(prefix="p2p-error-", suffix=".log")
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write("".join(traceback.format_exception(error)))
            where = f"The traceback is in {log}; with P2P_DEBUG=1 it is shown."
        except OSError:
            pass
    print_error(
        RuntimeError(f"Unexpected {type(error).__name__}: {error}. {where}"), as_json, kind=type(error).__name__
    )
    return 1


def _trace(words: list[str]) -> None:
    if _debug(words):
        traceback.print_exc()


def _debug(words: list[str]) -> bool:
    return "--debug" in words or os.environ.get("P2P_DEBUG", "") not in ("", "0")

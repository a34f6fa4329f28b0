"""Static check of a reward's text."""

import ast
import warnings

from p2p.contracts.errors import InvalidReward
from p2p.contracts.reward_rules import ALLOWED_IMPORTS
from p2p.worker.code_host.gate import Gate, Violation, too_long
from p2p.worker.code_host.interruption import REWARD_FILE
from p2p.worker.reward_source.docstring import with_raw_docstrings

GATE = Gate(ALLOWED_IMPORTS, "the state of the simulation comes in `info`")


def parse(source: str) -> ast.Module:
    """Syntax tree of the source, docstrings taken as raw text.

    Raises:
        InvalidReward: it is not valid Python, or too long.
    """
    if long := too_long(source):
        raise InvalidReward(str(long[0]))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\s" in a formula is an invalid escape and harmless
            return ast.parse(with_raw_docstrings(source), REWARD_FILE)
    except SyntaxError as error:
        hint = " Write text with backslashes as r'…'." if "unicode error" in str(error.msg) else ""
        place = "" if error.lineno is None else f"line {error.lineno}: "  # null bytes have none
        raise InvalidReward(f"{place}not valid Python: {error.msg}.{hint}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise InvalidReward(f"not valid Python: {error or 'it is nested too deeply'}.") from error


def violations(source: str) -> tuple[Violation, ...]:
    """All violations of a reward, in the order of the lines.

    Raises:
        InvalidReward: it is not valid Python, or too long.
    """
    return GATE.violations(parse(source))


def admit(source: str) -> ast.Module:
    """Syntax tree of the source; raises on any violation.

    Raises:
        InvalidReward: it is not valid Python, or there is; with all of it.
    """
    tree = parse(source)
    if found := GATE.violations(tree):
        raise InvalidReward(" ".join(map(str, found)))
    return tree

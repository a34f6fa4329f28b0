"""Derived features as data: arithmetic expressions over features, checked for units, never run as code.

`height + 0.6 * sin(pitch)` is read by Python's parser and then interpreted: numbers, features, `+ - * / **`, and
the functions of `FUNCTIONS`. Anything else is refused with its position.

A number takes whatever unit a sum needs, alone or times something without a unit (0.6 above is a length), and has none
as a factor of something that has one.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction

from p2p.contracts.errors import InvalidInput

Unit = dict[str, Fraction]
"""Exponent of each base unit; without entries: no unit."""

MAX_CHARACTERS = 200
MAX_NODES = 80
LARGEST_POWER = 4
LARGEST_NUMBER = 1e9
COLON = "ː"
"""Stands for the colon of a part's feature while Python parses: a letter to it, and one character as well."""

_BASES: dict[str, Unit] = {
    "N": {"kg": Fraction(1), "m": Fraction(1), "s": Fraction(-2)},
    "J": {"kg": Fraction(1), "m": Fraction(2), "s": Fraction(-2)},
    "W": {"kg": Fraction(1), "m": Fraction(2), "s": Fraction(-3)},
}


@dataclass(frozen=True, slots=True)
class Expression:
    """A derived feature."""

    text: str
    names: tuple[str, ...]
    """Features it reads, in the order of their first mention."""
    unit: str
    """ "1" where it has none."""
    tree: ast.expr


def is_expression(name: str) -> bool:
    """Whether a feature's name is an expression: it has an operator or a bracket."""
    return any(character in name for character in "+*/()") or " - " in name


def parse_expression(text: str, units: Mapping[str, str]) -> Expression:
    """Parse a derived feature.

    Args:
        text: At most `MAX_CHARACTERS` characters.
        units: Unit of every feature there is.

    Raises:
        InvalidInput: it is no such expression, reads an unknown feature, or adds different units; with the position.
    """
    if len(text) > MAX_CHARACTERS:
        raise InvalidInput(f"an expression of {len(text)} characters; it has at most {MAX_CHARACTERS}.")
    shown = text.replace(":", COLON)
    try:
        tree = ast.parse(shown, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        column = (getattr(error, "offset", None) or len(text) + 1) - 1
        raise _refused(text, column, "is not an arithmetic expression") from error
    if sum(1 for _ in ast.walk(tree)) > MAX_NODES:
        raise InvalidInput(f"the expression {text!r}, which has more than {MAX_NODES} parts; write it shorter.")
    checker = _Checker(text, shown, units)
    unit = checker.unit(tree)
    if not checker.names:
        raise InvalidInput(f"the expression {text!r}, which reads no feature.")
    return Expression(text, tuple(checker.names), unit_text(unit or {}), tree)


def parse_unit(text: str) -> Unit:
    """Parse a unit such as "m/s", "N m" or "rad/s^2"; "1" is dimensionless.

    Raises:
        ValueError: it names none.
    """
    unit: Unit = {}
    for index, side in enumerate(text.split("/")):
        for factor in side.split():
            symbol, _, power = factor.partition("^")
            if symbol == "1" and not power:
                continue
            if not symbol.isalpha():
                raise ValueError(f"{text!r} is not a unit")
            exponent = Fraction(power or 1) * (-1 if index else 1)
            for base, own in _BASES.get(symbol, {symbol: Fraction(1)}).items():
                unit[base] = unit.get(base, Fraction(0)) + own * exponent
    return {base: exponent for base, exponent in unit.items() if exponent}


def unit_text(unit: Unit) -> str:
    """Unit as text; "1" if dimensionless."""
    for name, known in _BASES.items():
        if unit == known:
            return name
    above = [_power(base, exponent) for base, exponent in unit.items() if exponent > 0]
    below = [_power(base, -exponent) for base, exponent in unit.items() if exponent < 0]
    return "/".join([" ".join(above) or "1", *below]) if unit else "1"


def _power(base: str, exponent: Fraction) -> str:
    return base if exponent == 1 else f"{base}^{exponent}"


class _Checker:
    """Walks a tree once: collects its features and computes the unit of each part.

    Args:
        text: As it was given.
        shown: As it was parsed.
        units: Unit of every feature there is.
    """

    def __init__(self, text: str, shown: str, units: Mapping[str, str]) -> None:
        self._text = text
        self._shown = shown.encode()
        self._units = units
        self.names: list[str] = []

    def unit(self, node: ast.expr) -> Unit | None:
        """Unit of a part; None for a number, which fits any.

        Raises:
            InvalidInput: the part is not allowed, or its units do not fit.
        """
        match node:
            case ast.Constant(value=bool() | str() | bytes() | complex() | None):
                raise self._refused(node, "is not a number")
            case ast.Constant(value=int() | float()):
                if not abs(float(node.value)) <= LARGEST_NUMBER:  # type: ignore[arg-type]  # an int or float
                    raise self._refused(node, "is too large a number")
                return None
            case ast.Name(id="pi"):
                return None
            case ast.Name(id=name):
                return self._feature(node, name.replace(COLON, ":"))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                return self.unit(operand)
            case ast.BinOp():
                return self._operation(node)
            case ast.Call(func=ast.Name(id=name), keywords=[]) if name in FUNCTIONS:
                return self._call(node, FUNCTIONS[name])
            case ast.Call(func=ast.Name(id=name)):
                raise self._refused(node, f"calls {name!r}; there are {', '.join(FUNCTIONS)}")
        raise self._refused(node, "is not allowed: numbers, features, + - * / ** and functions are")

    def _feature(self, node: ast.expr, name: str) -> Unit:
        if name not in self._units:
            close = get_close_matches(name, self._units, n=1)
            raise self._refused(node, "is not a feature" + (f"; did you mean {close[0]!r}?" if close else ""))
        if name not in self.names:
            self.names.append(name)
        return parse_unit(self._units[name])

    def _operation(self, node: ast.BinOp) -> Unit | None:
        if isinstance(node.op, ast.Pow):
            power = node.right.value if isinstance(node.right, ast.Constant) else None
            if power not in (*range(1, LARGEST_POWER + 1), 0.5) or isinstance(power, bool):
                raise self._refused(node.right, f"is not a power from 1 to {LARGEST_POWER} or 0.5")
            unit = self.unit(node.left)
            exponent = Fraction(str(power))
            return None if unit is None else {base: own * exponent for base, own in unit.items()}
        left, right = self.unit(node.left), self.unit(node.right)
        if isinstance(node.op, ast.Add | ast.Sub):
            return self._same(node, [left, right])
        if isinstance(node.op, ast.Mult | ast.Div):
            sign = 1 if isinstance(node.op, ast.Mult) else -1
            if None in (left, right) and not (left or right):
                return None  # a number times something without a unit: a length, a speed, whatever a sum needs
            joined = dict(left or {})
            for base, exponent in (right or {}).items():
                joined[base] = joined.get(base, Fraction(0)) + sign * exponent
            return {base: exponent for base, exponent in joined.items() if exponent}
        raise self._refused(node, "uses an operator other than + - * / **")

    def _call(self, node: ast.Call, function: "_Function") -> Unit | None:
        if not function.least <= len(node.args) <= function.most:
            raise self._refused(node, f"takes {function.least} arguments, not {len(node.args)}")
        units = [self.unit(argument) for argument in node.args]
        if function.takes == "same":
            same = self._same(node, units)
            return same if function.gives is None else parse_unit(function.gives)
        if function.takes == "root":
            return None if units[0] is None else {base: own / 2 for base, own in units[0].items()}
        for argument, unit in zip(node.args, units, strict=True):
            if unit and not (function.takes == "rad" and unit == parse_unit("rad")):
                wanted = "an angle in rad" if function.takes == "rad" else "a value without a unit"
                raise self._refused(argument, f"is in {unit_text(unit)}; the function takes {wanted}")
        return parse_unit(function.gives or "1")

    def _same(self, node: ast.expr, units: list[Unit | None]) -> Unit | None:
        known = [unit for unit in units if unit is not None]
        for unit in known:
            if unit != known[0]:
                raise self._refused(node, f"joins {unit_text(known[0])} with {unit_text(unit)}")
        return known[0] if known else None

    def _refused(self, node: ast.expr, why: str) -> InvalidInput:
        column = len(self._shown[: node.col_offset].decode())
        end = len(self._shown[: node.end_col_offset].decode())
        return _refused(self._text, column, why, self._text[column:end])


def _refused(text: str, column: int, why: str, part: str = "") -> InvalidInput:
    shown = f" ({part!r})" if part else ""
    return InvalidInput(f"the expression {text!r}, which is wrong at character {column + 1}{shown}: it {why}.")


@dataclass(frozen=True, slots=True)
class _Function:
    takes: str
    """"same": any unit, one for all; "root"; "rad": an angle or nothing; "1": nothing."""
    gives: str | None = None
    """None: the unit it takes."""
    least: int = 1
    most: int = 1


FUNCTIONS: Mapping[str, _Function] = {
    "abs": _Function("same"),
    "sign": _Function("same", "1"),
    "min": _Function("same", least=2, most=4),
    "max": _Function("same", least=2, most=4),
    "clip": _Function("same", least=3, most=3),
    "hypot": _Function("same", least=2, most=2),
    "sqrt": _Function("root"),
    "sin": _Function("rad"),
    "cos": _Function("rad"),
    "tan": _Function("rad"),
    "asin": _Function("1", "rad"),
    "acos": _Function("1", "rad"),
    "atan2": _Function("same", "rad", least=2, most=2),
    "exp": _Function("1"),
    "log": _Function("1"),
    "tanh": _Function("1"),
}
"""What an expression may call."""

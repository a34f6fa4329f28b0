"""Values of derived features."""

import ast
from collections.abc import Callable, Mapping
from math import pi
from typing import Any

import numpy as np

from p2p.rewards.expressions import COLON, FUNCTIONS, Expression
from p2p.rewards.states import Floats


def evaluate(expression: Expression, features: Mapping[str, Floats]) -> Floats:
    """Values of an expression, in the shape of the features'.

    They are not finite where it divides by 0 or leaves a function's domain.
    """
    with np.errstate(all="ignore"):
        value = _value(expression.tree, features)
    return np.broadcast_to(np.asarray(value, dtype=np.float64), np.shape(features[expression.names[0]])).copy()


def _value(node: ast.expr, features: Mapping[str, Floats]) -> Any:
    """Value of a checked subtree."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.Name(id="pi"):
            return pi
        case ast.Name(id=name):
            return np.asarray(features[name.replace(COLON, ":")], dtype=np.float64)
        case ast.UnaryOp(op=op, operand=operand):
            value = _value(operand, features)
            return -value if isinstance(op, ast.USub) else value
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATIONS[type(op)](np.asarray(_value(left, features)), _value(right, features))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _COMPUTED[name](*(_value(argument, features) for argument in arguments))
    raise AssertionError("the parser lets nothing else through")


def _folded(function: Callable[[Any, Any], Any], values: tuple[Any, ...]) -> Any:
    result = values[0]
    for value in values[1:]:
        result = function(result, value)
    return result


_OPERATIONS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
}
_COMPUTED: Mapping[str, Callable[..., Any]] = {
    "abs": np.abs,
    "sign": np.sign,
    "min": lambda *values: _folded(np.minimum, values),
    "max": lambda *values: _folded(np.maximum, values),
    "clip": lambda value, low, high: np.minimum(np.maximum(value, low), high),
    "hypot": np.hypot,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan2": np.arctan2,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
}
assert _COMPUTED.keys() == FUNCTIONS.keys()

"""Replace a function of the product wherever it is known by name."""

import sys
from collections.abc import Callable
from typing import Any

import pytest


def replace_function(patch: pytest.MonkeyPatch, function: Callable[..., Any], new: Callable[..., Any]) -> None:
    """Have every loaded module of p2p, and those that import it later, call `new` in the place of `function`."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in ("p2p", "p2p_mcp") and getattr(module, function.__name__, None) is function:
            patch.setattr(module, function.__name__, new)

"""State of a training as named arrays, saved and restored part by part.

Every part has `state()`, which gives arrays that may still be in use, to be written before anything goes on, and
`restore(state)`, after which it goes on as the one that gave them: to the bit.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
State = dict[str, Array]
"""Name -> array; the name of a part's part has a dot in it."""
_HALF = (1 << 64) - 1


def joined(parts: Mapping[str, Mapping[str, Array]]) -> State:
    """States of several parts, each under its name."""
    return {f"{part}.{name}": array for part, state in parts.items() for name, array in state.items()}


def part(state: Mapping[str, Array], name: str) -> State:
    """State of one part."""
    start = f"{name}."
    return {key.removeprefix(start): array for key, array in state.items() if key.startswith(start)}


def require_parts(given: Mapping[str, Array], wanted: Mapping[str, Array]) -> None:
    """Refuse a state that lacks arrays, or has others.

    Raises:
        ValueError: it does.
    """
    if given.keys() != wanted.keys():
        raise ValueError(f"expected the arrays {', '.join(sorted(wanted))}, got {', '.join(sorted(given)) or 'none'}")


def fill(target: Array, source: Array) -> None:
    """Copy the numbers of `source` into `target`.

    Raises:
        ValueError: they are of another shape or kind.
    """
    if (target.shape, target.dtype) != (source.shape, source.dtype):
        raise ValueError(f"expected {target.dtype} of shape {target.shape}, got {source.dtype} of {source.shape}")
    target[...] = source


def generator_state(generator: np.random.Generator) -> NDArray[np.uint64]:
    """State of a random generator, shape (6,).

    Raises:
        ValueError: it is not a PCG64, as numpy's default generators are.
    """
    state = _of_pcg64(generator)
    words = [
        number >> shift & _HALF for number in (state["state"]["state"], state["state"]["inc"]) for shift in (0, 64)
    ]
    return np.array([*words, state["has_uint32"], state["uinteger"]], dtype=np.uint64)


def restore_generator(generator: np.random.Generator, words: Array) -> None:
    """Restore a random generator's state.

    Raises:
        ValueError: it is not a PCG64.
    """
    state = _of_pcg64(generator)
    low, high, low_increment, high_increment, has_uint32, uinteger = (int(word) for word in words)
    state["state"] = {"state": low | high << 64, "inc": low_increment | high_increment << 64}
    generator.bit_generator.state = {**state, "has_uint32": has_uint32, "uinteger": uinteger}


def _of_pcg64(generator: np.random.Generator) -> dict[str, Any]:
    state = dict(generator.bit_generator.state)
    if state["bit_generator"] != "PCG64":
        raise ValueError(f"cannot save a generator of kind {state['bit_generator']}")
    return state

"""Colours of curves: seen on both backgrounds, and told apart by everybody."""

import re
from importlib.resources import files
from itertools import combinations

import pytest

TOKENS = (files("p2p.web.pages") / "static/tokens.css").read_text("utf-8")
Colour = tuple[float, float, float]
SEEN_AS: dict[str, tuple[Colour, Colour, Colour]] = {
    "everybody": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    # Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB: https://doi.org/10.1109/TVCG.2009.113
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
TO_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
WHITE = (0.95047, 1.0, 1.08883)


def token(name: str, scheme: str) -> Colour:
    """Linear RGB of a token in [0, 1]."""
    found = re.search(rf"--{name}: light-dark\((#[0-9a-f]+), (#[0-9a-f]+)\)", TOKENS)
    assert found is not None, name
    digits = found[1 if scheme == "light" else 2].removeprefix("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    red, green, blue = (int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4))
    return linear(red), linear(green), linear(blue)


def linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def contrast(one: Colour, other: Colour) -> float:
    """Ratio of WCAG 2, 1 … 21."""
    bright, dark = sorted((0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2] for c in (one, other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def times(matrix: tuple[Colour, Colour, Colour], colour: Colour) -> Colour:
    first, second, third = (sum(m * c for m, c in zip(row, colour, strict=True)) for row in matrix)
    return first, second, third


def lab(colour: Colour) -> Colour:
    """CIE L*a*b* of linear RGB."""
    clipped = tuple(min(1.0, max(0.0, value)) for value in colour)
    scaled = (x / w for x, w in zip(times(TO_XYZ, (clipped[0], clipped[1], clipped[2])), WHITE, strict=True))
    x, y, z = (value ** (1 / 3) if value > 216 / 24389 else (24389 / 27 * value + 16) / 116 for value in scaled)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("ground", ["page", "card"])
def test_every_curve_is_seen_on_both_backgrounds(scheme: str, ground: str) -> None:
    under = token(ground, scheme)
    seen = {
        name: contrast(token(name, scheme), under) for name in (*(f"series-{i}" for i in range(1, 6)), "series-other")
    }
    assert min(seen.values()) >= 3, seen


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("ground", ["page", "card"])
@pytest.mark.parametrize("name", ["ink", "soft", "good", "bad", "accent"])
def test_text_can_be_read_on_both_backgrounds(scheme: str, ground: str, name: str) -> None:
    assert round(contrast(token(name, scheme), token(ground, scheme)), 1) >= 5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("eyes", sorted(SEEN_AS))
def test_curves_are_told_apart_by_all_eyes(scheme: str, eyes: str) -> None:
    seen = [lab(times(SEEN_AS[eyes], token(f"series-{i}", scheme))) for i in range(1, 6)]
    apart = {
        (i + 1, j + 1): sum((a - b) ** 2 for a, b in zip(seen[i], seen[j], strict=True)) ** 0.5
        for i, j in combinations(range(5), 2)
    }
    assert min(apart.values()) >= 18, apart

"""The packages p2p needs, as its own metadata names them."""

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec

from p2p.contracts.setup import Level, SetupCheck

EXTRA = "sb3"
"""The extra that installs all a training needs."""
EXTRAS = ("train", "sb3")
"""The extras it is made of."""
MODULES = ("numpy", "mujoco", "gymnasium", "torch", "stable_baselines3")
"""Without these nothing can be trained."""

_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+)(\[[^]]*\])?(?P<range>[^;]*)(;.*extra\s*==\s*['\"](?P<extra>\w+)['\"])?"
)
_BOUND = re.compile(r"(>=|<)\s*([\d.]+)")


def missing_module() -> str | None:
    """The first module a training would not find; nothing is imported."""
    return next((module for module in MODULES if find_spec(module) is None), None)


def checks() -> Iterator[SetupCheck]:
    """One check per package that p2p's own metadata asks for, the developers' tools left out."""
    try:
        requirements = requires("p2p") or []
    except PackageNotFoundError:
        remedy = "Run: pip install --editable '.[sb3]'"
        yield SetupCheck(name="p2p", level=Level.PROBLEM, found="not installed", remedy=remedy)
        return
    for requirement in requirements:
        match = _REQUIREMENT.match(requirement)
        if match and match["name"] != "p2p" and match["extra"] in (None, *EXTRAS):
            yield _package(match["name"], match["range"].strip(), match["extra"])


def _package(name: str, wanted: str, extra: str | None) -> SetupCheck:
    install = f"pip install 'p2p[{EXTRA}]'" if extra else "pip install p2p"
    try:
        found = version(name)
    except PackageNotFoundError:
        return SetupCheck(name=name, level=Level.PROBLEM, found="not installed", remedy=f"Run: {install}")
    if not within(found, wanted):
        remedy = f"Run: pip install '{name}{wanted}'"
        return SetupCheck(name=name, level=Level.PROBLEM, found=f"{found}, but {wanted} is needed", remedy=remedy)
    return SetupCheck(name=name, level=Level.OK, found=found)


def within(found: str, wanted: str) -> bool:
    """Whether a version lies in a range such as ">=2.6,<2.14"; other kinds of bounds are not looked at."""
    mine = _numbers(found)
    return all((mine >= _numbers(v)) if sign == ">=" else (mine < _numbers(v)) for sign, v in _BOUND.findall(wanted))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text.split("+")[0])[:3])

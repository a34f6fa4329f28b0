"""Required packages, as p2p's own metadata names them."""

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec

from p2p import DISTRIBUTION
from p2p.contracts.errors import MissingExtra
from p2p.contracts.loggers import LoggerName
from p2p.contracts.node import CheckLevel, SetupCheck

EXTRA = "train"
"""The extra that installs all a training needs."""
MODULES = ("numpy", "mujoco", "gymnasium")
"""Without these nothing can be trained."""
OPTIONAL = {
    "sb3": "only the learner sb3 and the export formats sb3 and torchscript need it",
    "onnx": "only the export format onnx needs it",
    "tensorboard": "only logs for TensorBoard need it",
    "wandb": "only logs for Weights & Biases need it",
}
"""Extra that some commands need -> which."""
LEARNER_MODULES = {"sb3": ("torch", "stable_baselines3")}
"""Learner -> what it needs beyond `MODULES`; its extra has its name."""

_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+)(\[[^]]*\])?(?P<range>[^;]*)(;.*extra\s*==\s*['\"](?P<extra>\w+)['\"])?"
)
_BOUND = re.compile(r"(>=|<)\s*([\d.]+)")


def missing_module() -> str | None:
    """First missing module of a training, found without importing; None if complete."""
    return next((module for module in MODULES if find_spec(module) is None), None)


def require_learner(name: str) -> None:
    """Refuse a learner whose packages are not installed.

    Raises:
        MissingExtra: with the line that installs them.
    """
    for module in LEARNER_MODULES.get(name, ()):
        if find_spec(module) is None:
            raise MissingExtra(module, name)


def require_loggers(names: Iterable[LoggerName]) -> None:
    """Refuse a logger whose package is not installed.

    Raises:
        MissingExtra: with the line that installs it.
    """
    for name in names:
        if find_spec(name) is None:
            raise MissingExtra(name, name)


def checks() -> Iterator[SetupCheck]:
    """One check per required package in p2p's own metadata, without developer tools."""
    try:
        requirements = requires(DISTRIBUTION) or []
    except PackageNotFoundError:
        remedy = f"Run: pip install --editable '.[{EXTRA}]'"
        yield SetupCheck(name="p2p", level=CheckLevel.PROBLEM, found="not installed", remedy=remedy)
        return
    for requirement in requirements:
        match = _REQUIREMENT.match(requirement)
        if match and match["name"] != DISTRIBUTION and match["extra"] in (None, EXTRA, *OPTIONAL):
            yield _package(match["name"], match["range"].strip(), match["extra"])


def _package(name: str, wanted: str, extra: str | None) -> SetupCheck:
    install = f"pip install '{DISTRIBUTION}[{extra}]'" if extra else f"pip install {DISTRIBUTION}"
    try:
        found = version(name)
    except PackageNotFoundError:
        if extra in OPTIONAL:
            return SetupCheck(name=name, level=CheckLevel.OK, found=f"not installed: {OPTIONAL[extra]} ({install})")
        return SetupCheck(name=name, level=CheckLevel.PROBLEM, found="not installed", remedy=f"Run: {install}")
    if not within(found, wanted):
        level = CheckLevel.WARNING if extra in OPTIONAL else CheckLevel.PROBLEM
        remedy = f"Run: pip install '{name}{wanted}'"
        return SetupCheck(name=name, level=level, found=f"{found}, but {wanted} is needed", remedy=remedy)
    return SetupCheck(name=name, level=CheckLevel.OK, found=found)


def within(found: str, wanted: str) -> bool:
    """Whether a version lies in a range such as ">=2.6,<2.14"; other kinds of bounds are ignored."""
    mine = _numbers(found)
    return all((mine >= _numbers(v)) if sign == ">=" else (mine < _numbers(v)) for sign, v in _BOUND.findall(wanted))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text.split("+")[0])[:3])

"""The pages of the reference that are made whole from the code: commands, settings, features, errors."""

import inspect
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import typer
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from p2p.cli.app import app
from p2p.contracts import errors
from p2p.contracts.commands import Commands
from p2p.contracts.curriculum import Assistance, Curriculum, EpisodeGrowth, Pushes, StartCurriculum
from p2p.contracts.docstrings import description_of
from p2p.contracts.observe import Observe
from p2p.contracts.start_states import PlannedMotions, StartStates
from p2p.contracts.terrain import Terrain
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.service.sessions import deaths
from p2p.settings import Settings

MADE = "Made from the code by `make docs`."


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def error_tree() -> str:
    """Every error, its exit code and what it means."""
    tree = inspect.getdoc(errors) or ""
    return f"```\n{tree.partition(chr(10) * 2)[2]}\n```"


def commands() -> str:
    """Every command with its arguments, options, defaults and examples."""
    group = typer.main.get_command(app)
    with group.make_context("p2p", [], resilient_parsing=True) as context:
        parts = [part for name, command in _members(group, context) for part in _command(name, command, context)]
    intro = (
        "Exit codes: 0 passed or done, 1 a defect of p2p, 2 rejected input, 3 ended without passing, 4 a problem of\n"
    )
    intro += "this machine, 130 interrupted. Every command has `--help`."
    return "\n\n".join(["# Commands", MADE, intro, *parts]) + "\n"


CURRICULUM = {"starts": StartCurriculum, "episodes": EpisodeGrowth, "pushes": Pushes, "assistance": Assistance}


def settings() -> str:
    """What a process is told from outside, and the fields of a training's configuration."""
    variables = {name: f"`P2P_{name.upper()}`" for name in Settings.model_fields}
    names = [
        (variables[name], _default(field), (description_of(Settings, name) or "").replace(f" ({variables[name]})", ""))
        for name, field in Settings.model_fields.items()
    ]
    return "\n\n".join(
        [
            "# Settings and configuration",
            MADE,
            "## Settings",
            "Variables of the environment; in `~/.config/p2p/config.toml` the same names in small letters and without\n"
            "`P2P_`. A variable that is set wins over the file.",
            table(("variable", "default", "meaning"), names),
            "## Configuration of a training",
            "Fields for `--set KEY=VALUE`, `--config FILE` and the tools' `config`. Defaults are p2p's own; presets\n"
            "suited to an environment, its author and its session may set others, and `p2p show` says who set which.\n"
            "Names are those of stable-baselines3; CleanRL's are understood.",
            table(("field", "default", "range", "meaning"), _fields(TrainConfig)),
            "### `start_states`",
            inspect.getdoc(StartStates) or "",
            table(("field", "default", "range", "meaning"), _fields(StartStates)),
            "#### `start_states.planned`",
            inspect.getdoc(PlannedMotions) or "",
            table(("field", "default", "range", "meaning"), _fields(PlannedMotions)),
            "### `curriculum`",
            inspect.getdoc(Curriculum) or "",
            table(("field", "default", "range", "meaning"), _fields(Curriculum)),
            *(
                part
                for name, contract in CURRICULUM.items()
                for part in (
                    f"#### `curriculum.{name}`",
                    inspect.getdoc(contract) or "",
                    table(("field", "default", "range", "meaning"), _fields(contract)),
                )
            ),
            "### `terrain`",
            inspect.getdoc(Terrain) or "",
            table(("field", "default", "range", "meaning"), _fields(Terrain)),
            "### `observe`",
            "What the policy is told besides the observation; see [Rewards](../rewards.md#what-the-policy-is-told).",
            table(("field", "default", "range", "meaning"), _fields(Observe)),
            "### `commands`",
            inspect.getdoc(Commands) or "",
            table(("field", "default", "range", "meaning"), _fields(Commands)),
        ]
    ) + "\n"  # fmt: skip


def features() -> str:
    """Each feature by name: unit, frame, meaning, and the environments that have it."""
    have: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for env_id in catalog.known():
        for each in catalog.load(env_id).features:
            have[(f"`{each.name}`", each.unit, each.frame, each.description)].append(env_id.removesuffix("-v5"))
    everywhere = len(catalog.known())
    rows = [(*key, "all" if len(envs) == everywhere else ", ".join(envs)) for key, envs in sorted(have.items())]
    intro = (
        "Named measurements: the same in criteria, in a reward's `info`, in judge functions and in prompts. `p2p envs\n"
        "ID` shows those of one environment with its observation and action. Features of parts (`slip:left_foot`) and\n"
        "expressions over others (`height + 0.6*sin(pitch)`) are computed where they are named."
    )
    return "\n\n".join(
        ["# Features", MADE, intro, table(("feature", "unit", "frame", "meaning", "environments"), rows)]
    ) + "\n"  # fmt: skip


def problems() -> str:
    """The error tree, exit codes, and what a session says after a process was killed."""
    codes = (
        "0: passed or done. 1: a defect of p2p. 2: what came cannot be used. 3: ended without passing. 4: this\n"
        "machine lacks something, or a process was killed on it. 130: interrupted; the jobs go on."
    )
    killed = "`tests/service/test_deaths.py` kills them all."
    return "\n\n".join(
        ["# Errors and exit codes", MADE, error_tree(), codes, "## When a process is killed", deaths.table(), killed]
    ) + "\n"  # fmt: skip


PAGES = {
    "docs/generated/commands.md": commands,
    "docs/generated/settings.md": settings,
    "docs/generated/features.md": features,
    "docs/generated/errors.md": problems,
}


def _members(group: Any, context: Any) -> Iterator[tuple[str, Any]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if not command.hidden:
            yield name, command


def _command(name: str, command: Any, parent: Any) -> Iterator[str]:
    """Heading, help, parameters and examples of a command; of a group, those of its members."""
    with command.make_context(name, [], parent=parent, resilient_parsing=True) as context:
        command = context.command  # a lazy one has been loaded
        yield f"## {context.command_path}"
        yield inspect.cleandoc(command.help or "")
        if hasattr(command, "list_commands"):
            for member, inner in _members(command, context):
                yield from _command(member, inner, context)
            return
        records = [each.get_help_record(context) for each in command.get_params(context) if "--help" not in each.opts]
        rows = [(f"`{record[0]}`", record[1]) for record in records if record is not None]
        if rows:
            yield table(("argument or option", "meaning"), rows)
        lines = [line.strip() for line in (command.epilog or "").splitlines() if line.strip().startswith("p2p")]
        if lines:
            yield "\n".join(["```sh", *lines, "```"])


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        yield f"`{name}`", _default(field), _bounds(field), description_of(model, name) or ""


def _default(field: Any) -> str:
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined or value is None or value == "":
        return "–"
    return f"`{value}`"


def _bounds(field: Any) -> str:
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    return ", ".join(
        f"{sign} {getattr(each, name):g}"
        for each in field.metadata
        for name, sign in signs.items()
        if hasattr(each, name)
    )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")

"""Options that are fields of a contract: bounds, choices and help are those of the field."""

from typing import Annotated, Any

import typer
from pydantic import BaseModel

from p2p.cli.options import JUDGING, TRAINING, known_names
from p2p.contracts.docstrings import description_of
from p2p.contracts.loggers import LoggerName
from p2p.contracts.session import NewSession, Priority

USUAL = NewSession()
"""Its values are the defaults of the options."""


def option(model: type[BaseModel], name: str, *flags: str, help: str | None = None, **more: Any) -> Any:  # noqa: A002  typer's word
    """An option of the command line with the bounds and the description of a contract's field.

    Args:
        model: The contract.
        name: Its field.
        flags: As they are typed, such as "--seeds"; none takes the parameter's name.
        help: Shown in the place of the field's description.
        **more: As for `typer.Option`.
    """
    field = model.model_fields[name]
    bounds: dict[str, Any] = {}
    for bound in field.metadata:
        if (least := getattr(bound, "ge", None)) is not None:
            bounds["min"] = least
        if (most := getattr(bound, "le", None)) is not None:
            bounds["max"] = most
        if (below := getattr(bound, "lt", None)) is not None and field.annotation is int:
            bounds["max"] = below - 1
        # typer has no bound that is itself left out (`gt`): the contract refuses it
    # mypy takes the first flag for a default, which an annotation has not
    return typer.Option(*flags, help=help or description_of(model, name), **bounds, **more)  # type: ignore[misc]


Seed = Annotated[int, option(NewSession, "seed", rich_help_panel=TRAINING)]
Seeds = Annotated[int, option(NewSession, "n_seeds", rich_help_panel=TRAINING)]
Configs = Annotated[int, option(NewSession, "n_configs", rich_help_panel=TRAINING)]
RewardOnly = Annotated[bool, option(NewSession, "reward_only", "--reward-only", rich_help_panel=TRAINING)]
StopWhenClear = Annotated[
    bool | None,
    option(NewSession, "stop_when_clear", "--stop-when-clear/--train-to-the-end", rich_help_panel=TRAINING),
]
FromPolicy = Annotated[
    str, option(NewSession, "from_policy", "--from", rich_help_panel=TRAINING, metavar="POLICY", show_default=False)
]
ResumeOptimizer = Annotated[
    bool, option(NewSession, "resume_optimizer", "--resume-optimizer", rich_help_panel=TRAINING)
]
Iterations = Annotated[int, option(NewSession, "max_iterations")]
PassThreshold = Annotated[float, option(NewSession, "pass_threshold", rich_help_panel=JUDGING)]
Rollouts = Annotated[int, option(NewSession, "n_report_rollouts", rich_help_panel=JUDGING)]
PriorityOption = Annotated[
    Priority | None,
    option(
        NewSession,
        "priority",
        "--priority",
        show_default=f"{USUAL.priority}, or what it was",
        rich_help_panel=TRAINING,
    ),
]
LogOption = Annotated[
    list[str] | None,
    option(
        NewSession,
        "log",
        "--log",
        metavar="|".join(LoggerName),
        help="Also show it elsewhere while it trains; for several, repeat it or separate them by commas.",
        show_default="P2P_LOG, or nowhere",
        rich_help_panel=TRAINING,
    ),
]


def loggers(words: list[str] | None) -> tuple[LoggerName, ...]:
    """Names of loggers as they were typed.

    Raises:
        UnknownName: there is no such logger.
    """
    return tuple(map(LoggerName, known_names("logger", words, list(LoggerName))))

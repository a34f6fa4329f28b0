"""Which models work for a session, and what they may cost, as it is given on the command line."""

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from p2p.cli.session_options import option
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.inference import ModelName
from p2p.contracts.session import NewSession
from p2p.contracts.spending import Caps, Effort, Price
from p2p.settings import Settings

MODELS = "Which model writes, and what it may cost"

Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="PROVIDER:MODEL",
        help="anthropic, gemini, openai, vllm or ollama, and one of its models.",
        show_default="P2P_MODEL, or the built-in author",
        rich_help_panel=MODELS,
    ),
]
LightModel = Annotated[
    str | None,
    typer.Option("--light-model", metavar="PROVIDER:MODEL", help="Model for small tasks.", rich_help_panel=MODELS),
]
JudgeModel = Annotated[
    str | None,
    typer.Option(
        "--judge-model",
        metavar="PROVIDER:MODEL",
        help="Model that looks at the pictures of each iteration.",
        show_default="none: only what is measured decides",
        rich_help_panel=MODELS,
    ),
]
JudgeAuthor = Annotated[
    str | None,
    typer.Option(
        "--judge-author",
        metavar="PROVIDER:MODEL",
        help="Model that writes code for criteria that predicates cannot express.",
        show_default="none: eyes judge them",
        rich_help_panel=MODELS,
    ),
]
CandidatesOption = Annotated[int, option(NewSession, "candidates", "--candidates", rich_help_panel=MODELS)]
EffortOption = Annotated[Effort, option(NewSession, "effort", "--effort", rich_help_panel=MODELS)]
PriceOption = Annotated[
    str | None,
    typer.Option(
        "--price",
        metavar="IN,OUT",
        help="Dollars per million tokens read and written, for a model that is not in the price table.",
        rich_help_panel=MODELS,
    ),
]
CapOption = Annotated[
    list[str] | None,
    typer.Option(
        "--cap",
        metavar="NAME=VALUE",
        help="Limit on dollars, tokens, calls, minutes or environment_steps; NAME=none removes it.",
        show_default="dollars=10",
        rich_help_panel=MODELS,
    ),
]


def model_fields(
    settings: Settings, model: str | None, light: str | None, effort: Effort, price: str | None
) -> dict[str, Any]:
    """Fields of a session that say which models work for it; none where the built-in author does.

    Raises:
        InvalidInput: a name, the effort or the price is none.
    """
    name = model or settings.model
    if not name:
        return {}
    chosen = str(ModelName.parse(name))
    light = light or settings.light_model
    lighter = str(ModelName.parse(light)) if light else ""
    paid = parse_price(price) if price else None
    return {"author": chosen, "model": chosen, "light_model": lighter, "effort": effort, "price": paid}


def judge_fields(model: str | None, author: str | None) -> dict[str, str]:
    """Fields of a session that say which models judge in it; both are empty where none does.

    Raises:
        InvalidInput: a name is not written provider:model.
    """
    return {"judge_model": parse_model(model), "judge_author": parse_model(author)}


def parse_model(text: str | None) -> str:
    """The name of a model; empty where none is given.

    Raises:
        InvalidInput: it is not written provider:model.
    """
    return str(ModelName.parse(text)) if text else ""


def parse_caps(assignments: Iterable[str]) -> dict[str, float | None]:
    """Caps given as NAME=VALUE.

    Raises:
        UnknownName: there is no such cap.
        InvalidInput: its value is no number.
    """
    caps: dict[str, float | None] = {}
    for assignment in assignments:
        name, _, value = (part.strip() for part in assignment.partition("="))
        if name not in Caps.model_fields:
            raise UnknownName("cap", name, Caps.model_fields)
        try:
            caps[name] = None if value == "none" else float(value)
        except ValueError as error:
            raise InvalidInput(f"--cap {assignment!r}: expected NAME=NUMBER, such as --cap dollars=5.") from error
    return caps


def parse_price(text: str) -> Price:
    """A price given as "IN,OUT" in dollars per million tokens; the cache costs the usual multiples of reading.

    Raises:
        InvalidInput: it is not two numbers of at least zero.
    """
    try:
        read, write = (float(part) for part in text.split(","))
        return Price(
            input=read, output=write, cache_read=0.1 * read, cache_write_5m=1.25 * read, cache_write_1h=2 * read
        )
    except ValueError as error:
        raise InvalidInput(
            f"--price {text!r} is not a price. Give dollars per million tokens read and written, such as --price 4,20."
        ) from error

"""Docstrings of fields are their descriptions, in JSON schemas and help texts, and no import reads them."""

import subprocess
import sys

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.docstrings import description_of


class Egg(Contract):
    """What a hen lays."""

    weight: float
    """In grams."""
    colour: str = Field(default="brown", description="As a person sees it.")
    """Not read: the description wins."""
    hen: str = ""


class Painted(Egg):
    colour: str = "red"
    """Of the paint."""
    weight: float


class Basket(Contract):
    best: Egg
    """The heaviest."""
    eggs: tuple[Egg, ...] = ()


def _said(model: type[Contract]) -> dict[str, str | None]:
    return {name: schema.get("description") for name, schema in model.model_json_schema()["properties"].items()}


def test_a_docstring_is_the_description_of_its_field_unless_it_has_one() -> None:
    assert _said(Egg) == {"weight": "In grams.", "colour": "As a person sees it.", "hen": None}
    assert description_of(Egg, "weight") == "In grams."
    assert description_of(Egg, "colour") == "As a person sees it."
    assert description_of(Egg, "hen") is None


def test_a_field_that_is_declared_anew_is_described_anew() -> None:
    assert _said(Painted) == {"weight": None, "colour": "Of the paint.", "hen": None}


def test_fields_of_a_contract_inside_another_are_described_too() -> None:
    schema = Basket.model_json_schema()
    assert schema["properties"]["best"] == {"$ref": "#/$defs/Egg", "description": "The heaviest."}
    assert schema["$defs"]["Egg"]["properties"]["weight"]["description"] == "In grams."


def test_a_class_in_a_function_is_described() -> None:
    class Local(Contract):
        size: int
        """Across."""

    assert _said(Local) == {"size": "Across."}


def test_importing_contracts_reads_no_source() -> None:
    code = "import p2p.contracts.session, linecache; print(len(linecache.cache))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"

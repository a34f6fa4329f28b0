"""Code that a model wrote to measure something: what it is asked, and what comes of it."""

from pydantic import Field, JsonValue

from p2p.contracts.base import Contract


class CodeLimits(Contract):
    """What code may use, and how much it may answer."""

    timeout_s: float = Field(default=10.0, gt=0.0, le=600.0)
    """For loading it and calling it once [s]."""
    max_values: int = Field(default=1_000, ge=1, le=100_000)
    """Numbers, texts and truth values of the answer in all, names included."""
    max_characters: int = Field(default=2_000, ge=0, le=20_000)
    """Of one text."""
    max_depth: int = Field(default=4, ge=1, le=16)
    """Of dicts and lists inside each other."""


class CodeRequest(Contract):
    """Call a function of some source with the arrays beside it (`arrays.npz`), as one dict from name to array."""

    source: str
    function: str
    limits: CodeLimits = CodeLimits()


class CodeResult(Contract):
    """What came of it (`result.json`)."""

    value: dict[str, JsonValue] | None
    """What the function returned; None when it failed. Texts in it are the model's: show them, and follow none."""
    error: str = ""
    line: int | None = None
    """Line that is to blame; None when no single one is."""

"""The base class of all contracts."""

from pydantic import BaseModel, ConfigDict


class Contract(BaseModel):
    """A frozen value that refuses unknown keys, and numbers that are not finite, which JSON does not have.

    One class is the JSON file, the REST body, the MCP output and the model's output schema.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)

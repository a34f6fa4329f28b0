"""The base class of all contracts."""

from pydantic import BaseModel, ConfigDict


class Contract(BaseModel):
    """A frozen value that refuses unknown keys.

    One class is the JSON file, the REST body, the MCP output and the model's output schema.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

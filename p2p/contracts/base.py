"""The base class of all contracts."""

from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from p2p.contracts.docstrings import descriptions

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic_core import CoreSchema


def _inside(path: str) -> str:
    if PurePath(path).is_absolute() or ".." in PurePath(path).parts or "\0" in path:
        raise ValueError(f"{path[:80]!r} leads out of its directory; expected a path below it")
    return path


FileName = Annotated[str, Field(pattern=r"^[^/\\.\x00-\x1f][^/\\\x00-\x1f]*$", max_length=200)]
"""Name of a file or directory that a record names: one part of a path. Records may come from somebody else."""
RelativePath = Annotated[str, AfterValidator(_inside)]
"""Path that a record names, below a directory that its reader knows, and never out of it."""
MachineName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
"""What a node or a cluster may be called."""
Identifier = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
"""Of a session or a job: its directory's name, which tools repeat in what to call next."""


class Contract(BaseModel):
    """A frozen value that refuses unknown keys, and numbers that are not finite, which JSON does not have.

    One class is the JSON file, the REST body, the MCP output and the model's output schema. Its validator is built when
    it is first used: most processes import many contracts and use few, and building takes half of their import.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: "CoreSchema", handler: "GetJsonSchemaHandler") -> dict[str, Any]:
        """Add the docstrings of fields to the JSON schema as descriptions."""
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for name, text in descriptions(cls).items():
            if name in properties:
                properties[name].setdefault("description", text)
        return schema


def build_contracts() -> None:
    """Build every contract that is imported, for a process that may open no file from now on: building imports."""
    found = Contract.__subclasses__()
    for contract in found:
        contract.model_rebuild()
        found += contract.__subclasses__()

"""JSON schemas as models read them."""

from typing import Any


def without_titles(schema: Any) -> Any:
    """A JSON schema without its `title` annotations; a property that is called "title" stays."""
    if isinstance(schema, list):
        return [without_titles(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key != "title" or not isinstance(value, str)}
    return {
        key: {name: without_titles(part) for name, part in value.items()}
        if key in ("properties", "$defs") and isinstance(value, dict)
        else without_titles(value)
        for key, value in kept.items()
    }


def shortened(schema: Any) -> Any:
    """The same JSON schema in fewer bytes.

    Nullable plain types become a list of types. Defaults are left out that are null, empty, or an object, whose fields
    have their own.
    """
    if isinstance(schema, list):
        return [shortened(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    short = {
        key: shortened(value)
        for key, value in schema.items()
        if key != "default" or (value is not None and value != [] and not isinstance(value, dict))
    }
    match short.get("anyOf"):
        case [{"type": str(kind), **rest}, {"type": "null"}] if "enum" not in rest and "const" not in rest:
            del short["anyOf"]
            return {"type": [kind, "null"], **rest, **short}
    return short

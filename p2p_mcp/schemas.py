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

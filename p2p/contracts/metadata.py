"""What a person adds to a session; apart from its other contracts, so that a session is found without them."""

from p2p.contracts.base import Contract


class EntityMetadata(Contract):
    """What a person added to a session (`metadata.json`)."""

    alias: str = ""
    starred: bool = False
    tags: tuple[str, ...] = ()
    deleted_at: str | None = None
    """UTC, ISO 8601; only of a session in the trash."""

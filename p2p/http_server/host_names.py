"""Names of a server: a request to, or a page of, any other is refused, which is what DNS rebinding looks like."""

from collections.abc import Collection
from urllib.parse import urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443}


class HostNames:
    """Hosts that requests may be sent to, and whose pages may send them.

    Args:
        names: Each with a port, or without one for every port.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._places = {place for name in names if (place := parsed_host(name)) is not None}

    def has_host(self, header: str) -> bool:
        """Whether a Host header names this server."""
        return self._has(parsed_host(header))

    def has_origin(self, header: str) -> bool:
        """Whether an Origin header names a page of this server."""
        return self._has(parsed_origin(header))

    def _has(self, place: tuple[str, int | None] | None) -> bool:
        return place is not None and (place in self._places or (place[0], None) in self._places)


def parsed_host(text: str) -> tuple[str, int | None] | None:
    """Host and port of a Host header, the host in lower case; None when it is none."""
    if not text.isascii() or not text.isprintable() or any(letter in text for letter in " /?#@\\"):
        return None
    try:
        parts = urlsplit(f"//{text}")
        host = parts.hostname
        port = parts.port
    except ValueError:
        return None
    written, _, after = text.rpartition("]")  # urlsplit drops what stands between "]" and the port
    colon, digits = (after[:1], after[1:]) if written else after.partition(":")[1:]
    if host is None or (colon, bool(digits)) not in (("", False), (":", True)) or not (digits or "0").isdecimal():
        return None
    return host, port


def parsed_origin(text: str) -> tuple[str, int | None] | None:
    """Host and port of an Origin header; None when it is none of a page that was loaded over HTTP."""
    scheme, found, rest = text.partition("://")
    if not found or scheme not in DEFAULT_PORTS:
        return None
    place = parsed_host(rest)
    return None if place is None else (place[0], place[1] if place[1] is not None else DEFAULT_PORTS[scheme])

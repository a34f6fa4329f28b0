"""Which sessions of the protocol are open, and whose they are: one client does not take the places of all."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


class OpenSessions:
    """The open sessions of all clients, those used longest ago first.

    A client that opens more than its share ends its own oldest one, which it has mostly forgotten: programs that crash
    or reconnect leave theirs open. Where the server is full, whoever has most of them gives one away.

    Args:
        each: Most sessions of one client.
        most: Most sessions of the server.
    """

    def __init__(self, each: int, most: int) -> None:
        self._each = each
        self._most = most
        self._owners: dict[str, str] = {}
        self._in_use: Counter[str] = Counter()

    @contextmanager
    def using(self, session: str) -> Iterator[None]:
        """Keep a session from being ended for as long as one of its requests is answered."""
        if session in self._owners:
            self._owners[session] = self._owners.pop(session)  # to the end of the order
        self._in_use[session] += 1
        try:
            yield
        finally:
            self._in_use[session] -= 1
            if not self._in_use[session]:
                del self._in_use[session]

    def opened(self, session: str, client: str) -> None:
        """Note a session that has begun."""
        self._owners[session] = client

    def ended(self, session: str) -> None:
        """Forget a session."""
        self._owners.pop(session, None)

    def owner(self, session: str) -> str | None:
        """Who opened it; None for one that is not open."""
        return self._owners.get(session)

    def is_full_for(self, client: str) -> bool:
        """Whether a client has all the sessions that it may have."""
        return Counter(self._owners.values())[client] >= self._each

    def surplus(self, client: str) -> str | None:
        """The session that ends before a client opens another; None where there is room, or all are in use."""
        counts = Counter(self._owners.values())
        if counts[client] >= self._each:
            givers = {client}
        elif len(self._owners) >= self._most:
            givers = {owner for owner, count in counts.items() if count == max(counts.values())}
        else:
            return None
        return next((one for one, owner in self._owners.items() if owner in givers and one not in self._in_use), None)

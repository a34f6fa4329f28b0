"""Who sends a request, and by which secret that is known."""

import hmac
import secrets
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

TOKEN_BYTES = 24
"""192 bits."""
MOST_WRONG, WITHIN_S = 10, 60.0
"""So many wrong tokens within so long, and no further one is looked at until then."""


@dataclass(frozen=True)
class Visitor:
    """Somebody who was let in."""

    may_change: bool
    """False for those who were given the address for readers."""
    session_id: str | None = None
    """The one session that a reader sees; None: all."""


OWNER = Visitor(may_change=True)


class TooManyWrongTokens(Exception):
    """No token is looked at for a while."""


class Keys:
    """The secrets of one start of the server, and what each opens.

    A token is in an address or a header; the cookie that a browser gets for it is another secret. So a person's own
    token can be guessed at no more than ten times a minute, while browsers that are let in are not kept out meanwhile.

    Args:
        token: Of the owner; None makes one.
        reader: What readers may see; None: there are none.
        clock: Counts seconds.
    """

    def __init__(
        self, token: str | None = None, reader: Visitor | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.token = token or secrets.token_urlsafe(TOKEN_BYTES)
        self.reader_token = secrets.token_urlsafe(TOKEN_BYTES) if reader is not None else None
        self._clock = clock
        self._wrong = deque[float](maxlen=MOST_WRONG)
        self._tokens = {self.token: OWNER}
        self._once = set[str]()
        self._cookies = {secrets.token_urlsafe(TOKEN_BYTES): OWNER}
        if reader is not None and self.reader_token is not None:
            self._tokens[self.reader_token] = reader
            self._cookies[secrets.token_urlsafe(TOKEN_BYTES)] = reader

    def one_time_token(self) -> str:
        """A token that works once: programs that open a browser show its address in the list of processes."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        self._once.add(token)
        return token

    def with_token(self, given: str) -> Visitor | None:
        """Who has a token; None for a wrong one.

        Raises:
            TooManyWrongTokens: it was not looked at.
        """
        now = self._clock()
        if len(self._wrong) == MOST_WRONG and now - self._wrong[0] < WITHIN_S:
            raise TooManyWrongTokens
        if (once := _equal_to(given, self._once)) is not None:
            self._once.discard(once)
            return OWNER
        if (token := _equal_to(given, self._tokens)) is not None:
            return self._tokens[token]
        self._wrong.append(now)
        return None

    def with_cookie(self, given: str) -> Visitor | None:
        """Who has a cookie; None for a wrong one, such as that of the server's last start."""
        cookie = _equal_to(given, self._cookies)
        return None if cookie is None else self._cookies[cookie]

    def cookie_of(self, visitor: Visitor) -> str:
        """The cookie that a visitor's browser gets."""
        return next(cookie for cookie, one in self._cookies.items() if one == visitor)


def _equal_to(given: str, known: "set[str] | dict[str, Visitor]") -> str | None:
    """The secret that equals what was given, found in a time that says nothing about it."""
    found = None
    for secret in known:
        if hmac.compare_digest(secret.encode(), given.encode("utf-8", "surrogatepass")):
            found = secret
    return found

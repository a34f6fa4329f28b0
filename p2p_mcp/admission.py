"""What every HTTP request passes before the server sees it: names, token, length and patience."""

import hmac
import json
from collections.abc import Collection
from contextlib import nullcontext
from hashlib import sha256
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from p2p.http_server.bodies import BodyTooLong, read_body
from p2p.http_server.host_names import HostNames
from p2p_mcp.open_sessions import OpenSessions
from p2p_mcp.time_limit import CLIENT

SESSION_HEADER = b"mcp-session-id"


class Admission:
    """Lets requests in that were sent to us, by somebody who may, and that arrive whole and in time.

    Args:
        app: What answers them.
        names: Hosts that requests may be sent to, and whose pages may send them, each with a port or for every port.
        token: What clients send as `Authorization: Bearer`; None lets everybody in.
        longest: Longest body [bytes].
        patience_s: How long a body may take to arrive [s].
        sessions: Those that are open; None limits them nowhere.
    """

    def __init__(
        self,
        app: ASGIApp,
        names: Collection[str],
        token: str | None,
        longest: int,
        patience_s: float,
        sessions: OpenSessions | None = None,
    ) -> None:
        self._sessions = sessions
        self._app = app
        self._token = token.encode() if token is not None else None
        self._names = HostNames(names)
        self._longest = longest
        self._patience_s = patience_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if (refusal := self._refusal(Headers(scope=scope))) is not None:
            await refusal(scope, receive, send)
            return
        try:
            body = await read_body(scope, receive, self._longest, self._patience_s)
        except TimeoutError:
            late = PlainTextResponse(
                f"The body did not arrive within {self._patience_s:.0f} s.", 408, {"Connection": "close"}
            )
            await late(scope, receive, send)
        except BodyTooLong:
            await PlainTextResponse("Request body too large", 413)(scope, receive, send)
        else:
            if body is not None:
                await self._answer(scope, body, receive, send)

    def _refusal(self, headers: Headers) -> Response | None:
        if not self._names.has_host(headers.get("host", "")):
            return PlainTextResponse("Invalid Host header", 421)
        origin = headers.get("origin")
        if origin is not None and not self._names.has_origin(origin):
            return PlainTextResponse("Invalid Origin header", 403)
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if self._token is not None and not (
            scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode("latin-1"), self._token)
        ):
            return PlainTextResponse(
                "Send the token of this server as 'Authorization: Bearer <token>'.",
                401,
                {"WWW-Authenticate": "Bearer"},
            )
        return None

    async def _answer(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Have a request answered; a call whose client leaves meanwhile is cancelled."""
        headers = Headers(scope=scope)
        token = (self._token or b"").hex()
        told = [str((scope.get("client") or ("", 0))[0]), headers.get("user-agent", ""), token]
        # who asks, as far as it can be told: sessions answer to whoever began them alone
        client = sha256("\0".join(told).encode()).hexdigest()[:16]
        scope["user"] = _user(client)
        session = headers.get(SESSION_HEADER.decode())
        begins = session is None and _message_of(body).get("method") == "initialize"
        if begins and not await self._end_an_idle_session(scope, client):
            full = f"This client has too many open sessions, all of them in use. End one (DELETE {scope['path']})."
            await PlainTextResponse(full, 429)(scope, receive, send)
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        left = answered = False

        async def replay() -> Message:
            nonlocal left
            if messages:
                return messages.pop()
            message = await receive()
            left = left or message["type"] == "http.disconnect"
            return message

        async def watched(message: Message) -> None:
            nonlocal answered
            self._note(scope, client, session, message)
            answered = answered or (message["type"] == "http.response.body" and not message.get("more_body", False))
            await send(message)

        mark = CLIENT.set(client)
        in_use = self._sessions.using(session) if self._sessions is not None and session is not None else nullcontext()
        try:
            with in_use:
                await self._app(scope, replay, watched)
        finally:
            CLIENT.reset(mark)
        if left and not answered and session is not None:  # without a session a call ends with its connection
            asked = _message_of(body)
            call = asked.get("id")
            if asked.get("method") == "tools/call" and isinstance(call, str | int):
                await self._cancel(scope, call)

    def _note(self, scope: Scope, client: str, session: str | None, message: Message) -> None:
        """Keep account of the sessions that begin and end with an answer."""
        if self._sessions is None or message["type"] != "http.response.start":
            return
        begun = Headers(raw=message.get("headers", [])).get(SESSION_HEADER.decode())
        if session is None and begun is not None and message["status"] < 300:
            self._sessions.opened(begun, client)
            return
        ended = message["status"] == 404 or (scope["method"] == "DELETE" and message["status"] < 300)
        if ended and session is not None and self._sessions.owner(session) == client:
            self._sessions.ended(session)

    async def _end_an_idle_session(self, scope: Scope, client: str) -> bool:
        """End a session for the one that a client opens, where it must; False where it has its share, all in use."""
        if self._sessions is None:
            return True
        while (oldest := self._sessions.surplus(client)) is not None:
            owner = self._sessions.owner(oldest)
            self._sessions.ended(oldest)
            headers = [(b"host", b"localhost"), (SESSION_HEADER, oldest.encode())]
            ending = {**scope, "method": "DELETE", "headers": headers, "user": _user(owner or ""), "state": {}}
            await self._app(ending, _nothing_more, _forget)
        return not self._sessions.is_full_for(client)

    async def _cancel(self, scope: Scope, call: str | int) -> None:
        """Tell the session that the call is no longer wanted, as a client that stays would."""
        reason = {"requestId": call, "reason": "the client has left"}
        notice = json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": reason}).encode()
        messages: list[Message] = [{"type": "http.request", "body": notice, "more_body": False}]

        async def give() -> Message:
            return messages.pop() if messages else {"type": "http.disconnect"}

        headers = [(name, value) for name, value in scope["headers"] if name != b"content-length"]
        headers.append((b"content-length", str(len(notice)).encode()))
        await self._app({**scope, "headers": headers, "state": {}}, give, _forget)


async def _nothing_more() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _forget(_message: Message) -> None:
    pass


def _user(client: str) -> AuthenticatedUser:
    """A client, as sessions know who began them."""
    return AuthenticatedUser(AccessToken(token=client, client_id=client, scopes=[]))


def _message_of(body: bytes) -> dict[str, Any]:
    """A request as an object; empty when it is none."""
    try:
        message: Any = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}

"""What every request passes before anything else sees it: host, origin, fetch metadata, token, length and type.

One layer of plain ASGI, so that streams and ranges pass untouched. What is done here is running code: nobody is let in
by default, whatever the method, and no answer is for pages of other places.
"""

from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from p2p.http_server.bodies import BodyTooLong, read_body
from p2p.http_server.host_names import HostNames
from p2p.web.problems import refusal
from p2p.web.visitors import WITHIN_S, Keys, TooManyWrongTokens, Visitor

VISITOR = "p2p.visitor"
"""Key of a request's scope: who sent it."""
READS = ("GET", "HEAD")
BODY_TYPES = ("application/json", "application/x-www-form-urlencoded")
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        *(f"{kind}-src 'self'" for kind in ("script", "style", "media", "connect", "worker", "manifest", "font")),
        "img-src 'self' data:",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with "no-referrer", forms of our own pages have an Origin of "null"
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
RELOADS_ITSELF = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0"><title>p2p</title>'
"""For somebody who follows a link from elsewhere: browsers send a strict cookie with what our own page asks for."""


class Gate:
    """Let in requests that were sent to us, by our pages or by programs that know the token, and are not too long.

    Args:
        app: What answers them.
        names: Hosts that requests may be sent to, and whose pages may send them.
        keys: Who may.
        longest: Longest body [bytes].
        patience_s: How long a body may take to arrive [s].
    """

    def __init__(self, app: ASGIApp, names: HostNames, keys: Keys, longest: int, patience_s: float) -> None:
        self._app = app
        self._names = names
        self._keys = keys
        self._longest = longest
        self._patience_s = patience_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no sockets here
            await send({"type": "websocket.close", "code": 1008})
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        answer = self._foreign(scope, headers) or self._stranger(scope, headers) or self._unfit(scope, headers)
        if answer is not None:
            await answer(scope, receive, guarded)
        elif scope["method"] in READS:
            await self._app(scope, receive, guarded)
        else:
            await self._with_body(scope, receive, guarded)

    def _foreign(self, scope: Scope, headers: Headers) -> Response | None:
        """Refuse what was not sent to us, or by a page that is not ours."""
        host = headers.get("host", "")
        if not self._names.has_host(host):
            return refusal(421, "This server is not called so. Start it with --allowed-host NAME to give it a name.")
        origin = headers.get("origin")
        if origin is not None and (origin != f"{scope['scheme']}://{host}" or not self._names.has_origin(origin)):
            return refusal(403, "Pages of other places may ask for nothing here.")
        # another port of this machine is "same-site", and as foreign as any
        ours = headers.get("sec-fetch-site", "none") in ("same-origin", "none")
        if not ours and not _is_followed_link(scope, headers):
            return refusal(403, "Pages of other places may ask for nothing here.")
        return None

    def _stranger(self, scope: Scope, headers: Headers) -> Response | None:
        """Refuse who has no key, and give a browser that brings a token its cookie; note who it is."""
        try:
            by_address = self._by_address(scope, headers)
            if by_address is not None:
                return by_address
            visitor = self._visitor(headers)
        except TooManyWrongTokens:
            wait = {"retry-after": str(int(WITHIN_S))}
            return refusal(429, "Too many wrong tokens; none is looked at for a minute.", wait)
        if visitor is None:
            if headers.get("sec-fetch-site") in ("cross-site", "same-site"):  # once: the next comes from our own page
                return HTMLResponse(RELOADS_ITSELF, headers={"cache-control": "no-store"})
            return refusal(
                401,
                "Open the address that `p2p web` printed, or send its token as 'Authorization: Bearer <token>'.",
                {"www-authenticate": "Bearer"},
            )
        if not visitor.may_change and scope["method"] not in READS:
            return refusal(403, "This address is for readers: nothing can be changed with it.")
        scope[VISITOR] = visitor
        return None

    def _by_address(self, scope: Scope, headers: Headers) -> Response | None:
        """The same address without its token, which then is in no history, referrer or picture of the screen."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        token = dict(query).get("token")
        if token is None or scope["method"] not in READS:
            return None
        visitor = self._keys.with_token(token)
        if visitor is None:
            return refusal(401, "This token is not that of the server's last start. Open the address it printed.")
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        path = scope.get("raw_path", scope["path"].encode()).decode("latin-1").partition("?")[0]
        host = headers["host"]
        location = f"{scope['scheme']}://{host}{path}{'?' if rest else ''}{rest}"
        answer = Response(status_code=303, headers={"location": location, "cache-control": "no-store"})
        answer.set_cookie(cookie_name(host), self._keys.cookie_of(visitor), httponly=True, samesite="strict", path="/")
        return answer

    def _visitor(self, headers: Headers) -> Visitor | None:
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            cookies = SimpleCookie()
        cookie = cookies.get(cookie_name(headers.get("host", "")))
        if cookie is not None and (visitor := self._keys.with_cookie(cookie.value)) is not None:
            return visitor
        scheme, _, given = headers.get("authorization", "").partition(" ")
        return self._keys.with_token(given.strip()) if scheme.lower() == "bearer" else None

    def _unfit(self, scope: Scope, headers: Headers) -> Response | None:
        """Refuse bodies that a form of another place could send, and reads with one."""
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        if not has_body:
            return None
        if scope["method"] in READS:
            return refusal(400, "A request that reads has no body.")
        given = headers.get("content-type", "").partition(";")[0].strip().lower()
        if given not in BODY_TYPES:
            return refusal(415, f"The body is of type {given[:80] or 'nothing'!r}; expected application/json.")
        return None

    async def _with_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await read_body(scope, receive, self._longest, self._patience_s)
        except TimeoutError:
            late = f"The body did not arrive within {self._patience_s:.0f} s."
            await refusal(408, late, {"connection": "close"})(scope, receive, send)
            return
        except BodyTooLong:
            await refusal(413, f"A body has at most {self._longest} bytes.")(scope, receive, send)
            return
        if body is None:
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await self._app(scope, replay, send)


def cookie_name(host: str) -> str:
    """Of the server at a Host header; cookies reach all ports of a host, so the port is in the name."""
    port = host.rpartition(":")[2]
    return f"p2p_{port}" if port.isdecimal() else "p2p_80"


def _is_followed_link(scope: Scope, headers: Headers) -> bool:
    """Whether somebody opens one of our pages by a link elsewhere, which changes nothing."""
    to_top = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return bool(to_top and scope["method"] == "GET")

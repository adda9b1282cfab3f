"""Who may talk to the workbench: the right Host, the right Origin, the token, and no more bytes than allowed.

Pure ASGI, so that it stands before everything - pages, API, uploads and websockets alike.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from polyveil.web.settings import Settings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "polyveil_token"
READING = {"GET", "HEAD", "OPTIONS"}
SAFE_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class TooLarge(Exception):
    """The body of a request has more bytes than the workbench takes."""


class Guard:
    """Refuses what does not come from the person who started the workbench."""

    def __init__(self, app: App, settings: Settings) -> None:
        self.app = app
        self.settings = settings
        self.names = settings.names()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal:
            await _refuse(scope, send, *refusal)
        elif scope["type"] == "http" and self._brings_token(scope):
            await self._remember_token(scope, send)
        else:
            await self._pass_on(scope, receive, send)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        if headers.get("host", "").lower() not in self.names:
            return 421, "this workbench does not accept this host name"
        origin = headers.get("origin")
        unsafe = scope["type"] == "websocket" or scope["method"] not in READING
        if unsafe and origin is not None and urlsplit(origin).netloc.lower() not in self.names:
            return 403, "requests from other sites are refused"
        if unsafe and origin is None and headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return 403, "requests from other sites are refused"
        if not self._knows_token(scope, headers):
            return 401, "open the address that `polyveil serve` printed: it carries the token"
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > self.settings.max_upload:
            return (
                413,
                f"more than {self.settings.max_upload // 10**6} MB cannot be uploaded. "
                "Restart with a larger --max-upload",
            )
        return None

    def _knows_token(self, scope: Scope, headers: dict[str, str]) -> bool:
        if self.settings.token is None:
            return True
        offered = [self._query_token(scope), headers.get("authorization", "").removeprefix("Bearer "), _cookie(headers)]
        return any(hmac.compare_digest(each.encode(), self.settings.token.encode()) for each in offered if each)

    def _query_token(self, scope: Scope) -> str:
        return dict(parse_qsl(str(scope["query_string"], "latin-1"))).get("token", "")

    def _brings_token(self, scope: Scope) -> bool:
        return bool(self._query_token(scope)) and scope["method"] == "GET" and not scope["path"].startswith("/api")

    async def _remember_token(self, scope: Scope, send: Send) -> None:
        """Put the token into a cookie and the address without it into the browser's bar and history."""
        rest = [(key, value) for key, value in parse_qsl(scope["query_string"].decode("latin-1")) if key != "token"]
        target = scope["path"] + (f"?{urlencode(rest)}" if rest else "")
        cookie = f"{COOKIE}={self.settings.token}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", target.encode()), (b"set-cookie", cookie.encode()), *SAFE_HEADERS]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        taken = 0
        started = False

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self.settings.max_upload:
                raise TooLarge
            return message

        async def hardened(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = _with_safe_headers(message.get("headers", ()), scope["path"])
            await send(message)

        try:
            await self.app(scope, counted if scope["type"] == "http" else receive, hardened)
        except TooLarge:
            if not started:
                await _refuse(scope, send, 413, f"more than {self.settings.max_upload // 10**6} MB cannot be uploaded")


def _with_safe_headers(headers: Iterable[tuple[bytes, bytes]], path: str) -> list[tuple[bytes, bytes]]:
    """Data is never cached; the toolkit's own static files may be."""
    static = path.startswith("/_nicegui/")
    kept = list(headers)
    names = {name.lower() for name, _ in kept}
    return kept + [
        (name, value) for name, value in SAFE_HEADERS if name not in names and not (static and name == b"cache-control")
    ]


def _cookie(headers: dict[str, str]) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


async def _refuse(scope: Scope, send: Send, status: int, message: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": message})
        return
    headers = [(b"content-type", b"application/json"), *SAFE_HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f'{{"detail": "{message}"}}'.encode()})

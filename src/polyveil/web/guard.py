"""Who may talk to the workbench: the right Host, the right Origin, the token, and no more bytes than allowed.

Pure ASGI, so that it stands before everything - pages, API, uploads and websockets alike.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from html import escape
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


RESTARTED = (
    "The workbench was started again, or this browser has not opened it yet. Open the address that polyveil serve "
    "printed last. This tab then shows its view again by itself."
)
NOT_FOUND = "there is nothing at this address. Go to the start page"
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">{again}<title>polyveil</title>
<style>body {{ font: 17px/1.6 system-ui, sans-serif; max-width: 34em; margin: 15vh auto; padding: 0 16px; }}
a {{ color: inherit; }}</style>
</head><body><main><h1>polyveil</h1><p>{words}</p><p><a href="/">Start page</a></p></main></body></html>
"""


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
            await _refuse(scope, send, *refusal, page=_wants_page(headers))
        elif scope["type"] == "http" and self._brings_token(scope):
            await self._remember_token(scope, send)
        else:
            await self._pass_on(scope, receive, send, page=_wants_page(headers))

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

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, *, page: bool) -> None:
        taken = 0
        started = replaced = False

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self.settings.max_upload:
                raise TooLarge
            return message

        async def hardened(message: Message) -> None:
            nonlocal started, replaced
            if message["type"] == "http.response.start":
                started = True
                if page and message["status"] >= 400 and _is_json(message.get("headers", ())):
                    replaced = True  # a person sees a sentence, a program the details
                    await _refuse(scope, send, message["status"], NOT_FOUND, page=True)
                message["headers"] = _with_safe_headers(message.get("headers", ()), scope["path"])
            if not replaced:
                await send(message)

        try:
            await self.app(scope, counted if scope["type"] == "http" else receive, hardened)
        except TooLarge:
            if not started:
                message = f"more than {self.settings.max_upload // 10**6} MB cannot be uploaded"
                await _refuse(scope, send, 413, message, page=page)


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


def _wants_page(headers: Mapping[str, str]) -> bool:
    """Whether a person looks at the answer in a browser."""
    return "text/html" in headers.get("accept", "")


def _is_json(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    return any(name.lower() == b"content-type" and b"json" in value for name, value in headers)


async def _refuse(scope: Scope, send: Send, status: int, message: str, *, page: bool) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": message})
        return
    kind, body = (
        (b"text/html; charset=utf-8", _page(status, message))
        if page
        else (b"application/json", json.dumps({"detail": message}))
    )
    headers = [(b"content-type", kind), *SAFE_HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body.encode()})


def _page(status: int, message: str) -> str:
    """One clear sentence; where the token is missing, the page comes back by itself once the token is there."""
    again = '<meta http-equiv="refresh" content="5">' if status == 401 else ""
    words = RESTARTED if status == 401 else f"{message[:1].upper()}{message[1:]}."
    return PAGE.format(again=again, words=escape(words, quote=False))

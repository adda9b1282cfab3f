"""Firefox as Debian ships it, driven by Playwright over WebDriver BiDi; as a program, this file starts it.

Playwright asks every page for media features, a command that this Firefox does not know yet, and gives up where it is
refused. So the messages pass through here, and that one command is answered: nothing is emulated, as the browser would
have it without the command. Everything else is Firefox's own answer.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
NOT_KNOWN = {"emulation.setMediaFeaturesOverride"}
LARGEST = 100_000_000
"""Bytes of a message, for example a picture of a page."""
LIMIT = 3600.0
"""Seconds after which Firefox is ended, whatever it does."""
ANNOUNCED = re.compile(r"(WebDriver BiDi listening on ws://127\.0\.0\.1):(\d+)")


@contextmanager
def firefox(playwright: Any, folder: Path) -> Iterator[Any]:
    """The browser; its program is written into the folder."""
    program = folder / "firefox"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).resolve()}" "$@"\n')
    program.chmod(0o700)
    found = playwright.firefox.launch(channel="moz-firefox", executable_path=program)
    try:
        yield found
    finally:
        found.close()


async def main(arguments: list[str]) -> int:
    """Start Firefox and announce this program in its place."""
    from websockets.asyncio.server import serve

    assert FIREFOX
    process = await asyncio.create_subprocess_exec(FIREFOX, *arguments, stderr=asyncio.subprocess.PIPE)
    assert process.stderr
    asyncio.get_running_loop().call_later(LIMIT, process.kill)
    async for line in process.stderr:
        text = line.decode(errors="replace")
        found = ANNOUNCED.search(text)
        if found:
            answer = between(int(found[2]))
            server = await serve(answer, "127.0.0.1", 0, max_size=LARGEST, compression=None, ping_interval=None)
            port = next(iter(server.sockets)).getsockname()[1]
            text = f"{found[1]}:{port}\n"
        print(text, end="", file=sys.stderr, flush=True)
    return await process.wait()


def between(port: int) -> Any:
    """Passes messages between Playwright and the Firefox at the port."""
    from websockets.asyncio.client import connect
    from websockets.exceptions import ConnectionClosed

    async def answer(asking: Any) -> None:
        address = f"ws://127.0.0.1:{port}{asking.request.path}"
        async with connect(address, max_size=LARGEST, compression=None, ping_interval=None) as firefox:

            async def commands() -> None:
                async for message in asking:
                    asked = json.loads(message)
                    if asked.get("method") in NOT_KNOWN:
                        await asking.send(json.dumps({"type": "success", "id": asked["id"], "result": {}}))
                    else:
                        await firefox.send(message)

            async def answers() -> None:
                async for message in firefox:
                    await asking.send(message)

            both = [asyncio.create_task(commands()), asyncio.create_task(answers())]
            with suppress(ConnectionClosed):
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            for task in both:
                task.cancel()

    return answer


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))

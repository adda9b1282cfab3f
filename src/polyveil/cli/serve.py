"""`polyveil serve`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polyveil.cli.frame import reported_errors

if TYPE_CHECKING:
    from polyveil.web.settings import Settings


def serve(
    data: Annotated[
        list[Path] | None, typer.Option("--data", help="A folder whose files may be opened. Repeatable.")
    ] = None,
    folder: Annotated[Path | None, typer.Option(help="Where uploads and runs are kept.")] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on. With 127.0.0.1, only this machine can connect.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port. 0 uses any free port.", min=0, max=65535)] = 8484,
    public_name: Annotated[
        list[str] | None, typer.Option(help="A host name under which a proxy serves the workbench. Repeatable.")
    ] = None,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="No access token; allowed on this machine only.")
    ] = False,
    max_upload: Annotated[int, typer.Option(help="Largest upload, in MB.", min=1)] = 500,
    keep_days: Annotated[float, typer.Option(help="Delete uploads after this many days.", min=0.01)] = 7.0,
    workers: Annotated[int, typer.Option(help="Runs at the same time.", min=1, max=64)] = 2,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the browser.")] = True,
) -> None:
    """Open the workbench: every step in a browser, on this machine.

    Data stays on this machine: by default the workbench accepts connections from this machine only, asks for the token
    in the address, loads nothing from the internet, and reads only uploads and the folders given with --data. It also
    has a REST API (`/api/openapi.json`).
    """
    with reported_errors():
        _require_web()
        from polyveil.web.app import listen
        from polyveil.web.app import serve as run

        listening = listen(host, port)
        port = listening.getsockname()[1]
        settings = _settings(data, folder, host, port, public_name, no_token, max_upload, keep_days, workers)

        def announce() -> None:
            typer.echo(
                f"The workbench is at  {settings.url}\nPress Ctrl-C to stop it. Files are kept in {settings.folder}"
            )
            if open_browser:
                import threading
                import webbrowser

                threading.Thread(target=webbrowser.open, args=[settings.url], daemon=True).start()

        run(settings, listening, announce)


def _require_web() -> None:
    from importlib.util import find_spec

    from polyveil.errors import InputError

    if find_spec("nicegui") is None:
        raise InputError("the workbench needs more packages. Install them with: pip install 'polyveil[web]'")


def _settings(
    data: list[Path] | None,
    folder: Path | None,
    host: str,
    port: int,
    public_name: list[str] | None,
    no_token: bool,
    max_upload: int,
    keep_days: float,
    workers: int,
) -> Settings:
    import secrets

    from polyveil.web.settings import MEGABYTE, Settings, default_folder

    return Settings(
        folder=folder or default_folder(),
        data_folders=tuple(data or ()),
        host=host,
        port=port,
        token=None if no_token else secrets.token_urlsafe(24),
        public_names=tuple(public_name or ()),
        max_upload=max_upload * MEGABYTE,
        max_unpacked=4 * max_upload * MEGABYTE,
        keep_days=keep_days,
        workers=workers,
    )

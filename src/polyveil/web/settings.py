"""How a workbench is run: where it keeps its files, what it may read, who may reach it."""

from __future__ import annotations

import ipaddress
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from polyveil.errors import InputError

MEGABYTE = 10**6


def default_folder() -> Path:
    """The user's own data folder."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "polyveil"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Settings:
    """All choices of `polyveil serve`. A token is asked for unless it is switched off, which only loopback allows."""

    folder: Path = field(default_factory=default_folder)
    data_folders: tuple[Path, ...] = ()
    host: str = "127.0.0.1"
    port: int = 8484
    token: str | None = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    public_names: tuple[str, ...] = ()
    max_upload: int = 500 * MEGABYTE
    max_unpacked: int = 2_000 * MEGABYTE
    keep_days: float = 7.0
    workers: int = 2
    max_waiting: int = 50

    def __post_init__(self) -> None:
        if self.token is None and not is_loopback(self.host):
            raise InputError(
                "a workbench that other machines can reach needs a token. Leave out --no-token, or bind 127.0.0.1"
            )
        missing = [str(folder) for folder in self.data_folders if not folder.is_dir()]
        if missing:
            raise InputError(f"not a folder: {', '.join(missing)}. Name folders the workbench may read with --data")

    @property
    def url(self) -> str:
        """Where to point a browser, token included."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    def names(self) -> frozenset[str]:
        """The Host headers that are ours: anything else is another site's name pointing here (DNS rebinding)."""
        hosts = {self.host, *self.public_names}
        if is_loopback(self.host):
            hosts |= {"127.0.0.1", "localhost", "::1"}
        bare = {f"[{host}]" if ":" in host else host for host in hosts}
        return frozenset({f"{host}:{self.port}" for host in bare} | bare)

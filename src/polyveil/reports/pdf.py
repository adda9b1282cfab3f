"""A page as PDF, printed by the browser of this machine: the same page, with nothing loaded and nothing sent."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from polyveil.errors import InputError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
SECONDS = 120.0
"""How long printing may take."""


def find_browser() -> str:
    """The browser that prints; raises InputError if there is none."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        raise InputError(
            "a PDF needs Chromium, Chrome or Edge on this machine, and none was found. "
            "Write an .html file, and print it as PDF from any browser"
        )
    return found


def to_pdf(page: str) -> bytes:
    """The printed page."""
    browser = find_browser()
    with tempfile.TemporaryDirectory(prefix="polyveil-") as name:
        folder = Path(name)
        (folder / "report.html").write_text(page, encoding="utf-8")
        command = [browser, "--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
        command += ["--no-pdf-header-footer", f"--user-data-dir={folder / 'profile'}", "--disable-dev-shm-usage"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--no-sandbox")  # Chromium refuses its sandbox to the superuser
        command += [f"--print-to-pdf={folder / 'report.pdf'}", (folder / "report.html").as_uri()]
        try:
            subprocess.run(command, capture_output=True, check=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
            return (folder / "report.pdf").read_bytes()
        except (OSError, subprocess.SubprocessError):
            raise InputError(
                f"{Path(browser).name} could not print the report. Write an .html file, and print it from a browser"
            ) from None

"""Checks that a tag, the version and the changelog agree: `python tools/release.py check v0.2.0`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def version() -> str:
    """The version, read from its one home."""
    text = (ROOT / "src" / "polyveil" / "version.py").read_text(encoding="utf-8")
    return str(re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE)[0])


def faults(tag: str, changelog: str) -> list[str]:
    """What keeps a tag from being released."""
    found = []
    if tag != f"v{version()}":
        found.append(f"the tag is {tag}, but src/polyveil/version.py says {version()}. Change one of them")
    if not re.search(rf"^## \[{re.escape(tag.removeprefix('v'))}\] - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE):
        found.append(f"CHANGELOG.md has no section '## [{tag.removeprefix('v')}] - YYYY-MM-DD'. Rename 'Unreleased'")
    return found


def main() -> None:
    found = faults(sys.argv[2], (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()

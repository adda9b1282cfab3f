"""What a model counts where a person may have several rows."""

from __future__ import annotations

from typing import Literal

Unit = Literal["having", "sharing"]
"""having: people who have a value in any of their rows; sharing: every person weighs the same, shared over rows."""

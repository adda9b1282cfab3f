"""The clock of a search: when it began, when it must end, and the flag that stops its kernels at that moment."""

from __future__ import annotations

import math
import time
from threading import Timer

import numpy as np

from polyveil.methods._search.space import Flag


class Clock:
    """Runs from its making on. Inside `with`, `stop[0]` becomes 1 when the seconds are over."""

    def __init__(self, seconds: float = math.inf) -> None:
        self.began = time.monotonic()
        self.seconds = seconds
        self.stop: Flag = np.zeros(1, dtype=np.uint8)
        self._timer: Timer | None = None

    def __enter__(self) -> Clock:
        if self.seconds < math.inf:
            self._timer = Timer(max(self.seconds - self.passed, 0.0), self.end)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def end(self) -> None:
        """Stop everything that watches the flag."""
        self.stop[0] = 1

    @property
    def passed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.began

    @property
    def is_over(self) -> bool:
        """Whether the flag is set."""
        return bool(self.stop[0])

"""Spark's daemon of Python workers, whose search for garbage after every task leaves out what was imported.

Spark has each worker look for garbage when a task is done. With everything imported that is a fifth of a second,
and the tasks of tests take less: it was three quarters of what workers did.
"""

from __future__ import annotations

import gc
import sys
from typing import Any

from pyspark import daemon

work = daemon.worker
imported = 0


def worker(*arguments: Any) -> Any:
    """Do a task; what came with modules that it was the first to import stays until the end."""
    global imported
    code = work(*arguments)
    if len(sys.modules) > imported:
        imported = len(sys.modules)
        gc.freeze()
    return code


daemon.worker = worker

if __name__ == "__main__":
    daemon.manager()

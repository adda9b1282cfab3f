"""Commands that begin with polyveil already imported.

A process imports everything once and is copied for each command, which spares the seconds that every new interpreter
spends on imports. A command still has a process of its own, with the folder, environment and files of whoever started
it. Where the beginning of a process matters, as in tests of imports, signals or threads, start a real one.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from subprocess import PIPE
from types import ModuleType
from typing import Any, NoReturn

from numba.core.registry import cpu_target

import children
import polyveil.cli
from polyveil.methods import METHODS
from polyveil.methods._search import compiling

SCRIPT = """#!{python} -IS
import json, os, socket, sys
line = socket.socket(socket.AF_UNIX)
line.connect({address!r})
wanted = json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(line, [len(wanted).to_bytes(8, "big")], [0, 1, 2])
line.sendall(wanted)
sys.exit(int(line.recv(8) or b"1"))
"""


@contextmanager
def commands(folder: Path) -> Iterator[Path]:
    """A folder with `polyveil` and `python`, for code after `-c` or on stdin: each is a copy of one process."""
    address = folder / "prepared"
    with children.started([sys.executable, __file__, address], limit=3600, stdout=PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        found = folder / "bin"
        found.mkdir()
        for name in ("polyveil", "python"):
            file = found / name
            file.write_text(SCRIPT.format(python=sys.executable, address=str(address)))
            file.chmod(0o700)
        yield found


def _serve(address: str) -> None:
    for part in polyveil.__all__:  # importing is what takes the time, and these are imported when first used
        getattr(polyveil, part)
    for name in METHODS:
        METHODS[name]
    import_module("sklearn.ensemble")  # of the attacks that learn
    for context in (cpu_target.typing_context, cpu_target.target_context):
        context.refresh()  # otherwise done by the first kernel that is called
    for unit in compiling.UNITS:
        compiling.compile_unit(unit, "plain")  # loads what is compiled already
    gc.freeze()  # a copy shares what nobody looks at
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            line, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                _answer(line)
            line.close()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _answer(line: socket.socket) -> None:
    """Start the command, and end it when whoever asked for it is gone."""
    head, files, _, _ = socket.recv_fds(line, 8, 3)
    length, wanted = int.from_bytes(head, "big"), b""
    while len(wanted) < length:
        wanted += line.recv(length - len(wanted))
    pid = os.fork()
    if pid == 0:
        os.setsid()
        line.close()
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        _end(_exit_code(*json.loads(wanted)))
    for file in files:
        os.close(file)
    ended = os.pidfd_open(pid)
    if ended not in select.select([ended, line], [], [])[0]:
        os.killpg(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with suppress(OSError):
        line.sendall(str(code if code >= 0 else 128 - code).encode())
    os._exit(0)


def _exit_code(*command: Any) -> int:
    try:
        _run(*command)
    except SystemExit as left:
        if isinstance(left.code, str):
            sys.stderr.write(left.code + "\n")
        return left.code if isinstance(left.code, int) else int(left.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _end(code: int) -> NoReturn:
    """End without taking every imported module apart, which takes longer than most commands."""
    atexit._run_exitfuncs()
    for file in (sys.stdout, sys.stderr):
        with suppress(OSError):
            file.flush()
    os._exit(code)


def _run(arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    """Do what the command does, in the folder and environment of whoever started it."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    main = sys.modules["__main__"] = ModuleType("__main__")
    sys.argv = arguments
    if Path(arguments[0]).name == "polyveil":
        sys.path[0] = str(Path(arguments[0]).parent)
        polyveil.cli.main()
        return
    sys.path[0], sys.argv = "", arguments[1:2]
    text = arguments[2] if arguments[1] == "-c" else sys.stdin.read()
    exec(compile(text, "<string>", "exec"), vars(main))


if __name__ == "__main__":
    _serve(sys.argv[1])

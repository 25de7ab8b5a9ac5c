# SPDX-License-Identifier: Apache-2.0
"""Traces programs of Python files, each in a process of its own.

A file may do anything (exit, print, change its folder, fork, close its output) without an effect on the command. The
command learns the program's text, or why there is none. The file's prints go to standard error.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from types import ModuleType
from typing import Any

from ringmill.check import closest
from ringmill.errors import FileError, RingmillError
from ringmill.program import Program
from ringmill.schemes import choose

# The slots of a program whose file is run without --slots.
_SLOTS = 4096
# The characters of a file's prints that are kept as JSON, from their end.
_LONGEST = 1 << 16
_MODULE = "ringmill_program"


def traced(spec: os.PathLike[str], slots: int | None, as_json: bool) -> str:
    """Returns the text that :func:`for_command` returns, for the scheme that the program chooses."""
    return for_command(spec, slots, None, as_json)[0]


def for_command(
    spec: os.PathLike[str], slots: int | None, scheme: str | None, as_json: bool
) -> tuple[str, list[tuple[str, int, int]], list[int | None], list[int | None]]:
    """Traces the program of ``FILE.py``, or of ``FILE.py:NAME`` if the file has several. Returns its macro text; the
    least and the largest value of each argument whose type sets them, by name; and the lengths of its inputs and
    outputs, None if all slots hold values.

    The text is for `scheme`, if one is named. With `as_json`, the file's prints become one JSON object on standard
    error. Raises :class:`RingmillError` if the file does not define a program, with what it did instead, and
    KeyboardInterrupt on Ctrl-C.
    """
    with tempfile.TemporaryDirectory(prefix="ringmill-") as folder, tempfile.TemporaryFile() as printed:
        answer = os.path.join(folder, "answer")
        command = [
            sys.executable,
            "-P",
            "-m",
            "ringmill.source",
            answer,
            os.fspath(spec),
            str(_SLOTS if slots is None else slots),
            scheme or "",
        ]
        said = printed if as_json else 2  # standard error
        status = subprocess.run(command, stdout=said, stderr=said, check=False).returncode
        if as_json:
            printed.seek(max(0, printed.seek(0, os.SEEK_END) - _LONGEST))
            _tell(printed.read())
        if status == -signal.SIGINT:
            raise KeyboardInterrupt
        try:
            with open(answer, encoding="utf-8") as file:
                told = json.load(file)
        except (OSError, ValueError):
            ended = f"by signal {-status}" if status < 0 else f"with status {status}"
            raise FileError(f"{spec}: the file ended its process {ended} before its program was traced") from None
    if "text" not in told:
        raise RingmillError(told["error"])
    ends = [(name, low, high) for name, low, high in told["ends"]]
    return told["text"], ends, told["inputs"], told["outputs"]


def _tell(printed: bytes) -> None:
    if printed:
        line = json.dumps({"printed": printed.decode(errors="backslashreplace")}) + "\n"
        with contextlib.suppress(OSError):
            os.write(2, line.encode())


def main() -> None:
    """Runs in the file's process: traces its program and leaves the answer in a file."""
    answer, spec, slots, scheme = sys.argv[1:]
    # A Ctrl-C ends this process, so a KeyboardInterrupt is one that the file raised itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    us, file = os.getpid(), os.path.abspath(_split(spec)[0])
    try:
        program = _load(spec)
        traced, shape = program.trace(int(slots), scheme=scheme or None)
        # Text has no types. Types that no scheme takes are refused here, and their ranges and lengths travel beside the
        # text.
        choose(scheme or None, program.signature)
        signature = shape.signature or program.signature
        ends = {name: kind.ends for name, kind in signature.types.items()}
        lengths = signature.lengths(traced.slots)
        told = {
            "text": traced.to_text(),
            "ends": [[name, *pair] for name, pair in ends.items() if pair],
            "inputs": [lengths.get(name) for name, _ in traced.inputs],
            "outputs": shape.lengths or [None] * len(shape.names),
        }
    except RingmillError as error:
        told = {"error": str(error)}
    except BaseException as error:
        if not isinstance(error, SystemExit):
            traceback.print_exception(error)
        told = {"error": _blamed(spec, file, error)}
    # A copy of the process that the file forked must not answer.
    if os.getpid() == us:
        with open(answer + ".part", "w", encoding="utf-8") as file:
            json.dump(told, file)
        os.replace(answer + ".part", answer)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    # Nobody waits for threads that the file left running, or for its exit functions.
    os._exit(0)


def _split(spec: str) -> tuple[str, str | None]:
    """Splits ``FILE.py`` or ``FILE.py:NAME``."""
    path, colon, name = spec.rpartition(":")
    return (path, name) if colon and path.endswith(".py") else (spec, None)


def _blamed(spec: str, file: str, error: BaseException) -> str:
    """Describes an exception of the file, with its line."""
    path, _ = _split(spec)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    if isinstance(error, SyntaxError) and error.filename == file:
        lines = [error.lineno]
    place = f"{path}:{lines[-1]}" if lines else path
    try:
        text = str(error)
    except Exception:
        text = ""
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if isinstance(error, SystemExit):
        return (
            f"{place}: the file left by {said} before its program was traced; what runs it as a script belongs below "
            '`if __name__ == "__main__":`'
        )
    return f"{place}: the file raised {said}"


def _module(path: str) -> ModuleType:
    loader = importlib.util.spec_from_file_location(_MODULE, path)
    if not os.path.isfile(path) or loader is None or loader.loader is None:
        raise FileError(f"{path}: no such Python file")
    # The module has a name of its own, so that a script's `if __name__ == "__main__"` part does not run.
    module = sys.modules[_MODULE] = importlib.util.module_from_spec(loader)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    sys.argv = [path]
    loader.loader.exec_module(module)
    return module


def _load(spec: str) -> Program:
    path, name = _split(spec)
    found: dict[str, Any] = {k: v for k, v in vars(_module(path)).items() if isinstance(v, Program)}
    if name is not None:
        if name in found:
            return found[name]
        raise FileError(f"{path} has no program named `{name}`; {closest(name, found)}")
    # The file may import programs of other files. Only its own count.
    own = {id(v): k for k, v in found.items() if v.__module__ == _MODULE}
    if len(own) == 1:
        return found[next(iter(own.values()))]
    names = ", ".join(own.values())
    told = f"has several programs: {names}; write {path}:NAME" if own else "has no @rm.program function"
    raise FileError(f"{path} {told}")


if __name__ == "__main__":
    main()

"""The ``ringmill`` command of the Python package: the Rust command, which here also takes programs as .py files."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile

from ringmill._ringmill import cli_main
from ringmill.errors import RingmillError
from ringmill.program import Program

# The commands whose first positional argument is a program.
_PROGRAM_COMMANDS = ("run", "compile", "sim")


def load_program(spec: str) -> Program:
    """The program of ``file.py`` or, where the file has several, of ``file.py:name``."""
    path, _, name = spec.partition(".py")
    path, name = path + ".py", name.removeprefix(":")
    module_spec = importlib.util.spec_from_file_location("ringmill_program", path)
    if not os.path.isfile(path) or module_spec is None or module_spec.loader is None:
        raise SystemExit(f"ringmill: {path}: no such Python file")
    # Loaded under a name of its own, so that a script's `if __name__ == "__main__"` part stays asleep.
    module = importlib.util.module_from_spec(module_spec)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    module_spec.loader.exec_module(module)
    found = {key: value for key, value in vars(module).items() if isinstance(value, Program)}
    if name in found:
        return found[name]
    if not name and len(found) == 1:
        return next(iter(found.values()))
    names = ", ".join(found) or "none"
    wanted = f"no program named {name}" if name else "not exactly one program"
    raise SystemExit(f"ringmill: {path} has {wanted} (found: {names}); write {path}:NAME")


def _slots(arguments: list[str]) -> int:
    """The value of ``--slots``; half the ring degree of the named sets where it is not given."""
    for i, argument in enumerate(arguments):
        value = argument.removeprefix("--slots=") if argument.startswith("--slots=") else None
        if argument == "--slots" and i + 1 < len(arguments):
            value = arguments[i + 1]
        if value is not None:
            if not value.isdigit():
                raise SystemExit(f"ringmill: --slots takes a power of two, not {value}")
            return int(value)
    return 4096


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; a program given as a .py file is traced and handed over as macro text."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    index = next((i for i, a in enumerate(arguments) if a.endswith(".py") or ".py:" in a), None)
    if index is None or not arguments or arguments[0] not in _PROGRAM_COMMANDS:
        return cli_main(["ringmill", *arguments])
    try:
        traced, _ = load_program(arguments[index]).trace(_slots(arguments))
    except RingmillError as error:
        print(f"ringmill: {error}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="ringmill-") as folder:
        path = os.path.join(folder, "program.rmac")
        with open(path, "w", encoding="utf-8") as file:
            file.write(traced.to_text())
        return cli_main(["ringmill", *arguments[:index], path, *arguments[index + 1 :]])

# SPDX-License-Identifier: Apache-2.0
"""Builds the tests with the drawn faults, and finds by cargo's JSON messages which faults do not compile."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import refusals, switch, tree
from .fault import Fault
from .modules import crates, roots
from .program import Program
from .rewrite import Rewritten, rewrite


class BuildError(Exception):
    """Cargo failed, and its errors point at no fault."""


def prepare(drawn: list[Fault], count: int, packages: list[str]) -> tuple[dict[int, Fault], list[Program]]:
    """Builds the packages' tests with the first `count` faults of the draw that compile, each behind a switch.

    Returns these faults by their numbers, and the test programs.
    """
    known = refusals.read()
    rest = [(number, fault) for number, fault in enumerate(drawn, 1) if refusals.key(fault) not in known]
    # The compiler refuses about a tenth. The more are checked at once, the fewer checks there are.
    most = count + count // 8
    taken, rest = dict(rest[:most]), rest[most:]
    for command in (["check", "--lib", "--bins"], ["build", "--tests"]):
        while True:
            written = _write(taken)
            messages = list(_cargo([*command, "--keep-going", *packages]))
            refused = _refused(messages, written)
            if not refused:
                break
            refusals.add(taken.pop(number) for number in refused)
            missing = max(count - len(taken), 0)
            taken, rest = taken | dict(rest[:missing]), rest[missing:]
            print(f"{len(refused)} faults do not compile", file=sys.stderr, flush=True)
        taken = dict(list(taken.items())[:count])
    return taken, [p for m in messages if (p := _program(m))]


def _write(taken: dict[int, Fault]) -> dict[str, Rewritten]:
    """Writes the copy of the tree with all faults and switches in it."""
    written = {}
    for path in dict.fromkeys(fault.path for fault in taken.values()):
        here = {number: fault for number, fault in taken.items() if fault.path == path}
        written[path] = rewrite((tree.ROOT / path).read_bytes(), here)
    changed = {path: bytes(made.content) for path, made in written.items()}
    for crate in crates():
        for root in roots(crate):
            path = root.relative_to(tree.ROOT).as_posix()
            changed[path] = changed.get(path, root.read_bytes()) + switch.module(max(taken))
    tree.copy(changed)
    return written


def _cargo(arguments: list[str]) -> Iterator[dict[str, Any]]:
    """Runs cargo in the copy and yields its messages."""
    command = ["cargo", *arguments, "--locked", "--quiet", "--message-format=json"]
    environment = os.environ | {"CARGO_TARGET_DIR": str(tree.TARGET)}
    failed, said = False, []
    with subprocess.Popen(
        command, cwd=tree.TREE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as run:
        for line in run.stdout or []:
            if line.startswith("{"):
                message = json.loads(line)
                failed = failed or _is_error(message)
                yield message
            else:
                said.append(line)
    if run.returncode and not failed:
        raise BuildError("".join(said))


def _is_error(message: dict[str, Any]) -> bool:
    return message["reason"] == "compiler-message" and str(message["message"]["level"]).startswith("error")


def _refused(messages: list[dict[str, Any]], written: dict[str, Rewritten]) -> set[int]:
    """Returns the numbers of the faults that the compiler's errors are about."""
    refused: set[int] = set()
    for message in messages:
        if _is_error(message):
            found = list(_spans(message["message"]))
            blamed = {n for path, at, end in found if path in written for n in _holding(written[path], at, end)}
            blamed = blamed or {_nearest(written[path], at) for path, at, _ in found[:1] if path in written}
            if found and not blamed:
                raise BuildError(message["message"]["rendered"])
            refused |= blamed
    return refused


def _spans(message: dict[str, Any]) -> Iterator[tuple[str, int, int]]:
    """Yields the places that an error names: file, first byte and end, the main ones first."""
    for span in sorted(message["spans"], key=lambda span: not span["is_primary"]):
        yield span["file_name"], span["byte_start"], span["byte_end"]
    for child in message["children"]:
        yield from _spans(child)


def _holding(made: Rewritten, start: int, end: int) -> set[int]:
    return {number for first, last, number in made.ranges if first <= start and end <= last}


def _nearest(made: Rewritten, at: int) -> int:
    return min(made.ranges, key=lambda r: min(abs(r[0] - at), abs(r[1] - at)))[2]


def _program(message: dict[str, Any]) -> Program | None:
    if message["reason"] == "compiler-artifact" and message["executable"] and message["profile"]["test"]:
        folder = Path(message["manifest_path"]).parent
        crate = folder.parent if folder.name == "tests" else folder
        return Program(crate.name, folder, Path(message["executable"]))
    return None

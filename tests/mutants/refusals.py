# SPDX-License-Identifier: Apache-2.0
"""A file of the faults that the compiler has refused, so that the next run need not check them again."""

import hashlib
import json
from collections.abc import Iterable
from functools import cache

from . import tree
from .fault import Fault

_STORE = tree.WORK / "refused.json"
Key = tuple[str, str, int, int, str]


def key(fault: Fault) -> Key:
    """Returns a key that identifies a fault as long as its file does not change."""
    return fault.path, _digest(fault.path), fault.start, fault.end, fault.new


def read() -> set[Key]:
    """Returns the keys of all faults that the compiler has refused."""
    return {tuple(row) for row in json.loads(_STORE.read_text())} if _STORE.is_file() else set()


def add(faults: Iterable[Fault]) -> None:
    """Adds faults that the compiler has refused to the file."""
    _STORE.write_text(json.dumps(sorted(read() | {key(fault) for fault in faults})))


@cache
def _digest(path: str) -> str:
    return hashlib.sha256((tree.ROOT / path).read_bytes()).hexdigest()

# SPDX-License-Identifier: Apache-2.0
"""Damaged forms of a file, for tests of readers: cut short, altered in one place, or grown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ringmill as rm


def damaged(whole: bytes) -> Iterator[bytes]:
    """Yields damaged forms of a file: cut short, with one byte altered, and one byte too long."""
    yield from (b"", whole[:10], whole[: len(whole) // 2], whole[:-1])
    yield whole[:100] + bytes([whole[100] ^ 1]) + whole[101:]
    yield whole[:100] + bytes([whole[100] ^ 0xFF]) + whole[101:]
    yield whole + b"0"


def refused_damaged(folder: Path, name: str, load: Callable[[], Any]) -> None:
    """Checks that `load` refuses each damaged form of the file `name` and names the file. Then `load` must accept the
    whole file again.
    """
    whole = (folder / name).read_bytes()
    for bad in damaged(whole):
        (folder / name).write_bytes(bad)
        with pytest.raises(rm.FileError, match=name):
            load()
    (folder / name).write_bytes(whole)
    load()

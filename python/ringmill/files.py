# SPDX-License-Identifier: Apache-2.0
"""Writes and reads objects by path and by open binary file. Both have the bytes of `to_bytes`."""

from __future__ import annotations

import os
from typing import Any

from ringmill._ringmill import read_file, write_file
from ringmill.check import arguments, path, shown
from ringmill.errors import FileError


def target(name: str, value: Any) -> Any:
    """Checks for a path, or for a binary file that is open for writing."""
    return value if callable(getattr(value, "write", None)) else path(name, value)


def source(name: str, value: Any) -> Any:
    """Checks for a path, or for a binary file that is open for reading."""
    return value if callable(getattr(value, "read", None)) else path(name, value)


def put(where: Any, data: bytes) -> None:
    """Writes the whole content of a file to a path or an open file."""
    if not callable(getattr(where, "write", None)):
        write_file(where, data)
        return
    rest = memoryview(data)
    while rest:
        try:
            written = where.write(rest)
        except TypeError as error:
            raise FileError(f"the file must be open for bytes, as open(path, 'wb'): {error}") from None
        # A raw file may take a part at a time. Other files take all, and some return nothing.
        rest = rest[len(rest) if written is None else written :]


def take(where: Any) -> bytes:
    """Reads the whole rest of a path's or an open file's content."""
    if not callable(getattr(where, "read", None)):
        return read_file(where)
    data = where.read()
    if not isinstance(data, bytes):
        raise FileError(f"the file must be open for bytes, as open(path, 'rb'), and gave {shown(data)}")
    return data


def with_files(cls: type) -> None:
    """Lets the methods `save` and `load` of a class take an open binary file in place of a path."""
    save, load = cls.save, cls.load  # type: ignore[attr-defined]

    @arguments(f"{cls.__name__}.save", path=target)
    def to_path_or_file(self: Any, path: Any) -> None:
        if isinstance(path, (str, bytes, os.PathLike)):
            save(self, path)
        else:
            put(path, self.to_bytes())

    @arguments(f"{cls.__name__}.load", path=source)
    def from_path_or_file(path: Any, params: Any) -> Any:
        if isinstance(path, (str, bytes, os.PathLike)):
            return load(path, params)
        return cls.from_bytes(take(path), params)  # type: ignore[attr-defined]

    to_path_or_file.__doc__, from_path_or_file.__doc__ = save.__doc__, load.__doc__
    cls.save = to_path_or_file  # type: ignore[attr-defined]
    cls.load = staticmethod(from_path_or_file)  # type: ignore[attr-defined]

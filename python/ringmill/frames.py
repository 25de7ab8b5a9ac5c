# SPDX-License-Identifier: Apache-2.0
"""Tells whose code a frame runs: finds the user's line, and removes the package's own frames from tracebacks.

The traceback of a refused public call shows the frames of its callers alone: the call, and the line of a program at
fault. With ``RINGMILL_TRACEBACK=full`` in the environment it shows every frame.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, TypeVar

import numpy as np

from ringmill.errors import RingmillError

_PACKAGE, _NUMPY, _PYTHON = (
    os.path.dirname(os.path.abspath(file)) + os.sep for file in (__file__, np.__file__, os.__file__)
)
_INSTALLED = f"-packages{os.sep}"  # inside Python's own folder, where the first two may be
_GENERATED = "<string>"  # the file name of methods that dataclasses generates

Line = tuple[str, int]
F = TypeVar("F", bound=Callable[..., Any])


@functools.cache
def _library(file: str) -> bool:
    return file.startswith(_NUMPY) or (file.startswith(_PYTHON) and _INSTALLED not in file)


def _own(frame: FrameType) -> bool:
    """Returns whether a frame runs code of this package."""
    file = frame.f_code.co_filename
    if file == _GENERATED:
        return str(frame.f_globals.get("__name__")).startswith("ringmill.")
    return file.startswith(_PACKAGE)


def user_line() -> Line:
    """Returns file and line of the innermost caller outside of this package, numpy and Python's library."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (_own(frame) or _library(frame.f_code.co_filename)):
        frame = frame.f_back
    # A file name may not be valid text. Its odd bytes are escaped, so that they go no further.
    return frame.f_code.co_filename.encode(errors="backslashreplace").decode(), frame.f_lineno


def callers(traceback: TracebackType | None) -> TracebackType | None:
    """Returns the traceback without frames of this package, or the whole one if the environment asks for it."""
    if os.environ.get("RINGMILL_TRACEBACK") == "full":
        return traceback
    entries = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    kept: TracebackType | None = None
    for entry in reversed(entries):
        if not _own(entry.tb_frame):
            kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept


def public(function: F) -> F:
    """Decorates a public function: the traceback of a refusal shows no frame of the package."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except RingmillError as error:
            error.__traceback__ = callers(error.__traceback__)
            raise

    return call  # type: ignore[return-value]

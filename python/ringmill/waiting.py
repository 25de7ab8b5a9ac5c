# SPDX-License-Identifier: Apache-2.0
"""Shows that long work goes on, by a line on a terminal or in a notebook that disappears at the end."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ringmill.notebook import in_notebook

LONG = 2.0
"""The seconds after which the line appears."""

_TICK = 0.5


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Names the work and its seconds once it takes long. Nothing shows if nobody reads standard error.

    >>> with waiting("compiling f"):
    ...     pass
    """
    if not (sys.stderr is not None and (sys.stderr.isatty() or in_notebook())):
        yield
        return
    ended = threading.Event()
    line = threading.Thread(target=_shown, args=(what, ended), daemon=True)
    line.start()
    try:
        yield
    finally:
        ended.set()
        line.join()


def _shown(what: str, ended: threading.Event) -> None:
    begin, width = time.monotonic(), 0
    pause = LONG
    while not ended.wait(pause):
        text = f"{what}, {time.monotonic() - begin:.0f} s"
        width = max(width, len(text))
        _write(f"\r{text:{width}}")
        pause = _TICK
    if width:
        _write(f"\r{'':{width}}\r")


def _write(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)

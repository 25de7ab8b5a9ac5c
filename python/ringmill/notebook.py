# SPDX-License-Identifier: Apache-2.0
"""Shows the progress of a run in a notebook, as a line that is overwritten, since there is no terminal for a bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Show = Callable[[str, int, int, float, "float | None"], None]


def in_notebook() -> bool:
    """Returns whether a kernel of Jupyter runs this code. Its standard error is no terminal, but people read it."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return any(kind.__name__ == "ZMQInteractiveShell" for kind in type(shell).__mro__)


@contextmanager
def shown(progress: bool) -> Iterator[bool | Show]:
    """Yields the `progress` argument of a run. In a notebook it is a function, whose line disappears afterwards."""
    if not progress or not in_notebook():
        yield progress
        return
    width = 0

    def show(stage: str, done: int, total: int, elapsed: float, left: float | None) -> None:
        nonlocal width
        estimate = "estimating" if left is None else f"about {left:.1f} s left"
        line = f"{stage} {done}/{total}  {elapsed:.0f} s elapsed, {estimate}"
        _write(f"\r{line:{width}}")
        width = max(width, len(line))

    try:
        yield show
    finally:
        if width:
            _write(f"\r{'':{width}}\r")


def _write(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)

# SPDX-License-Identifier: Apache-2.0
"""A script that ends with :class:`Interrupted` ends as any does that Ctrl-C stopped: by SIGINT, status 130 in a shell.

Python itself does so for ``KeyboardInterrupt`` alone; one of its subclasses is an error to it, and status 1.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
from types import TracebackType

from ringmill.errors import Interrupted


def install() -> None:
    """Sees to it, for the process."""
    before = sys.excepthook
    ended = False

    def uncaught(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        nonlocal ended
        ended = issubclass(kind, Interrupted)
        before(kind, error, traceback)

    def end() -> None:
        if not ended:
            return
        for stream in (sys.stdout, sys.stderr):
            # There may be none, or nobody reading.
            with contextlib.suppress(Exception):
                stream.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)

    sys.excepthook = uncaught
    # Registered early, it is done late.
    atexit.register(end)

# SPDX-License-Identifier: Apache-2.0
"""Makes a script that ends with :class:`Interrupted` end like any script that Ctrl-C stopped: by SIGINT, status 130 in
a shell.

Python itself does so for ``KeyboardInterrupt`` alone. For its subclasses it exits like for an error, with status 1.
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
    """Installs the behaviour for the process."""
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
            # There may be no stream, or nobody who reads it.
            with contextlib.suppress(Exception):
                stream.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)

    sys.excepthook = uncaught
    # atexit runs functions in reverse order, so an early registration runs late.
    atexit.register(end)

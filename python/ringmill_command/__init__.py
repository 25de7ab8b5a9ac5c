# SPDX-License-Identifier: Apache-2.0
"""The start of the ``ringmill`` command, in a package of its own that imports quickly.

Importing ``ringmill`` takes a while. Ctrl-C in that time ends the command with status 130, too.
"""

from __future__ import annotations

import os
import signal
from types import FrameType

INTERRUPTED = 130


def main() -> int:
    """Runs the command of this process, and gives its exit status."""
    # A shell that starts the command in the background has it ignore Ctrl-C.
    listens = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if listens:
        signal.signal(signal.SIGINT, _end)
    from ringmill.cli import main as command

    if listens:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return command()


def _end(number: int, frame: FrameType | None) -> None:
    """Ends the process at once. As an exception, Ctrl-C might become another exception in a module that is half
    imported.
    """
    os.write(2, b"ringmill: interrupted\n")
    os._exit(INTERRUPTED)

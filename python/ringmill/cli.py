# SPDX-License-Identifier: Apache-2.0
"""The ``ringmill`` command of the Python package: the Rust command, which here also takes programs as .py files."""

from __future__ import annotations

import contextlib
import os
import sys

from ringmill._ringmill import cli_main
from ringmill.source import for_command
from ringmill_command import INTERRUPTED


def main(arguments: list[str] | None = None) -> int:
    """Runs the command and returns its exit status, which is 130 after Ctrl-C.

    Without arguments it is the process's own command. If it is interrupted, the process ends here: an abandoned thread
    may still be in the interpreter, and a normal exit would then sometimes abort the process.
    """
    try:
        status = _run(arguments)
    except KeyboardInterrupt:
        print("ringmill: interrupted", file=sys.stderr)
        status = INTERRUPTED
    if arguments is None and status == INTERRUPTED:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(status)
    return status


def _run(arguments: list[str] | None) -> int:
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    # If a standard stream is closed, the next file to be opened would take its place and receive its output.
    for stream in range(3):
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    return cli_main(["ringmill", *arguments], for_command)

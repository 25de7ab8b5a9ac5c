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
    """Runs the command and gives its exit status; Ctrl-C is status 130, wherever it comes.

    Without arguments it is the process's own command, and an interrupted one ends the process here: a thread that is
    left behind may be in the interpreter still, and taking that down around it aborts the process now and then.
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
    # A file opened while a standard stream is closed would take its place, and be written to.
    for stream in range(3):
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    return cli_main(["ringmill", *arguments], for_command)

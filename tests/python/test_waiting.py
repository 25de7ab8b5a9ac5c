# SPDX-License-Identifier: Apache-2.0
"""Tests that long commands show on a terminal that they go on, and show nothing where standard error is no terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

from conftest import COMMAND, ROOT

# It runs long before its first table is done.
LONG = [COMMAND, "reproduce", "vector", "--no-synth"]
QUIET = {
    **{"cwd": ROOT, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL},
    "env": {**os.environ, "TERM": "xterm"},
}
SECONDS = 60


def until(descriptor: int, text: str) -> str:
    """Returns what a terminal shows until a text comes, or until the time is over."""
    seen, end = "", time.monotonic() + SECONDS
    while text not in seen and time.monotonic() < end:
        ready, _, _ = select.select([descriptor], [], [], 1)
        if ready:
            seen += os.read(descriptor, 4096).decode(errors="replace")
    return seen


def test_reproduce_says_that_it_goes_on():
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))
    running = subprocess.Popen(LONG, stderr=end, **QUIET)
    try:
        seen = until(terminal, "reproducing the tables of vector")
        assert running.poll() is None
        assert "reproducing the tables of vector" in seen
    finally:
        running.kill()
        running.wait()
        os.close(end)
        os.close(terminal)


def test_without_a_terminal_nothing_is_shown():
    running = subprocess.Popen(LONG, stderr=subprocess.PIPE, **QUIET)
    try:
        time.sleep(2)
    finally:
        running.kill()
        _, said = running.communicate()
    assert said == b""

"""Progress shows on a terminal, in long runs, unless it is turned off."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest

# Enough rotations on one thread to last seconds; y keeps them from being folded into one.
SCRIPT = """
import sys
import numpy as np
import ringmill as rm

@rm.program
def walk(x: rm.Encrypted, y: rm.Encrypted):
    for _ in range(int(sys.argv[1])):
        x = (x << 1) + y
    return x

params = rm.params("set1", table="standard_2018")
compiled = walk.compile(params, ranges={"x": 0, "y": 0})
inputs = compiled.keygen().encrypt(x=np.zeros(params.slots), y=np.zeros(params.slots))
compiled.run(inputs, device="cpu:1", progress=sys.argv[2] == "on")
"""


def said_on_a_terminal(rotations: int, progress: str) -> str:
    """What the script says on standard error when that is a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))
    script = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(rotations), progress], stderr=theirs, env={**os.environ, "TERM": "xterm"}
    )
    os.close(theirs)
    said = b""
    try:
        while chunk := os.read(ours, 4096):
            said += chunk
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert script.wait(timeout=300) == 0, said
    return said.decode()


def test_long_runs_show_an_estimate():
    said = said_on_a_terminal(10000, "on")
    assert "running" in said
    assert "s left" in said


@pytest.mark.parametrize(("rotations", "progress"), [(10000, "off"), (1, "on")], ids=["off", "short"])
def test_nothing_shows_unasked(rotations, progress):
    assert said_on_a_terminal(rotations, progress) == ""


def test_nothing_shows_where_there_is_no_terminal():
    done = subprocess.run([sys.executable, "-c", SCRIPT, "1000", "on"], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")

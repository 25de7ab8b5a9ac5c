# SPDX-License-Identifier: Apache-2.0
"""Progress shows on a terminal and in a notebook, in long runs, unless it is turned off."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from types import SimpleNamespace

import pytest

import ringmill as rm
from ringmill import waiting as line
from ringmill.notebook import shown

# As many rotations on one thread as last the given number of seconds: the script measures a few first. The addition of
# y keeps the compiler from folding the rotations into one.
SCRIPT = """
import sys
import time
import numpy as np
import ringmill as rm

def walk(rotations):
    @rm.program
    def rotate(x: rm.Encrypted, y: rm.Encrypted):
        for _ in range(rotations):
            x = (x << 1) + y
        return x
    return rotate.compile(params, ranges={"x": 0, "y": 0})

def seconds_of(compiled, progress):
    inputs = compiled.keygen().encrypt(x=np.zeros(params.slots), y=np.zeros(params.slots))
    start = time.perf_counter()
    compiled.run(inputs, device="cpu:1", progress=progress)
    return time.perf_counter() - start

params = rm.params("set1", table="standard_2018")
rotations = int(float(sys.argv[1]) * 200 / seconds_of(walk(200), False)) if float(sys.argv[1]) else 1
seconds_of(walk(rotations), sys.argv[2] == "on")
"""


# What a kernel of Jupyter has: a shell of this name, and standard error that is no terminal.
KERNEL = """
import sys
from types import SimpleNamespace

class ZMQInteractiveShell:
    pass

sys.modules["IPython"] = SimpleNamespace(get_ipython=ZMQInteractiveShell)
"""


def said_on_a_terminal(seconds: float, progress: str) -> str:
    """What the script says on standard error when that is a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))
    script = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(seconds), progress], stderr=theirs, env={**os.environ, "TERM": "xterm"}
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
    said = said_on_a_terminal(3, "on")
    assert "running" in said
    assert "s left" in said


@pytest.mark.parametrize(("seconds", "progress"), [(3, "off"), (0, "on")], ids=["off", "short"])
def test_nothing_shows_unasked(seconds, progress):
    assert said_on_a_terminal(seconds, progress) == ""


def test_nothing_shows_where_there_is_no_terminal():
    done = subprocess.run([sys.executable, "-c", SCRIPT, "2", "on"], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")


def said_in_a_notebook(seconds: float, progress: str) -> str:
    script = [sys.executable, "-c", KERNEL + SCRIPT, str(seconds), progress]
    done = subprocess.run(script, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stderr.replace("\n", "|")  # text mode makes a new line of a carriage return


def test_a_notebook_shows_an_estimate_that_is_gone_afterwards():
    lines = said_in_a_notebook(3, "on").split("|")
    assert any("running" in line and "s left" in line for line in lines)
    assert lines[-2].strip() == lines[-1] == ""


def test_a_short_run_shows_nothing_in_a_notebook():
    assert said_in_a_notebook(0, "on") == ""


def test_a_line_is_written_over_by_the_next(monkeypatch, capsys):
    kernel = type("ZMQInteractiveShell", (), {})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=type("Shell", (kernel,), {})))
    with shown(True) as show:
        show("simulating", 90, 100, 9.0, 1.0)
        show("simulating", 9, 10, 9.0, None)
    with shown(False) as nothing:
        pass
    first, second = "simulating 90/100  9 s elapsed, about 1.0 s left", "simulating 9/10  9 s elapsed, estimating"
    assert capsys.readouterr().err == f"\r{first}\r{second:{len(first)}}\r{'':{len(first)}}\r"
    assert nothing is False
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    with shown(True) as bar:
        pass
    assert bar is True


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("long", "told"), [(0.1, r'\rcompiling "slow", \d+ s.*\r +\r'), (600, "")])
def test_a_long_compile_says_that_it_goes_on(monkeypatch, long, told):
    @rm.program
    def slow(x: rm.Encrypted[rm.real[3]]):
        time.sleep(0.5 if told else 0)
        return x

    monkeypatch.setattr(line, "LONG", long)
    monkeypatch.setattr(sys, "stderr", Terminal())
    slow.compile(input_bound=1)
    assert re.fullmatch(told, sys.stderr.getvalue(), re.DOTALL)


def test_a_long_compile_is_silent_without_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(line, "LONG", 0.0)
    with line.waiting("work"):
        time.sleep(0.05)
    assert capsys.readouterr().err == ""

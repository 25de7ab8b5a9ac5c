# SPDX-License-Identifier: Apache-2.0
"""What the tests share."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import ringmill as rm

ROOT = Path(__file__).resolve().parents[2]
COMMAND = str(Path(sys.executable).with_name("ringmill"))

# Small and quick, and insecure: the tests ask about results and errors, not about security.
SMALL = {"log_n": 11, "bits": [50, 40, 40, 40, 50], "allow_insecure_parameters_for_tests_only": True}

# A shell's background job ignores Ctrl-C, and so would all that the tests start; what is caught here is not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def small() -> rm.Params:
    """Ring degree 2^11, three levels."""
    return rm.params(**SMALL)


@pytest.fixture(scope="session")
def command():
    """Runs the command in the repository's root and gives what became of it."""

    def run(*arguments, **options):
        options = {"cwd": ROOT, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 300} | options
        return subprocess.run([COMMAND, *map(str, arguments)], text=True, errors="replace", **options)

    return run


@pytest.fixture(scope="session")
def ringmill(command):
    """Runs the command in the repository's root; gives what it printed, or what it said when it is to fail."""

    def run(*arguments, status=0):
        done = command(*arguments)
        assert done.returncode == status, done.stderr + done.stdout
        return done.stdout if status == 0 else done.stderr

    return run

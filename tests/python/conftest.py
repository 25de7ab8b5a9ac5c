# SPDX-License-Identifier: Apache-2.0
"""Fixtures that all Python tests share: the repository's root, small parameters, and the `ringmill` command."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import ringmill as rm

ROOT = Path(__file__).resolve().parents[2]
COMMAND = str(Path(sys.executable).with_name("ringmill"))

# Small, quick and insecure. The tests check results and errors, not security.
SMALL = {"log_n": 11, "bits": [50, 40, 40, 40, 50], "allow_insecure_parameters_for_tests_only": True}

# A shell starts background jobs with Ctrl-C ignored, and every process that the tests start would inherit that. A
# signal that has a handler is not inherited as ignored.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def small() -> rm.Params:
    """Parameters of ring degree 2^11 with three levels."""
    return rm.params(**SMALL)


@pytest.fixture(scope="session")
def command():
    """Returns a function that runs the command in the repository's root and returns the finished process."""

    def run(*arguments, **options):
        options = {"cwd": ROOT, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 300} | options
        return subprocess.run([COMMAND, *map(str, arguments)], text=True, errors="replace", **options)

    return run


@pytest.fixture(scope="session")
def ringmill(command):
    """Returns a function that runs the command in the repository's root and checks its exit status. The function
    returns standard output on success, else standard error.
    """

    def run(*arguments, status=0):
        done = command(*arguments)
        assert done.returncode == status, done.stderr + done.stdout
        return done.stdout if status == 0 else done.stderr

    return run

# SPDX-License-Identifier: Apache-2.0
"""Runs a test program. It fails by its exit status, by a test that fails, or by using too much time or memory."""

import contextlib
import math
import os
import resource
import signal
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from . import tree

_ROOM = 12 << 30
_FILE = 2 << 30


@dataclass(frozen=True)
class Outcome:
    """Whether all tests passed, and the processor time that they took."""

    passed: bool
    seconds: float


def run(command: list[str], folder: Path, variables: dict[str, str], seconds: float) -> Outcome:
    """Runs tests until the first of them fails. They may take `seconds` of processor time, and two minutes more than
    four times that by the clock.
    """
    with tempfile.TemporaryDirectory() as temporary:
        environment = os.environ | {
            "CARGO_MANIFEST_DIR": str(folder),
            "CARGO_TARGET_DIR": str(tree.TARGET),
            "RINGMILL_VENV": str(tree.ROOT / ".venv"),
            "RUST_BACKTRACE": "0",
            "TMPDIR": temporary,
            **variables,
        }
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
        limits = {resource.RLIMIT_AS: _ROOM, resource.RLIMIT_FSIZE: _FILE, resource.RLIMIT_CORE: 0}
        for kind, limit in (limits | {resource.RLIMIT_CPU: math.ceil(seconds)}).items():
            resource.prlimit(process.pid, kind, (limit, limit))
        # Other programs on the computer make a test wait for a processor, so the limit on the clock is generous.
        timer = threading.Timer(120 + 4 * seconds, _stop, [process])
        timer.start()
        failed = any(line.startswith("test ") and line.rstrip().endswith("FAILED") for line in process.stdout or [])
        if failed:
            _stop(process)
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        _stop(process)
        process.returncode = os.waitstatus_to_exitcode(status)
        return Outcome(not failed and status == 0, usage.ru_utime + usage.ru_stime)


def _stop(process: subprocess.Popen[str]) -> None:
    """Ends a process with all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)

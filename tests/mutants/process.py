# SPDX-License-Identifier: Apache-2.0
"""Does a test process pass? It fails by its status, by a test that fails, by the time and by the room it takes."""

import contextlib
import os
import resource
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

from . import tree
from .build import TARGET

_ROOM = 12 << 30
_FILE = 2 << 30


def run(command: list[str], folder: Path, variables: dict[str, str], seconds: float) -> bool:
    """Runs tests until the first fails, or for so many seconds, and returns whether all of them passed."""
    with tempfile.TemporaryDirectory() as temporary:
        environment = os.environ | {
            "CARGO_MANIFEST_DIR": str(folder),
            "CARGO_TARGET_DIR": str(TARGET),
            "RINGMILL_VENV": str(tree.ROOT / ".venv"),
            "RUST_BACKTRACE": "0",
            "TMPDIR": temporary,
            **variables,
        }
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
        for kind, limit in ((resource.RLIMIT_AS, _ROOM), (resource.RLIMIT_FSIZE, _FILE), (resource.RLIMIT_CORE, 0)):
            resource.prlimit(process.pid, kind, (limit, limit))
        timer = threading.Timer(seconds, _stop, [process])
        timer.start()
        try:
            assert process.stdout
            for line in process.stdout:
                if line.startswith("test ") and line.rstrip().endswith("FAILED"):
                    break
            else:
                return process.wait() == 0
            return False
        finally:
            timer.cancel()
            _stop(process)
            process.wait()


def _stop(process: subprocess.Popen[str]) -> None:
    """Ends a process with all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)

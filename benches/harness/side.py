# SPDX-License-Identifier: Apache-2.0
"""Runs a side: a process, pinned to given cores, that prepares groups of rows and times them on request."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any


class SideFailed(RuntimeError):
    """The error of a side that ended, or whose answer is no JSON."""


def pin(cores: Sequence[int]) -> None:
    """Keeps this process on these cores, if the system can."""
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, set(cores))


@dataclass
class Side:
    """The process of a side. Requests and answers are one line of JSON each (benches/README.md)."""

    name: str
    version: str
    command: list[str]
    cores: tuple[int, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    _process: subprocess.Popen[str] | None = field(default=None, repr=False)
    _errors: Any = field(default=None, repr=False)

    def ask(self, **request: Any) -> Any:
        """Returns the answer to a request. The first request, and the first after `close`, starts the process. Raises
        `SideFailed` if the process has ended or its answer is no JSON.
        """
        if self._process is None:
            self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the side
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
                env={**os.environ, **self.environment},
                preexec_fn=lambda: pin(self.cores),
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())
        except (OSError, ValueError) as error:
            self._errors.seek(0)
            lines = self._errors.read().strip().splitlines() or [str(error)]
            raise SideFailed(f"{self.name} failed at {request.get('do')}: {lines[-1]}") from error

    def time(self, row: str, count: int, calls: int) -> list[list[float]]:
        """Returns `count` samples of a row: the wall seconds and the processor seconds of a call, each the mean of
        `calls` calls.
        """
        return self.ask(do="time", row=row, count=count, calls=calls)

    def close(self) -> None:
        if self._process is None:
            return
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            # A process that has died does not read the rest of its input.
            with suppress(BrokenPipeError):
                if stream is not None:
                    stream.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

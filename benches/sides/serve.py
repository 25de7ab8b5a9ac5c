# SPDX-License-Identifier: Apache-2.0
"""The common part of the sides written in Python: it answers requests on standard input, and times rows.

It runs on any Python from 3.10 on and needs only the standard library. `benches/README.md` has the protocol.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

# The largest error of a decrypted result that counts as right.
TOLERANCE = 1e-6


class Group:
    """A group of rows that are ready to be timed, with the checks of their results and further facts."""

    def __init__(self) -> None:
        self.runs: dict[str, Callable[[], Any]] = {}
        self.equal: dict[str, bool] = {}
        self.facts: dict[str, Any] = {}
        # The seconds of a call, by row, that the Python binding takes and not the library. They are subtracted.
        self.overhead: dict[str, float] = {}

    def describe(self) -> dict[str, Any]:
        return {"rows": list(self.runs), "equal": self.equal, "facts": self.facts}

    def time(self, row: str, count: int, calls: int) -> list[tuple[float, float]]:
        """Measures `count` samples, after one call that is not timed. Returns for each the wall seconds and the
        processor seconds of a call, as the mean of `calls` calls.
        """
        run = self.runs[row]
        extra = self.overhead.get(row, 0.0)
        run()
        times = []
        for _ in range(count):
            wall, processor = time.perf_counter(), time.process_time()
            for _ in range(calls):
                run()
            processor, wall = time.process_time() - processor, time.perf_counter() - wall
            times.append((wall / calls - extra, processor / calls - extra))
        return times


def fastest(run: Callable[[], Any], count: int = 20) -> float:
    """Returns the seconds of the fastest of `count` calls."""
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times)


def operands(slots: int) -> tuple[list[float], list[float]]:
    """Returns the values of the two operands."""
    return [i % 17 / 17 - 0.5 for i in range(slots)], [i % 23 / 23 for i in range(slots)]


def close(found: list[float], expected: list[float], tolerance: float = TOLERANCE) -> bool:
    """Returns whether all differences of two vectors are below the tolerance. Raises an error for unequal lengths."""
    pairs = zip(found, expected, strict=True)
    return all(abs(x - y) < tolerance for x, y in pairs)


def serve(make: Callable[[dict[str, Any]], Group]) -> None:
    """Answers requests until standard input ends; `make` makes the group that an `open` asks for."""
    group = Group()
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "open":
            group = make(request)
            answer: Any = group.describe()
        else:
            answer = group.time(request["row"], request["count"], request["calls"])
        print(json.dumps(answer), flush=True)

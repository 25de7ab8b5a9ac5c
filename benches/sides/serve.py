# SPDX-License-Identifier: Apache-2.0
"""What every side written in Python shares: rows that are timed when a line on standard input says so.

Runs on any Python from 3.10 on and needs nothing but the standard library. `benches/README.md` has the protocol.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

# A decrypted result may differ from the plaintext's by this much.
TOLERANCE = 1e-6


class Group:
    """Rows ready to be timed, and what was found out while making them ready."""

    def __init__(self) -> None:
        self.runs: dict[str, Callable[[], Any]] = {}
        self.equal: dict[str, bool] = {}
        self.facts: dict[str, Any] = {}
        # Seconds a call that are the binding's and not the library's, by row.
        self.overhead: dict[str, float] = {}

    def describe(self) -> dict[str, Any]:
        return {"rows": list(self.runs), "equal": self.equal, "facts": self.facts}

    def time(self, row: str, count: int, calls: int) -> list[tuple[float, float]]:
        """Wall and processor seconds a call, `count` times, each the mean of `calls` calls, after one not timed."""
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
    """Seconds of the fastest of some calls."""
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times)


def operands(slots: int) -> tuple[list[float], list[float]]:
    """The values of the two ciphertexts."""
    return [i % 17 / 17 - 0.5 for i in range(slots)], [i % 23 / 23 for i in range(slots)]


def close(found: list[float], expected: list[float], tolerance: float = TOLERANCE) -> bool:
    """Whether two vectors agree."""
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

# SPDX-License-Identifier: Apache-2.0
"""Runs a build by cargo and shows how far it is: crates done of all, the time it took, and about what is left.

    release/watch_build.py COMMAND [ARGUMENT]...

What the command prints is kept back, and printed where it fails. On a terminal one line is written again and again;
into a file a line goes every 20 seconds.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from itertools import pairwise

# What cargo's own bar says, where it is asked for one: `Building [====>   ] 103/167: ring, math`.
BAR = re.compile(r"\[[=> ]*\] (\d+)/(\d+)")
# The share of a whole build's time that had passed, on two cores, when that share of the crates was done. The last ones
# are Ringmill's own and take the longest.
CURVE = ((0.0, 0.0), (0.4, 0.2), (0.8, 0.48), (0.9, 0.67), (0.98, 0.84), (0.996, 0.92), (1.0, 1.0))
# Crates that are done within the first seconds were built before.
FRESH = 3.0
# Below this share of the time an estimate is a guess.
SOON = 0.04
EVERY = 20.0
KEPT = 400


def share(done: int, total: int) -> float:
    """The share of the build's time that has passed when so many of its crates are done."""
    x = done / total
    for (x0, y0), (x1, y1) in pairwise(CURVE):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return CURVE[-1][1]


def span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def line(fresh: int, done: int, total: int, elapsed: float) -> str:
    """How far the build is; `fresh` of its crates were built before it."""
    begun = share(fresh, total)
    passed = (share(done, total) - begun) / (1 - begun) if fresh < total else 1.0
    rest = elapsed * (1 - passed) / max(passed, SOON)
    left = "too early to say what is left" if passed < SOON else f"about {span(rest)} left"
    return f"{done} of {total} crates, {span(elapsed)}, {left}"


def states(pieces: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Crates done and all, each time that cargo says so."""
    for piece in pieces:
        if found := BAR.search(piece):
            yield int(found[1]), int(found[2])


class Said:
    """What a command says, piece by piece; all of it but cargo's bar is kept."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def pieces(self, output: Iterable[bytes]) -> Iterator[str]:
        """The lines of the output, and cargo's bars, which end without one."""
        rest = ""
        for chunk in output:
            *whole, rest = re.split(r"[\r\n]", rest + chunk.decode(errors="replace"))
            for piece in whole:
                if not BAR.search(piece) and piece.strip():
                    self.lines.append(piece)
                    del self.lines[:-KEPT]
                yield piece
        if rest.strip():
            self.lines.append(rest)


def main(command: list[str]) -> int:
    terminal = sys.stderr.isatty()
    asks = {"CARGO_TERM_PROGRESS_WHEN": "always", "CARGO_TERM_PROGRESS_WIDTH": "80", "CARGO_TERM_COLOR": "never"}
    begin = time.monotonic()
    child = subprocess.Popen(
        command, env=os.environ | asks, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    output = child.stdout
    assert output is not None
    said, at, ended = Said(), [0, 0, 0], threading.Event()

    def read() -> None:
        chunks = iter(lambda: os.read(output.fileno(), 1 << 16), b"")
        for done, total in states(said.pieces(chunks)):
            fresh = done if time.monotonic() - begin < FRESH else at[0]
            at[:] = fresh, done, total
        ended.set()

    threading.Thread(target=read, daemon=True).start()
    while not ended.wait(1.0 if terminal else EVERY):
        text = line(*at, time.monotonic() - begin) if at[2] else "asking what has to be built"
        begins, ends = ("\r\033[K  ", "") if terminal else ("  ", "\n")
        print(f"{begins}{text}", end=ends, file=sys.stderr, flush=True)
    status = child.wait()
    if terminal:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    if status:
        print("\n".join(said.lines), file=sys.stderr)
    else:
        print(f"  done in {span(time.monotonic() - begin)}", file=sys.stderr)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        # The command, which hears of it too, ends by itself.
        sys.exit(130)

# SPDX-License-Identifier: Apache-2.0
"""Measures a row on several sides in turns: A B C, A B C, ... so that all meet the same machine."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.side import Side

# Turns of each side, seconds a turn is meant to last, samples in a turn, and seconds a sample lasts at least.
TURNS = 7
TURN_SECONDS = 0.025
SAMPLES = range(2, 41)
SAMPLE_SECONDS = 50e-6
# A call that lasts so many seconds is sampled once a turn, in fewer turns.
LONG_SECONDS, LONG_TURNS = 1.0, 3
# Of the median: no sample that was counted whole is so short.
LEAST = 0.25


# The columns of a sample.
CLOCKS = {"wall": 0, "processor": 1}
Sample = tuple[float, float]


@dataclass(frozen=True)
class Times:
    """The samples of one side, wall and processor seconds."""

    samples: tuple[Sample, ...]

    def of(self, clock: str) -> list[float]:
        return [sample[CLOCKS[clock]] for sample in self.samples]

    def fastest(self, clock: str) -> float:
        """Without samples that a virtual machine's clock did not count whole: less than `LEAST` of the median."""
        least = LEAST * self.median(clock)
        return min(sample for sample in self.of(clock) if sample >= least)

    def median(self, clock: str) -> float:
        return statistics.median(self.of(clock))

    def cores(self) -> float:
        """Most processor seconds a wall second of any sample: how many cores the system really gave."""
        return max(processor / wall for wall, processor in self.samples)

    def record(self) -> dict[str, Any]:
        """How many samples there are, and by each clock the fastest of them and their median."""
        return {
            "samples": len(self.samples),
            "cores": round(self.cores(), 3),
            **{clock: {"min_us": us(self.fastest(clock)), "median_us": us(self.median(clock))} for clock in CLOCKS},
        }


def us(seconds: float) -> float:
    return round(seconds * 1e6, 3)


def plan(pilot: float) -> tuple[int, int]:
    """Samples a turn and calls a sample, for a call of about `pilot` seconds."""
    calls = max(1, math.ceil(SAMPLE_SECONDS / pilot))
    count = round(TURN_SECONDS / (pilot * calls))
    least = 1 if pilot >= LONG_SECONDS else SAMPLES.start
    return min(max(count, least), SAMPLES.stop - 1), calls


def pilot(side: Side, row: str) -> float:
    """About the seconds of a call: the least of a few, or one that is long."""
    first = side.time(row, 1, 1)[0][0]
    again = [] if first >= LONG_SECONDS else [wall for wall, _ in side.time(row, 2, 1)]
    return max(min([first, *again]), 1e-9)


def interleave(sides: Sequence[tuple[Side, str]], turns: int = TURNS) -> list[Times]:
    """The times of each (side, name of the row there), in the given order."""
    pilots = [pilot(side, row) for side, row in sides]
    plans = [plan(seconds) for seconds in pilots]
    if max(pilots) >= LONG_SECONDS:
        turns = min(turns, LONG_TURNS)
    samples: list[list[Sample]] = [[] for _ in sides]
    for _ in range(turns):
        for (side, row), (count, calls), found in zip(sides, plans, samples, strict=True):
            found.extend((wall, processor) for wall, processor in side.time(row, count, calls))
    return [Times(tuple(found)) for found in samples]

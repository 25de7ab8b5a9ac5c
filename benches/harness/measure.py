# SPDX-License-Identifier: Apache-2.0
"""Measures a row on several sides in turns (A B C, A B C, ...), so that all sides meet the same conditions."""

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
# A call of at least LONG_SECONDS is sampled once a turn. If one side has such a call, all sides have LONG_TURNS turns.
LONG_SECONDS, LONG_TURNS = 1.0, 3
# Samples shorter than this share of the median are dropped, since their time was not counted whole.
LEAST = 0.25


# The columns of a sample.
CLOCKS = {"wall": 0, "processor": 1}
Sample = tuple[float, float]


@dataclass(frozen=True)
class Times:
    """The samples of one side: pairs of wall seconds and processor seconds."""

    samples: tuple[Sample, ...]

    def of(self, clock: str) -> list[float]:
        return [sample[CLOCKS[clock]] for sample in self.samples]

    def fastest(self, clock: str) -> float:
        """Returns the fastest sample. Samples below `LEAST` of the median are left out, since a virtual machine's clock
        did not count them whole.
        """
        least = LEAST * self.median(clock)
        return min(sample for sample in self.of(clock) if sample >= least)

    def median(self, clock: str) -> float:
        return statistics.median(self.of(clock))

    def cores(self) -> float:
        """Returns the largest ratio of processor seconds to wall seconds in a sample: the number of cores that the
        system really gave.
        """
        return max(processor / wall for wall, processor in self.samples)

    def record(self) -> dict[str, Any]:
        """Returns the number of samples, the cores that they had, and by each clock the fastest of them and their
        median, in microseconds.
        """
        return {
            "samples": len(self.samples),
            "cores": round(self.cores(), 3),
            **{clock: {"min_us": us(self.fastest(clock)), "median_us": us(self.median(clock))} for clock in CLOCKS},
        }


def us(seconds: float) -> float:
    return round(seconds * 1e6, 3)


def plan(pilot: float) -> tuple[int, int]:
    """Returns the samples in a turn and the calls in a sample, for a call of about `pilot` seconds."""
    calls = max(1, math.ceil(SAMPLE_SECONDS / pilot))
    count = round(TURN_SECONDS / (pilot * calls))
    least = 1 if pilot >= LONG_SECONDS else SAMPLES.start
    return min(max(count, least), SAMPLES.stop - 1), calls


def pilot(side: Side, row: str) -> float:
    """Measures about how many seconds a call takes: the least of three calls, or the first call if it is long."""
    first = side.time(row, 1, 1)[0][0]
    again = [] if first >= LONG_SECONDS else [wall for wall, _ in side.time(row, 2, 1)]
    return max(min([first, *again]), 1e-9)


def interleave(sides: Sequence[tuple[Side, str]], turns: int = TURNS) -> list[Times]:
    """Measures rows on several sides in turns. Returns the times of each pair of a side and a row's name there, in the
    given order.
    """
    pilots = [pilot(side, row) for side, row in sides]
    plans = [plan(seconds) for seconds in pilots]
    if max(pilots) >= LONG_SECONDS:
        turns = min(turns, LONG_TURNS)
    samples: list[list[Sample]] = [[] for _ in sides]
    for _ in range(turns):
        for (side, row), (count, calls), found in zip(sides, plans, samples, strict=True):
            found.extend((wall, processor) for wall, processor in side.time(row, count, calls))
    return [Times(tuple(found)) for found in samples]

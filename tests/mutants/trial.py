# SPDX-License-Identifier: Apache-2.0
"""Runs the tests that reach a fault, and tells which package's tests catch it."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from .fault import Fault
from .suite import Suite


@dataclass(frozen=True)
class Verdict:
    """What the tests say of a fault: the crate whose tests catch it, or none, and how many tests reach it."""

    number: int
    fault: Fault
    caught: str | None
    tests: int


def judge(suite: Suite, faults: dict[int, Fault], workers: int) -> Iterator[Verdict]:
    """Yields the verdict on each fault in order, and prints each as soon as it is known."""

    def one(number: int) -> Verdict:
        fault = faults[number]
        reaching = suite.reaching(number, fault.crate)
        caught = next((p.crate for p, tests in reaching if not suite.passes(p, tests, number)), None)
        tests = sum(len(tests) for _, tests in reaching)
        verdict = f"caught by {caught}" if caught else f"LIVES, {tests} tests reach it"
        print(f"{number:4} {fault}: {verdict}", file=sys.stderr, flush=True)
        return Verdict(number, fault, caught, tests)

    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(one, faults)

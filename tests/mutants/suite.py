# SPDX-License-Identifier: Apache-2.0
"""Measures the tests without a fault: which pass, the time that each takes, and the faults that it reaches."""

import hashlib
import json
import subprocess
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from . import switch, tree
from .process import run
from .program import Program

# A test that takes longer without a fault is left out.
_PATIENCE = 900.0


@dataclass(frozen=True)
class Test:
    """A test that passes without a fault, its processor time, and the numbers of the faults that it reaches."""

    name: str
    seconds: float
    reached: frozenset[int]


class Suite:
    """The tests of the workspace. Tests of one program share folders, so each program runs one process at a time."""

    def __init__(self, programs: Iterable[Program]) -> None:
        self.programs = list(programs)
        self.tests: dict[Program, list[Test]] = {}
        self.failed: list[str] = []
        self._locks: dict[Program, threading.Lock] = defaultdict(threading.Lock)

    def measure(self, workers: int) -> None:
        """Runs each test in a process of its own without a fault. Measurements are kept in a file for programs that
        have not changed.
        """
        store = tree.WORK / "measured.json"
        known = json.loads(store.read_text()) if store.is_file() else {}
        wanted = {program: hashlib.sha256(program.path.read_bytes()).hexdigest() for program in self.programs}
        with ThreadPoolExecutor(workers) as pool:
            fresh = [program for program in self.programs if wanted[program] not in known]
            for program, rows in zip(fresh, pool.map(self._measure, fresh), strict=True):
                known[wanted[program]] = rows
                store.write_text(json.dumps(known))
        store.write_text(json.dumps({digest: known[digest] for digest in wanted.values()}))
        for program in self.programs:
            rows = known[wanted[program]]
            self.tests[program] = [Test(name, s, frozenset(reached)) for name, s, reached in rows if s is not None]
            self.failed += [f"{program.crate}: {name}" for name, s, _ in rows if s is None]

    def reaching(self, number: int, crate: str) -> list[tuple[Program, list[Test]]]:
        """Returns the tests that reach a fault in batches: first those of its crate, then by time."""
        found = []
        for program, tests in self.tests.items():
            chosen = [test for test in tests if number in test.reached]
            found += [(program, batch) for batch in _batches(chosen)]
        return sorted(found, key=lambda item: (item[0].crate != crate, sum(t.seconds for t in item[1])))

    def passes(self, program: Program, tests: list[Test], number: int) -> bool:
        """Runs tests with a fault until one fails, and returns whether all pass. Tests fail if they take more than 30 s
        and six times their time without a fault.
        """
        limit = 30 + 6 * sum(test.seconds for test in tests)
        command = [str(program.path), "--exact", "--test-threads=1", *(test.name for test in tests)]
        with self._locks[program]:
            return run(command, program.folder, {switch.CHOSEN: str(number)}, limit).passed

    def _measure(self, program: Program) -> list[tuple[str, float | None, list[int]]]:
        return [self._measured(program, name) for name in _names(program)]

    def _measured(self, program: Program, name: str) -> tuple[str, float | None, list[int]]:
        with tempfile.TemporaryDirectory() as folder:
            reached = Path(folder) / "reached"
            command = [str(program.path), "--exact", name]
            outcome = run(command, program.folder, {switch.REACHED: str(reached)}, _PATIENCE)
            numbers = {int(line) for line in reached.read_text().split()} if reached.is_file() else set()
        return name, round(outcome.seconds, 3) if outcome.passed else None, sorted(numbers)


def _batches(tests: list[Test]) -> Iterator[list[Test]]:
    """Yields the quicker half of the tests, then the quicker half of the others, and so on. They catch most faults."""
    left = sorted(tests, key=lambda test: test.seconds)
    while left:
        half = (len(left) + 1) // 2 if len(left) > 4 else len(left)
        yield left[:half]
        left = left[half:]


def _names(program: Program) -> list[str]:
    """Returns the names of a program's tests, except for ignored ones."""

    def listed(*more: str) -> list[str]:
        command = [str(program.path), "--list", "--format=terse", *more]
        found = subprocess.run(command, cwd=program.folder, check=True, capture_output=True, text=True).stdout
        return [line.removesuffix(": test") for line in found.splitlines() if line.endswith(": test")]

    ignored = set(listed("--ignored"))
    return [name for name in listed() if name not in ignored]

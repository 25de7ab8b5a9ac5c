# SPDX-License-Identifier: Apache-2.0
"""`python -m mutants`: draws faults, builds the tests with all of them behind a switch, and runs the tests for each."""

import argparse
import os
import sys

from . import models
from .build import prepare
from .draw import draw
from .modules import crates, tested_by
from .report import as_json, as_text
from .suite import Suite
from .trial import judge


def main() -> None:
    """Draws, builds, measures, judges and reports."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="chooses the faults")
    parser.add_argument("--count", type=int, default=300, help="how many faults are drawn")
    parser.add_argument("--crates", nargs="+", choices=crates(), help="draw from these crates and run only their tests")
    parser.add_argument("--only", type=int, nargs="+", help="numbers of the faults of the draw that are tried")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--json", action="store_true", help="print all verdicts as JSON")
    asked = parser.parse_args()

    chosen = asked.crates or crates()
    drawn = [fault for fault in draw(asked.seed) if fault.crate in chosen]
    packages = [f"-p{package}" for crate in chosen for package in tested_by(crate)] if asked.crates else ["--workspace"]
    faults, programs = prepare(drawn, asked.count, packages)
    print(f"{len(faults)} faults compile; the tests run without one", file=sys.stderr, flush=True)
    models.lend()
    suite = Suite(programs)
    suite.measure(asked.workers)
    tried = {number: faults[number] for number in asked.only or faults}
    verdicts = list(judge(suite, tried, asked.workers))
    print((as_json if asked.json else as_text)(asked.seed, suite, verdicts))


main()

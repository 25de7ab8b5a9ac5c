# SPDX-License-Identifier: Apache-2.0
"""Measures whole programs beside OpenFHE, and counts their floors."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness import floors
from harness.groups import Run, Shape, having
from harness.rows import Row
from harness.tasks import PROGRAMS, WHOLE

# Primes of up to this many bits are in words of 32 bits, whose products no way of `floors` counts.
NARROW = 32


def programs(run: Run, rows: Sequence[Row]) -> None:
    """Measures each program on the same data on both sides, from encrypted inputs to encrypted outputs."""
    assert run.package is not None
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            run.progress(f"{row.id}: data, keys and ciphertexts of every side")
            file = Path(folder) / f"{row.case}.npz"
            WHOLE[row.case]().save(file)
            own = run.open([run.package], file=str(file)).get(run.package.name)
            if not run.equal(f"{row.id}, ours", own is not None and own["equal"][row.name]):
                continue
            answers = run.open(run.peers[row.group], file=str(file))
            facts = own["facts"]
            beside = list(having(run, row, answers))
            bits = sum(facts["primes"]) + sum(facts["special"])
            count = floor(facts.pop("instructions"), facts["log_n"], facts["primes"], run.rates["backend"])
            run.measure(row, beside, Shape(PROGRAMS[row.case], facts["log_n"], bits, count))
            for line, side in zip(run.rows[-max(1, len(beside)) :], beside or [None], strict=True):
                line["program"] = {"ours": facts, "peer": side and answers[side.name]["facts"]}


def floor(instructions: Mapping[str, int], log_n: int, bits: Sequence[int], level: str) -> floors.Count | None:
    """Returns the count of a program: the products in its transforms and in the limb instructions that multiply. A sum
    of products (`DOT`) counts as two products, a base extension as none. No bytes count, since a program with fewer
    primes reads only a part of a key. Returns None if a prime has up to 32 bits.
    """
    if min(bits) <= NARROW:
        return None
    n, of = 1 << log_n, instructions.get
    constants = (of("NTT", 0) + of("INTT", 0)) * floors.transform(n) + of("MULI", 0) * n
    dots, products = of("DOT", 0) * n, of("MUL", 0) * n
    return floors.Count(floors.works(min(bits), level, constants, products + 2 * dots, products + dots), 0)

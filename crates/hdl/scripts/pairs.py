# SPDX-License-Identifier: Apache-2.0
"""How many pairs of look-up tables of a Xilinx netlist share one place, as a placer puts them.

A table of six inputs also is two of five that have all their inputs in common, each with an output of its own; and one
that is a shift register of 32 is two of 16 with a common address. What a carry chain or a wide multiplexer reads has
its place to itself. Pairs are found greedily, the largest tables first, so a placer may find more.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict

TABLES = re.compile(r"LUT[1-6]$|INV$")
# Whose inputs come from a table in the same place.
TIED = {"CARRY4": "S", "CARRY8": "S", "MUXF7": "I", "MUXF8": "I"}
# Inputs that two tables have together.
MOST = 5
# How many of a net's readers are looked at, the last ones first.
LOOK = 64

Bit = int | str


def inputs(cell: dict) -> frozenset[int]:
    """The wires that a cell reads; constants are none."""
    sides = cell["port_directions"]
    wires = (bits for pin, bits in cell["connections"].items() if sides[pin] == "input")
    return frozenset(bit for bits in wires for bit in bits if not isinstance(bit, str))


def tied(cells: dict) -> set[Bit]:
    """Wires that must leave a table by its own output."""
    pins = ((cell, pin) for cell in cells.values() for pin in cell["connections"] if pin.startswith(of(cell)))
    return {bit for cell, pin in pins for bit in cell["connections"][pin]}


def of(cell: dict) -> str:
    """The pins of a cell that tie a table to it; no pin begins with a blank."""
    return TIED.get(cell["type"], " ")


def shifts(cells: dict) -> int:
    """Pairs of shift registers."""
    alike: Counter[tuple] = Counter()
    for cell in cells.values():
        if cell["type"] == "SRL16E":
            pins = cell["connections"]
            alike[tuple(tuple(pins[pin]) for pin in ("A0", "A1", "A2", "A3", "CE", "CLK"))] += 1
    return sum(count // 2 for count in alike.values())


def pairs(module: dict) -> int:
    """Of all tables of a module."""
    cells = module["cells"]
    alone = tied(cells)
    tables = [cell for cell in cells.values() if TABLES.match(cell["type"])]
    free = (inputs(cell) for cell in tables if cell["connections"]["O"][0] not in alone)
    small = sorted((wires for wires in free if len(wires) <= MOST), key=len)
    readers: defaultdict[int, list[int]] = defaultdict(list)
    for at, wires in enumerate(small):
        for bit in wires:
            readers[bit].append(at)
    taken = [False] * len(small)
    found = 0
    left: Counter[int] = Counter()
    for at in reversed(range(len(small))):
        if taken[at]:
            continue
        taken[at] = True
        near = (partner(small, taken, readers[bit], small[at]) for bit in small[at])
        best = max((other for other in near if other), default=None)
        if best is None:
            left[len(small[at])] += 1
        else:
            taken[best[2]] = True
            found += 1
    return found + strangers(left) + shifts(cells)


def partner(
    small: list[frozenset[int]], taken: list[bool], readers: list[int], wires: frozenset[int]
) -> tuple[int, int, int] | None:
    """Of a net's readers the one that shares most with a table: how much, its size, its number."""
    while readers and taken[readers[-1]]:
        readers.pop()
    best = None
    for at in readers[-LOOK:]:
        if not taken[at] and len(small[at] | wires) <= MOST:
            this = (len(small[at] & wires), len(small[at]), at)
            best = this if best is None else max(best, this)
    return best


def strangers(left: Counter[int]) -> int:
    """Pairs among tables that have nothing in common, by their sizes."""
    found = 0
    for large, less in ((4, 1), (3, 2), (3, 1), (2, 2), (2, 1), (1, 1)):
        some = left[large] // 2 if large == less else min(left[large], left[less])
        left[large] -= some
        left[less] -= some
        found += some
    return found

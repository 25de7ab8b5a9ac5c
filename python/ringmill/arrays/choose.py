# SPDX-License-Identifier: Apache-2.0
"""Chooses the layouts of all values of an array program together, for least cost, with bounded work.

Clients encrypt in any layout for nothing, so the layouts of inputs are what a choice decides. Each trial lowers the
whole program with them, and the operations in between take the cheapest way each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringmill.arrays.graph import Graph, Node
from ringmill.arrays.layout import Layout, power, repeated, usual
from ringmill.arrays.lower import Lowerer
from ringmill.arrays.moves import Placed

WORK = 6_000
"""The slot operations that a search emits before it takes the best that it has found: about a second."""

_LARGEST = 1 << 13  # more slots than this are taken only by request


@dataclass(frozen=True, eq=False)
class Choice:
    """A lowered program: the layouts of its inputs, and the laid out results."""

    lowerer: Lowerer
    inputs: dict[str, Layout]
    results: list[Placed]
    cost: float


def candidates(node: Node, slots: int) -> list[Layout]:
    """Returns layouts of an input that are worth a try, each with zeros behind it and repeated."""
    found: list[Layout] = []
    for layout in usual(node.shape, slots):
        again = repeated(layout)
        found += [layout] if again is None else [layout, again]
    return found


def choose(graph: Graph, roots: Sequence[Node], slots: int | None, work: int = WORK) -> Choice:
    """Returns the best lowering that a search finds: from the usual layouts, one input changes at a time.

    The search ends after so much `work`, which is the same on every machine.
    """
    used = list(graph.inputs.values())
    sizes = [padded(node.shape) for node in used] + [padded(root.shape) for root in roots]
    width = slots or min(_LARGEST, max(power(size) for size in sizes))
    options = {node.rest[0]: candidates(node, width) for node in used}
    best = _tried(graph, roots, width, {name: found[0] for name, found in options.items()})
    spent = best.lowerer.code.work
    tried = {_key(best.inputs)}
    changed = True
    while changed:
        changed = False
        for name, found in options.items():
            for layout in found:
                inputs = {**best.inputs, name: layout}
                if spent >= work or _key(inputs) in tried:
                    continue
                tried.add(_key(inputs))
                other = _tried(graph, roots, width, inputs)
                spent += other.lowerer.code.work
                if other.cost < best.cost * 0.999:
                    best, changed = other, True
    return best


def _key(layouts: dict[str, Layout]) -> tuple[int, ...]:
    return tuple(map(id, layouts.values()))


def padded(shape: Sequence[int]) -> int:
    """Returns the values of an array whose lengths are padded to powers of two."""
    return int(np.prod([power(length) for length in shape], dtype=np.int64))


def _tried(graph: Graph, roots: Sequence[Node], slots: int, layouts: dict[str, Layout]) -> Choice:
    lowerer = Lowerer(slots, graph.whole, layouts)
    results = [lowerer.place(root) for root in roots]
    live = {part for placed in results for part in placed.parts if part is not None}
    return Choice(lowerer, layouts, results, lowerer.code.cost(live))

# SPDX-License-Identifier: Apache-2.0
"""Chooses layouts for all values of an array program: in which slots of which ciphertexts they stand. The search is for
the least cost, and its work is bounded.

Clients encrypt in any layout at no cost, so the search varies the layouts of the inputs. Each trial lowers the whole
program with given layouts of the inputs. Every operation then takes the layout that is cheapest for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringmill.arrays import pins
from ringmill.arrays.graph import Graph, Node, in_order
from ringmill.arrays.layout import ZERO, Layout, filled, power, repeated, usual
from ringmill.arrays.lower import Lowerer
from ringmill.arrays.moves import Placed
from ringmill.arrays.slotwise import lacks_zero

WORK = 10_000
"""The work (:attr:`Code.work`) after which a search takes the best that it has found: about a second."""

MOST_SLOTS = 1 << 13  # more slots than this are taken only by request


@dataclass(frozen=True, eq=False)
class Choice:
    """A lowered program: the layouts of its inputs, and the laid out results."""

    lowerer: Lowerer
    inputs: dict[str, Layout]
    results: list[Placed]
    cost: float


def candidates(node: Node, slots: int, without_zero: bool = False) -> list[Layout]:
    """Returns layouts of an input that are worth a try: the usual ones, each with zeros behind the values and, if there
    is room, with the values repeated.

    With `without_zero` the first layouts have copies of the first value in place of zeros.
    """
    found: list[Layout] = []
    for layout in usual(node.shape, slots):
        again = repeated(layout)
        found += [layout] if again is None else [layout, again]
    return [*map(filled, found), *found] if without_zero else found


def choose(graph: Graph, roots: Sequence[Node], slots: int | None, work: int = WORK) -> Choice:
    """Returns the cheapest lowering that a search finds. It begins with the first candidate of each input, and
    changes one input at a time.

    The bound `work` counts operations (:attr:`Code.work`) and no time, so every computer finds the same lowering.
    """
    pinned = [node for node in in_order(roots) if node.op == "layout"]
    ends = [padded(node.shape) for node in (*graph.inputs.values(), *roots)] + [pins.span(node) for node in pinned]
    widths = [slots or min(MOST_SLOTS, max(map(power, ends)))]
    if slots is None and work:
        most = min(MOST_SLOTS, max(padded(node.shape) for node in in_order(roots)))
        widths += [most] if most > widths[0] else []
    found = [_searched(graph, roots, width, work // len(widths)) for width in widths]
    return min(found, key=lambda choice: choice.cost)


def _searched(graph: Graph, roots: Sequence[Node], width: int, work: int) -> Choice:
    # A series whose domain lacks 0 loses precision in slots of zero, so copies of values come first.
    without_zero = any(lacks_zero(node) for node in in_order(roots))
    options = {node.rest[0]: candidates(node, width, without_zero) for node in graph.inputs.values()}
    used = list(graph.inputs.values())
    for pin in [node for node in in_order(roots) if node.op == "layout"]:
        node = pins.of_input(pin)
        if node in used:
            options[node.rest[0]] = [pins.pinned(pin, width)]
            used.remove(node)
    best = _tried(graph, roots, width, {name: found[0] for name, found in options.items()})
    spent = best.lowerer.code.work
    tried = {_key(best.inputs)}
    # First each input takes what the operations ask for, then all candidates are tried.
    for most in (2, None):
        changed = True
        while changed:
            changed = False
            for node in used:
                name = node.rest[0]
                for layout in [*_wanted(best, node, width), *options[name]][:most]:
                    inputs = {**best.inputs, name: layout}
                    if spent >= work or _key(inputs) in tried:
                        continue
                    tried.add(_key(inputs))
                    other = _tried(graph, roots, width, inputs)
                    spent += other.lowerer.code.work
                    if other.cost < best.cost * 0.999:
                        best, changed = other, True
    return best


def _wanted(choice: Choice, node: Node, slots: int) -> list[Layout]:
    """Returns the layouts of an input in which some operations of this choice would need no moves."""
    code = choice.lowerer.code
    found = []
    for number, wishes in code.demands.items():
        if code.operations[number].rest[0] != node.rest[0]:
            continue
        for wish in wishes.values():
            if wish.size == slots and np.unique(wish[wish >= 0]).size == node.size:
                found.append(Layout(slots, np.where(wish >= 0, wish, ZERO)))
    return found


def _key(layouts: dict[str, Layout]) -> tuple[bytes, ...]:
    return tuple(layout.holds.tobytes() for layout in layouts.values())


def padded(shape: Sequence[int]) -> int:
    """Returns the number of values of an array whose lengths are padded to powers of two."""
    return int(np.prod([power(length) for length in shape], dtype=np.int64))


def _tried(graph: Graph, roots: Sequence[Node], slots: int, layouts: dict[str, Layout]) -> Choice:
    lowerer = Lowerer(slots, graph.whole, layouts)
    results = [lowerer.place(root) for root in roots]
    live = {part for placed in results for part in placed.parts if part is not None}
    return Choice(lowerer, layouts, results, lowerer.code.cost(live))

# SPDX-License-Identifier: Apache-2.0
"""Gives the values of a traced program a leading axis, so that many inputs share ciphertexts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ringmill.arrays import pins
from ringmill.arrays.choose import MOST_SLOTS, padded
from ringmill.arrays.graph import Graph, Node, in_order
from ringmill.arrays.layout import power
from ringmill.arrays.products import MOST_TERMS
from ringmill.arrays.value import Array

# Operations whose `rest` has a constant for each value, or an index of a plain argument's value.
_BESIDE = ("plus", "minus", "scale", "linear")


_SLOTS = 1 << 12  # of a ciphertext that many inputs share, at least: those of the smallest secure ring


def most_inputs(roots: Sequence[Node], graph: Graph, slots: int | None) -> tuple[int, int]:
    """Returns the number of slots of a ciphertext, and how many inputs share it if their values stand beside each
    other.
    """
    nodes = [*graph.inputs.values(), *in_order(roots)]
    widest = max(pins.span(node) if node.op == "layout" else padded(node.shape) for node in nodes)
    room = slots or max(_SLOTS, min(MOST_SLOTS, power(widest)))
    terms = max((index.size for node in nodes for _, index in node.operands), default=1)
    return room, max(1, min(room // power(widest), MOST_TERMS // max(terms, 1)))


def batched(graph: Graph, arrays: Sequence[Array], count: int) -> tuple[Graph, list[Array]]:
    """Returns the program on `count` inputs at once. Plain arguments and constants are the same for all of them."""
    made: dict[Node, Node] = {}
    many = Graph(graph.name, graph.whole, graph.line)
    for name, node in graph.inputs.items():
        made[node] = Node(node.op, (count, *node.shape), node.kind, (), node.line, node.rest)
        many.inputs[name] = made[node]
    for node in in_order(array._node for array in arrays):
        if node not in made:
            made[node] = _repeated(node, made, count)
    results = []
    for array in arrays:
        index = _shifted(array._index, array._node.size, count)
        results.append(Array(many, made[array._node], index, array._divisor))
    return many, results


def _repeated(node: Node, made: dict[Node, Node], count: int) -> Node:
    operands = []
    for operand, index in node.operands:
        shifted = _shifted(index, operand.size, count)
        operands.append((made[operand], shifted.ravel() if index.ndim == 1 and node.op not in _ROWS else shifted))
    rest = pins.batched(node) if node.op == "layout" else node.rest
    if node.op in _BESIDE:
        plain, factors = rest
        repeated = np.repeat(np.asarray(factors)[None], count, axis=0)
        rest = (plain, repeated.ravel() if np.ndim(factors) == 1 and node.op != "linear" else repeated)
    return Node(node.op, (count, *node.shape), node.kind, tuple(operands), node.line, rest)


_ROWS = ("sum", "linear", "products")


def _shifted(index: np.ndarray, size: int, count: int) -> np.ndarray:
    """Repeats an index into `size` values for `count` inputs, whose values follow each other input by input. -1 (zero)
    stays.
    """
    start = (np.arange(count) * size).reshape((count,) + (1,) * index.ndim)
    return np.where(index[None] >= 0, index[None] + start, -1)

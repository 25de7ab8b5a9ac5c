# SPDX-License-Identifier: Apache-2.0
"""Lowers the graph of an array program to slot operations."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ringmill.arrays import linear, pins, slotwise
from ringmill.arrays.code import Code
from ringmill.arrays.graph import Node, in_order
from ringmill.arrays.layout import Layout
from ringmill.arrays.moves import Placed


class Lowerer:
    """A lowering of a program to slot operations, with given layouts of the inputs."""

    def __init__(self, slots: int, whole: bool, inputs: Mapping[str, Layout]) -> None:
        self.code = Code(slots, whole)
        self._inputs = inputs
        self._placed: dict[Node, Placed] = {}

    def place(self, root: Node) -> Placed:
        """Lowers a node and all that it needs."""
        for node in in_order([root]):
            if node not in self._placed:
                self._placed[node] = self._lowered(node)
        return self._placed[root]

    @property
    def placed(self) -> Mapping[Node, Placed]:
        """The lowered nodes."""
        return self._placed

    def _lowered(self, node: Node) -> Placed:
        views = [(self._placed[operand], index) for operand, index in node.operands]
        code = self.code
        match node.op:
            case "input":
                return self._input(node)
            case "add" | "sub" | "mul":
                return slotwise.binary(code, node, *views)
            case "plus" | "minus" | "scale":
                return slotwise.with_values(code, node, views[0], *node.rest)
            case "linear":
                return linear.linear(code, node, views[0], *node.rest)
            case "sum":
                return linear.reduce(code, node, views[0])
            case "products":
                return linear.products(code, node, *views)
            case "join":
                return linear.joined(code, node, views)
            case "layout":
                return pins.lowered(code, node, views[0])
            case "neg" | "number" | "conj" | "two_real" | "bounded" | "polynomial" | "chebyshev" | "is_zero":
                return slotwise.unary(code, node, views[0][0])
            case _:
                raise AssertionError(f"no lowering of {node.op}")

    def _input(self, node: Node) -> Placed:
        name: str = node.rest[0]
        layout = self._inputs[name]
        parts: list[int | None] = []
        for number in range(layout.ciphertexts):
            span = layout.holds[number * layout.slots : (number + 1) * layout.slots]
            empty = bool((span < 0).all())
            parts.append(None if empty else self.code.emit("input", (), name, number, line=node.line))
        return Placed(tuple(parts), Layout(layout.slots, np.array(layout.holds)))

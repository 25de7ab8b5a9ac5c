# SPDX-License-Identifier: Apache-2.0
"""The graph of a traced array program: its operations on arrays, before their values have slots."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ringmill.frames import Line, user_line
from ringmill.types import Type


@dataclass(frozen=True, eq=False)
class Node:
    """An operation, the shape of its values, their element type, and the user's line.

    The operands are pairs of a node and an array that says which of its values each value of this node takes; -1 stands
    for zero. For operations that add values up, these arrays have one more axis, along which the added values stand.
    """

    op: str
    shape: tuple[int, ...]
    kind: Type
    operands: tuple[tuple[Node, np.ndarray], ...]
    line: Line
    rest: tuple[Any, ...] = ()
    number: int = field(default_factory=itertools.count().__next__)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))


def in_order(roots: Iterable[Node]) -> Iterator[Node]:
    """Yields all nodes that the roots need, each once and after its operands."""
    done: set[Node] = set()
    waiting = list(roots)[::-1]
    while waiting:
        node = waiting[-1]
        missing = [operand for operand, _ in node.operands if operand not in done]
        if node not in done and missing:
            waiting.extend(missing)
            continue
        waiting.pop()
        if node not in done:
            done.add(node)
            yield node


@dataclass(eq=False)
class Graph:
    """One trace of an array program."""

    name: str
    whole: bool
    line: Line
    inputs: dict[str, Node] = field(default_factory=dict)
    inside: list[object] = field(default_factory=list)

    def node(
        self,
        op: str,
        shape: tuple[int, ...],
        kind: Type,
        *operands: tuple[Node, np.ndarray],
        rest: tuple[Any, ...] = (),
    ) -> Node:
        """Returns a new operation at the user's line."""
        flat = tuple((node, np.ascontiguousarray(index, dtype=np.int64)) for node, index in operands)
        return Node(op, shape, kind, flat, user_line(), rest)

# SPDX-License-Identifier: Apache-2.0
"""Lowers operations value by value. Both operands are brought to one layout, and then one slot operation computes all
slots.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ringmill.arrays.code import Code
from ringmill.arrays.graph import Node
from ringmill.arrays.layout import RUBBISH, ZERO, Layout, usual
from ringmill.arrays.moves import Placed, arrange, chosen, masked
from ringmill.frames import Line

# An operand: a laid out value, and for each value of the result the number of the operand's value, or -1 for zero.
View = tuple[Placed, np.ndarray]


def natural(placed: Placed, index: np.ndarray) -> Layout | None:
    """Returns the layout in which the values of a view already lie, without a move. Returns None if the view takes one
    value several times.
    """
    values = np.flatnonzero(index >= 0)
    taken = index[values]
    owner = np.full(max(int(placed.layout.holds.max(initial=-1)), int(taken.max(initial=-1))) + 1, RUBBISH)
    owner[taken] = values
    if not (owner[taken] == values).all():
        return None
    layout = placed.layout
    holds = np.where(layout.holds >= 0, owner[np.maximum(layout.holds, 0)], layout.holds)
    return Layout(layout.slots, holds)


def targets(views: list[View], shape: tuple[int, ...], slots: int) -> Iterator[Layout]:
    """Yields layouts of a result that are worth a try."""
    size = int(np.prod(shape, dtype=np.int64))
    natives = [found for placed, index in views if (index >= 0).all() and (found := natural(placed, index))]
    for layout in natives:
        yield layout
        if layout.copies() > 1:
            yield layout.once()
    if not natives or size <= 1 << 12:
        yield from usual(shape, slots)


def wished(layout: Layout, index: np.ndarray) -> np.ndarray:
    """Returns what a view's operand must hold, for the view to have this layout."""
    holds = layout.holds
    return np.where(holds >= 0, index[np.maximum(holds, 0)], RUBBISH)


def _owners(a: Layout, ia: np.ndarray, b: Layout, ib: np.ndarray) -> np.ndarray | None:
    """Returns for each slot the value of the result that two operands, as they lie, give there. Returns None if some
    value of the result is in no slot.
    """
    span = int(max(ib.max(initial=0), b.holds.max(initial=0))) + 2
    keys = (ia + 1) * span + ib + 1
    order = np.argsort(keys, kind="stable")
    met = np.where((a.holds >= ZERO) & (b.holds >= ZERO), (a.holds + 1) * span + b.holds + 1, -1)
    place = np.minimum(np.searchsorted(keys, met, sorter=order), keys.size - 1)
    owner = np.where(keys[order[place]] == met, order[place], RUBBISH)
    held = np.zeros(keys.size, dtype=bool)
    held[owner[owner >= 0]] = True
    return owner if held.all() else None


def _met(code: Code, node: Node, a: View, b: View) -> Placed | None:
    """Lowers an operation of two views without a move, or returns None if the operands of some value lie in different
    slots.
    """
    if a[0].layout.holds.size != b[0].layout.holds.size:
        return None
    owners = _owners(a[0].layout, a[1], b[0].layout, b[1])
    return None if owners is None else slotwise(code, node.op, a[0], b[0], owners, node.line)


def binary(code: Code, node: Node, a: View, b: View) -> Placed:
    """Lowers a sum, a difference or a product of two views."""
    found = _met(code, node, a, b)
    if found is not None:
        return found

    ways = [lambda layout=layout: at(code, node, a, b, layout) for layout in targets([a, b], node.shape, code.slots)]
    return chosen(code, ways, node.line)


def at(code: Code, node: Node, a: View, b: View, layout: Layout) -> Placed | None:
    """Lowers an operation of two views with this layout of the result, or None if a view lacks a slot that it needs."""
    left = arrange(code, a[0], wished(layout, a[1]), node.line)
    right = arrange(code, b[0], wished(layout, b[1]), node.line)
    if left is None or right is None:
        return None
    return slotwise(code, node.op, left, right, layout.holds, node.line)


def slotwise(code: Code, op: str, a: Placed, b: Placed, owners: np.ndarray, line: Line) -> Placed:
    """Applies an operation slot by slot. `owners` has the value that each slot then holds."""
    zero_a, zero_b = a.layout.holds == ZERO, b.layout.holds == ZERO
    zeros = zero_a | zero_b if op == "mul" else zero_a & zero_b
    holds = np.where(owners >= 0, owners, np.where(zeros, ZERO, RUBBISH))
    parts: list[int | None] = []
    for x, y in zip(a.parts, b.parts, strict=True):
        if x is not None and y is not None:
            parts.append(code.emit(op, (x, y), line=line))
        elif op == "mul":
            parts.append(None)
        elif y is not None and op == "sub":
            parts.append(code.emit("neg", (y,), line=line))
        else:
            parts.append(x if y is None else y)
    return Placed(tuple(parts), Layout(a.layout.slots, holds))


def with_values(code: Code, node: Node, a: View, plain: str | None, values: np.ndarray) -> Placed:
    """Lowers a sum or a product of a view and constants, or the values of a plain argument."""

    def way(layout: Layout) -> Placed | None:
        moved = arrange(code, a[0], wished(layout, a[1]), node.line)
        return None if moved is None else _applied(code, node, moved, layout.holds, plain, values)

    native = natural(*a) if (a[1] >= 0).all() else None
    layouts = [native] if native is not None else list(targets([a], node.shape, code.slots))
    return chosen(code, [lambda layout=layout: way(layout) for layout in layouts], node.line)


_OF_PLAIN = {"scale": "times", "plus": "plus_plain", "minus": "minus_plain"}


def _applied(
    code: Code, node: Node, moved: Placed, wanted: np.ndarray, plain: str | None, values: np.ndarray
) -> Placed:
    slots, product = code.slots, node.op == "scale"
    nothing = -1 if plain is not None else 0
    laid = np.where(wanted >= 0, values[np.maximum(wanted, 0)], nothing)
    rest = ZERO if product else np.where(moved.layout.holds == ZERO, ZERO, RUBBISH)
    parts: list[int | None] = []
    for number, part in enumerate(moved.parts):
        vector = laid[number * slots : (number + 1) * slots]
        if (vector == nothing).all():
            parts.append(None if product else part)
            continue
        if part is None:
            if product:
                parts.append(None)
                continue
            other = next(part for part in moved.parts if part is not None)
            part = code.emit("number", (other,), 0.0, line=node.line)
        if plain is not None:
            parts.append(code.emit(_OF_PLAIN[node.op], (part,), plain, vector.tobytes(), line=node.line))
        else:
            parts.append(code.emit(node.op, (part,), code.vector(vector), line=node.line))
    return Placed(tuple(parts), Layout(slots, np.where(wanted >= 0, wanted, rest)))


def lacks_zero(node: Node) -> bool:
    """Returns whether an operation takes its values from an interval that does not contain zero."""
    return node.op in ("bounded", "chebyshev") and not node.rest[-2] <= 0 <= node.rest[-1]


def _within(code: Code, node: Node, a: Placed) -> Placed:
    """Sets slots without a value to a number between the bounds of an `rm.bounded`."""
    holds = a.layout.holds
    if a.layout.rubbish:
        a = masked(code, a, holds >= 0, node.line)
    if not lacks_zero(node) or not a.layout.padded:
        return a
    slots, between = code.slots, (node.rest[0] + node.rest[1]) / 2
    parts: list[int | None] = []
    for number, part in enumerate(a.parts):
        empty = holds[number * slots : (number + 1) * slots] < 0
        if part is not None and empty.any():
            part = code.emit("plus", (part,), code.vector(np.where(empty, between, 0.0)), line=node.line)
        parts.append(part)
    return Placed(tuple(parts), Layout(slots, np.where(holds >= 0, holds, RUBBISH)))


def unary(code: Code, node: Node, a: Placed) -> Placed:
    """Lowers an operation on every value of its operand."""
    if node.op == "bounded":
        a = _within(code, node, a)
    parts, layout, rest = a.parts, a.layout, node.rest
    of_zero = node.op in ("neg", "number", "conj", "two_real", "bounded") or (
        node.op == "polynomial" and rest[0][0] == 0
    )
    holds = layout.holds if of_zero else np.where(layout.holds == ZERO, RUBBISH, layout.holds)
    made = tuple(None if p is None else code.emit(node.op, (p,), *rest, line=node.line) for p in parts)
    return Placed(made, Layout(code.slots, holds))

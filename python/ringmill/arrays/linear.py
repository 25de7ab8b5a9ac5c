# SPDX-License-Identifier: Apache-2.0
"""Lowers to slot operations: linear maps, sums, sums of products, and arrays that are put together from others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from ringmill.arrays.code import Code
from ringmill.arrays.graph import Node
from ringmill.arrays.layout import RUBBISH, ZERO, Layout, affine, power, strides_of, table, usual
from ringmill.arrays.moves import Placed, Terms, added, arrange, chosen, combined, preferred, sources, summed
from ringmill.arrays.slotwise import View, at, natural, slotwise, wished
from ringmill.frames import Line


def linear(code: Code, node: Node, a: View, plain: str | None, factors: np.ndarray) -> Placed:
    """Lowers sums of values times factors: constants, or values of a plain argument."""
    placed, index = a
    index, factors = index.reshape(node.size, -1), factors.reshape(node.size, -1)
    count = index.shape[1]
    kept = (index >= 0) & ((factors >= 0) if plain is not None else (factors != 0))
    rows, columns = np.nonzero(kept)
    values, by = index[rows, columns], factors[rows, columns]
    code.work += 4 * (rows.size >> 10)

    def way(layout: Layout) -> Placed | None:
        target = layout.first(rows)
        found = sources(placed.layout, values, target)
        if found is None:
            return None
        terms = Terms(target, found, by, plain)
        return Placed(combined(code, placed, terms, layout.ciphertexts, node.line), layout)

    layouts = aligned(code, node.shape, placed, index, kept)
    ways: list[Callable[[], Placed | None]] = [lambda layout=layout: way(layout) for layout in layouts]
    if 2 * node.size <= count and 2 * power(node.size) <= code.slots:
        ways.append(lambda: _folded(code, node, placed, rows, values, plain, by))
    return chosen(code, ways, node.line)


def _folded(
    code: Code,
    node: Node,
    placed: Placed,
    rows: np.ndarray,
    values: np.ndarray,
    plain: str | None,
    by: np.ndarray,
) -> Placed | None:
    """Lowers a linear map to few values. It takes about as many diagonals as there are results, and adds up their parts
    by rotations.

    Every value is multiplied near its own slot. Slots at the stride of the results then hold parts of one result.
    """
    slots, period = code.slots, power(node.size)
    source = placed.layout.first(values)
    if (source < 0).any():
        return None
    within = source % slots
    target = (within - (within - rows) % period) % slots
    parts = combined(code, placed, Terms(target, source, by, plain), 1, node.line)
    if parts[0] is None:
        return None
    total = summed(code, parts[0], slots // period, period, node.line)
    lane = np.arange(slots) % period
    return Placed((total,), Layout(slots, np.where(lane < node.size, lane, ZERO)))


def aligned(
    code: Code, shape: tuple[int, ...], placed: Placed, index: np.ndarray, kept: np.ndarray
) -> Iterator[Layout]:
    """Yields layouts of a linear map's result: each value where its first operand is, and the usual ones."""
    size, slots = index.shape[0], code.slots
    lead = np.where(kept.any(axis=1), kept.argmax(axis=1), 0)
    first = placed.layout.first(index[np.arange(size), lead])
    if (first >= 0).all() and math.prod(shape) == size:
        places = _apart(first.reshape(shape), placed.layout.holds.size)
        if places is not None:
            yield table(slots, places)
    yield from usual(shape, slots)


def _apart(places: np.ndarray, most: int) -> np.ndarray | None:
    """Gives values that share a slot slots of their own: along each axis on which slots do not differ it chooses a
    stride. Returns None if slots still coincide, or if the slots do not suffice.
    """
    places = places - places.min()
    for axis in reversed(range(places.ndim)):
        length = places.shape[axis]
        if length == 1 or not (places == places.take([0], axis=axis)).all():
            continue
        steps = np.arange(length).reshape((-1,) + (1,) * (places.ndim - axis - 1))
        row = np.unique(places.take([0], axis=axis))
        for stride in (1 << k for k in range(most.bit_length())):
            moved = np.unique((row[:, None] + np.arange(length) * stride).ravel())
            if moved.size == row.size * length and moved[-1] < most:
                places = places + steps * stride
                break
        else:
            return None
    return places if np.unique(places).size == places.size else None


def reduce(code: Code, node: Node, a: View) -> Placed:
    """Lowers a sum along the last axes of the index, all together or one after the other."""
    placed, index = a
    lengths: tuple[int, ...] = node.rest[0]
    whole = index.reshape(node.size, -1)
    found = preferred(code, [lambda: _cyclic(code, placed, whole, node.line)])
    if found is not None:
        return found
    if len(lengths) > 1:

        def steps(order: tuple[int, ...]) -> Placed:
            return _stepwise(code, node, placed, index.reshape(node.size, *lengths), order)

        orders = {tuple(range(len(lengths))), tuple(reversed(range(len(lengths))))}
        return chosen(code, [lambda order=order: steps(order) for order in sorted(orders)], node.line)
    return along(code, node, placed, whole)


def _stepwise(code: Code, node: Node, placed: Placed, index: np.ndarray, order: tuple[int, ...]) -> Placed:
    """Sums along one axis after the other. Axis 0 of the index is that of the results."""
    remaining = list(order)
    while remaining:
        axis = remaining.pop(0)
        at = 1 + axis - sum(1 for other in order[: order.index(axis)] if other < axis)
        moved = np.moveaxis(index, at, -1)
        rows = moved.reshape(-1, moved.shape[-1])
        inner = Node("sum", moved.shape[:-1], node.kind, (), node.line, ((moved.shape[-1],),))
        placed = _cyclic(code, placed, rows, node.line) or along(code, inner, placed, rows)
        index = np.arange(rows.shape[0]).reshape(moved.shape[:-1])
    return placed


def along(code: Code, node: Node, placed: Placed, rows: np.ndarray) -> Placed:
    """Sums each row of values, in the cheapest way."""
    ones = np.ones(rows.shape)
    ways: list[Callable[[], Placed | None]] = [
        lambda: _window(code, placed, rows, node.line),
        lambda: linear(code, node, (placed, rows), None, ones),
    ]
    # To estimate a linear map of this many values takes long.
    found = preferred(code, ways) if rows.size > 1 << 14 and _is_window(placed, rows) else None
    return found or chosen(code, ways, node.line)


def _is_window(placed: Placed, rows: np.ndarray) -> bool:
    return _strides(placed, rows) is not None


def _strides(placed: Placed, rows: np.ndarray) -> tuple[np.ndarray, int] | None:
    """Returns the slot of each value, and the one stride at which the values of all rows stand, or None if there is no
    such stride.
    """
    if (rows < 0).any():
        return None
    first = placed.layout.first(rows)
    if (first < 0).any():
        return None
    steps = np.diff(first, axis=1)
    if steps.size and not (steps == steps.flat[0]).all():
        return None
    return first, int(steps.flat[0]) if steps.size else 0


def _window(code: Code, placed: Placed, rows: np.ndarray, line: Line) -> Placed | None:
    """Sums each row of values that stand at one stride. The sum stands in the slot of the row's first value. Returns
    None for other rows.
    """
    found = _strides(placed, rows)
    if found is None:
        return None
    first, stride = found
    slots, count = placed.layout.slots, rows.shape[1]
    holds = np.full(placed.layout.holds.size, RUBBISH)
    if stride % slots == 0 and stride:
        return _across(code, placed, first, line)
    last = first[:, 0] + (count - 1) * stride
    if (first[:, 0] // slots != last // slots).any() or np.unique(first[:, 0]).size != rows.shape[0]:
        return None
    holds[first[:, 0]] = np.arange(rows.shape[0])
    parts = tuple(None if p is None else summed(code, p, count, stride, line) for p in placed.parts)
    return Placed(parts, Layout(slots, holds))


def _across(code: Code, placed: Placed, first: np.ndarray, line: Line) -> Placed | None:
    """Sums ciphertexts, if each row has its values in the same slot of different ciphertexts. Returns None for other
    rows.
    """
    slots = placed.layout.slots
    ciphers = np.unique(first // slots, axis=0)
    if np.unique(first % slots + first[:, :1] // slots * slots).size != first.shape[0]:
        return None
    homes = np.unique(ciphers[:, 0])
    if homes.size != ciphers.shape[0]:
        return None
    holds = np.full(placed.layout.ciphertexts * slots, RUBBISH)
    holds[first[:, 0]] = np.arange(first.shape[0])
    parts: list[int | None] = [None] * placed.layout.ciphertexts
    for row in ciphers:
        terms = [part for cipher in row if (part := placed.parts[cipher]) is not None]
        parts[row[0]] = added(code, terms, line) if terms else None
    used = sorted(int(home) for home in homes)
    spans = np.concatenate([holds[home * slots : (home + 1) * slots] for home in used])
    return Placed(tuple(parts[home] for home in used), Layout(slots, spans))


def _cyclic(code: Code, placed: Placed, rows: np.ndarray, line: Line) -> Placed | None:
    """Sums the slots that lie at one stride through the whole ciphertext, if they hold the values of one row and zeros.
    Each of these slots then has the row's sum. Returns None if no stride does that for all rows.
    """
    layout, slots = placed.layout, placed.layout.slots
    if rows.shape[1] == 1 or np.unique(rows).size != rows.size or (rows < 0).any() or layout.rubbish:
        return None
    owner = np.full(int(layout.holds.max(initial=-1)) + 1, RUBBISH)
    owner[rows] = np.arange(rows.shape[0])[:, None]
    held = layout.holds.reshape(-1, slots)
    owners = np.where(held >= 0, owner[np.maximum(held, 0)], ZERO)
    for joined in (False, True) if layout.ciphertexts > 1 else (False,):
        stride = slots // 2
        best = None
        while stride >= 1:
            classes = owners.reshape(1 if joined else layout.ciphertexts, -1, stride)
            top = classes.max(axis=1)
            pure = ((classes == top[:, None, :]) | (classes == ZERO)).all(axis=1)
            counts = (classes >= 0).sum(axis=1)
            ordered = np.sort(held.reshape(classes.shape), axis=1)
            again = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)
            good = pure & (top >= 0) & (counts == rows.shape[1]) & ~again
            if np.unique(top[good]).size == rows.shape[0]:
                best = stride, np.where(good, top, np.where(pure & (top == ZERO), ZERO, RUBBISH))
                break
            stride //= 2
        if best is None:
            continue
        parts = list(placed.parts)
        if joined:
            terms = [part for part in parts if part is not None]
            parts = [added(code, terms, line)]
        turns = slots // best[0]
        made = tuple(None if part is None else summed(code, part, turns, best[0], line) for part in parts)
        holds = np.tile(best[1], (1, turns)).ravel()
        return Placed(made, Layout(slots, holds))
    return None


def joined(code: Code, node: Node, views: list[View]) -> Placed:
    """Lowers values that are taken from several operands, each from one. An index of -1 takes none."""

    def way(layout: Layout) -> Placed | None:
        terms: list[list[int]] = [[] for _ in range(layout.ciphertexts)]
        zero = np.ones(layout.holds.size, dtype=bool)
        for placed, index in views:
            moved = arrange(code, placed, wished(layout, index), node.line)
            if moved is None:
                return None
            zero &= moved.layout.holds == ZERO
            for number, part in enumerate(moved.parts):
                if part is not None:
                    terms[number].append(part)
        parts = tuple(added(code, term, node.line) if term else None for term in terms)
        rest = np.where(zero, ZERO, RUBBISH)
        return Placed(parts, Layout(code.slots, np.where(layout.holds >= 0, layout.holds, rest)))

    return chosen(code, [lambda layout=layout: way(layout) for layout in usual(node.shape, code.slots)], node.line)


def products(code: Code, node: Node, a: View, b: View) -> Placed:
    """Lowers sums of products of two operands.

    The products of each result are cut into groups. The products of one group stand side by side in slots; the groups
    are added slot by slot, and rotations add up the rest at the end. Products of matrices may also be lowered as
    :func:`_skewed` does it. The cheapest way is taken.
    """
    count = a[1].shape[-1]
    ia, ib = a[1].reshape(node.size, count), b[1].reshape(node.size, count)

    def grouped(group: int, layout: Layout) -> Placed | None:
        total: Placed | None = None
        for begin in range(0, count, group):
            pa, pb = _chunk(ia, begin, group), _chunk(ib, begin, group)
            pb = np.where(pa < 0, RUBBISH, pb)  # zero times anything
            inner = Node("mul", (node.size * group,), node.kind, (), node.line)
            made = at(code, inner, (a[0], pa), (b[0], pb), layout)
            if made is None:
                return None
            total = made if total is None else _plus(code, total, made, node.line)
        assert total is not None
        rows = np.arange(node.size * group).reshape(node.size, group)
        return total if group == 1 else _cyclic(code, total, rows, node.line) or along(code, node, total, rows)

    ways: list[Callable[[], Placed | None]] = []
    for view, index in ((a, ia), (b, ib)):
        layout = natural(view[0], index.ravel()) if (index >= 0).all() else None
        if layout is not None:
            ways.append(lambda layout=layout: grouped(count, layout))
    if len(node.shape) > 1 and min(node.shape[-2:]) > 1 and count > 2:
        for layout in usual(node.shape, code.slots):
            ways.append(lambda layout=layout: _skewed(code, node, (a[0], ia), (b[0], ib), layout))
    for group, layout in _groups(node, count, code.slots):
        ways.append(lambda group=group, layout=layout: grouped(group, layout))
    return chosen(code, ways, node.line)


def _skewed(code: Code, node: Node, a: View, b: View, layout: Layout) -> Placed | None:
    """Lowers a product of matrices (Jiang, Kim, Lauter and Song, *Secure outsourced matrix computation*).

    Term number r of entry (i, j) is number (i + j + r) of its row, so that terms are rotations of each other.
    """
    count = a[1].shape[1]
    steps = np.indices(node.shape)[-2:].sum(axis=0).ravel()
    each = np.arange(node.size)
    lead: tuple[Placed, Placed] | None = None
    total: Placed | None = None
    for r in range(count):
        column = (steps + r) % count
        pa, pb = a[1][each, column], b[1][each, column]
        pb = np.where(pa < 0, RUBBISH, pb)
        left = arrange(code, lead[0] if lead else a[0], wished(layout, pa), node.line)
        right = arrange(code, lead[1] if lead else b[0], wished(layout, pb), node.line)
        if left is None or right is None:
            return None
        lead = lead or (left, right)
        made = slotwise(code, "mul", left, right, layout.holds, node.line)
        total = made if total is None else _plus(code, total, made, node.line)
    return total


def _groups(node: Node, count: int, slots: int) -> Iterator[tuple[int, Layout]]:
    """Yields numbers of products of each result that stand side by side, with the layout of the products."""
    shape = tuple(length for length in node.shape if length > 1)
    room = max(1, slots // math.prod(power(length) for length in shape))
    sizes = {1, count} if count <= room or count <= 8 else {1, min(room, power(count))}
    for group in sorted(sizes):
        if group == 1 and count > 128:
            continue
        for axis in sorted({0, len(shape), min(1, len(shape))}):
            order = list(range(len(shape)))
            order.insert(axis, len(shape))
            strides = strides_of((*shape, group), order, True)
            yield group, table(slots, affine((*shape, group), strides))
            if group == 1:
                break


def _chunk(index: np.ndarray, begin: int, group: int) -> np.ndarray:
    part = index[:, begin : begin + group]
    return np.pad(part, ((0, 0), (0, group - part.shape[1])), constant_values=-1).ravel()


def _plus(code: Code, a: Placed, b: Placed, line: Line) -> Placed:
    holds = np.where(a.layout.holds == b.layout.holds, a.layout.holds, RUBBISH)
    pairs = zip(a.parts, b.parts, strict=True)
    parts = tuple(x if y is None else y if x is None else code.emit("add", (x, y), line=line) for x, y in pairs)
    return Placed(parts, Layout(a.layout.slots, holds))

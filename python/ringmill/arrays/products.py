# SPDX-License-Identifier: Apache-2.0
"""Traces sums, and products that are added up: ``@``, dot, einsum and their kin."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ringmill.arrays import elementwise
from ringmill.arrays.value import Array, PlainArray, array_of, made
from ringmill.check import shown
from ringmill.trace import mixed, refuse
from ringmill.types import SLOTS

MOST_TERMS = 1 << 25
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def axes_of(x: Any, axis: Any) -> tuple[int, ...]:
    """Returns axes as numbers from 0. None stands for all."""
    if axis is None:
        return tuple(range(x.ndim))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = []
    for each in given:
        try:
            place = operator.index(each)
        except TypeError:
            refuse(f"axis={shown(axis)} is no number of an axis, and no tuple of such numbers")
        if not -x.ndim <= place < x.ndim or place % x.ndim in axes:
            refuse(f"axis={shown(axis)} does not fit an array of shape {x.shape}")
        axes.append(place % x.ndim)
    return tuple(axes)


def total(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
    """Returns the sum along axes."""
    axes = axes_of(x, axis)
    kept = tuple(length for a, length in enumerate(x.shape) if a not in axes)
    lengths = tuple(x.shape[a] for a in axes)
    index = np.moveaxis(x._index, axes, range(-len(axes), 0)) if axes else x._index
    final = tuple(1 if a in axes else length for a, length in enumerate(x.shape)) if keepdims else kept
    if math.prod(lengths) == 1:
        return made(x._graph, x._node, index.reshape(final), x._divisor)
    rows = index.reshape(*kept, math.prod(lengths))
    live = (rows >= 0).any(axis=-1)
    if not live.any():
        return made(x._graph, x._node, np.full(final, -1), x._divisor)
    if (rows >= 0).all():
        node = x._graph.node("sum", kept, x._kind, (x._node, rows), rest=(tuple(n for n in lengths if n > 1),))
    else:
        node = x._graph.node("linear", kept, x._kind, (x._node, rows), rest=(None, np.ones(rows.shape)))
    places = np.where(live, np.arange(node.size).reshape(kept), -1)
    return made(x._graph, node, places.reshape(final), x._divisor)


def mean(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
    """Returns the mean along axes. That of whole numbers keeps its divisor until decryption."""
    count = math.prod(x.shape[a] for a in axes_of(x, axis))
    return elementwise.divided(total(x, axis, keepdims), count)


def variance(x: Array, axis: Any = None, keepdims: bool = False, ddof: int = 0) -> Array:
    """Returns the variance along axes."""
    count = math.prod(x.shape[a] for a in axes_of(x, axis))
    if count <= ddof:
        refuse(f"the variance of {count} values with ddof={ddof} divides by zero")
    if x._kind.whole:
        plain = total(x, axis, keepdims)
        squares = elementwise.number(total(elementwise.binary("mul", x, x), axis, keepdims), count)
        spread = elementwise.binary("sub", squares, elementwise.binary("mul", plain, plain))
        return elementwise.divided(spread, count * (count - ddof))
    centred = elementwise.binary("sub", x, mean(x, axis, True))
    squares = total(elementwise.binary("mul", centred, centred), axis, keepdims)
    return elementwise.divided(squares, count - ddof)


def product(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
    """Returns the product along axes, at the least depth."""
    axes = axes_of(x, axis)
    kept = tuple(length for a, length in enumerate(x.shape) if a not in axes)
    final = tuple(1 if a in axes else length for a, length in enumerate(x.shape)) if keepdims else kept
    index = np.moveaxis(x._index, axes, range(-len(axes), 0)) if axes else x._index
    rows = x._view(index.reshape(*kept, math.prod(x.shape[a] for a in axes)))
    while rows.shape[-1] > 1:
        half = rows.shape[-1] // 2
        pairs = elementwise.binary("mul", rows[..., :half], rows[..., half : 2 * half])
        if rows.shape[-1] % 2:
            from ringmill.arrays.structure import assembled

            pairs = assembled(np.concatenate, ([pairs, rows[..., -1:]],), {"axis": -1})
        rows = pairs
    return rows._view(rows._index.reshape(final))


def cumulated(x: Array, axis: Any = None) -> Array:
    """Returns the cumulative sums along an axis, or of all values in order."""
    index = x._index.ravel() if axis is None else np.moveaxis(x._index, axes_of(x, axis)[0], -1)
    count = index.shape[-1]
    rows = np.where(np.tri(count, dtype=bool), index[..., None, :], -1)
    summed = weighted(x, rows, None, np.ones(rows.shape))
    return summed if axis is None else summed._view(np.moveaxis(summed._index, -1, axes_of(x, axis)[0]))


def weighted(x: Array, rows: np.ndarray, plain: str | None, factors: np.ndarray, kind: Any = None) -> Array:
    """Returns sums along the last axis of values times factors, or times values of a plain argument."""
    if rows.size > MOST_TERMS:
        refuse(f"this product has {rows.size} terms; at most {MOST_TERMS} are traced, so split the arrays")
    factors = np.broadcast_to(factors, rows.shape)
    if plain is None and rows.size and (rows >= 0).all() and (factors == factors.flat[0]).all():
        node = x._graph.node("sum", rows.shape[:-1], x._kind, (x._node, rows), rest=((rows.shape[-1],),))
        added = made(x._graph, node, np.arange(node.size).reshape(node.shape), x._divisor)
        return elementwise.binary("mul", added, factors.flat[0] if np.iscomplexobj(factors) else _int(x, factors))
    live = (rows >= 0) & ((factors >= 0) if plain is not None else (factors != 0))
    kind = kind or (SLOTS if np.iscomplexobj(factors) else x._kind)
    if not live.any():
        return made(x._graph, x._node, np.full(rows.shape[:-1], -1), x._divisor)
    node = x._graph.node("linear", rows.shape[:-1], kind, (x._node, rows), rest=(plain, np.ascontiguousarray(factors)))
    places = np.where(live.any(axis=-1), np.arange(node.size).reshape(node.shape), -1)
    return made(x._graph, node, places, x._divisor)


def _int(x: Array, factors: np.ndarray) -> Any:
    return int(factors.flat[0]) if x._kind.whole else float(factors.flat[0])


def contract(a: Any, of_a: str, b: Any, of_b: str, out: str) -> Array:
    """Returns the product of two operands with named axes, added up along the axes that `out` does not name."""
    if not isinstance(a, Array):
        a, of_a, b, of_b = b, of_b, a, of_a
    b = elementwise.operand(a, b)
    a, of_a = _alone(a, of_a, of_b + out)
    if not isinstance(b, PlainArray):
        b, of_b = _alone(b, of_b, of_a + out)
    lengths: dict[str, int] = {}
    for value, names in ((a, of_a), (b, of_b)):
        for name, length in zip(names, value.shape, strict=True):
            known = lengths.setdefault(name, length)
            if 1 not in (known, length) and known != length:
                refuse(f"arrays of shapes {a.shape} and {b.shape} do not fit: axes of {known} and {length} meet")
            lengths[name] = max(known, length)
    added = [name for name in dict.fromkeys(of_a + of_b) if name not in out]
    names = out + "".join(added)
    shape = tuple(lengths[name] for name in names)
    if math.prod(shape) > MOST_TERMS:
        refuse(f"this product has {math.prod(shape)} terms; at most {MOST_TERMS} are traced, so split the arrays")
    final, count = shape[: len(out)], math.prod(shape[len(out) :])
    ia = _expanded(a._index, of_a, names, shape)
    if not added:
        return _outer(a, ia, b, of_b, names, shape)
    rows = ia.reshape(*final, count)
    if isinstance(b, PlainArray):
        kind = mixed(a._kind, b._kind)
        return weighted(a, rows, b._name, _expanded(b._index, of_b, names, shape).reshape(rows.shape), kind)
    if not isinstance(b, Array):
        return weighted(a, rows, None, _expanded(b, of_b, names, shape).reshape(rows.shape))
    return _both(a, rows, b, _expanded(b._index, of_b, names, shape).reshape(rows.shape))


def _both(a: Array, rows: np.ndarray, b: Array, columns: np.ndarray) -> Array:
    kind, divisor = mixed(a._kind, b._kind), a._divisor * b._divisor
    live = ((rows >= 0) & (columns >= 0)).any(axis=-1)
    if not live.any():
        return made(a._graph, a._node, np.full(live.shape, -1), divisor)
    both = (rows >= 0) & (columns >= 0)
    operands = ((a._node, np.where(both, rows, -1)), (b._node, np.where(both, columns, -1)))
    node = a._graph.node("products", live.shape, kind, *operands)
    return made(a._graph, node, np.where(live, np.arange(node.size).reshape(live.shape), -1), divisor)


def _outer(a: Array, ia: np.ndarray, b: Any, of_b: str, names: str, shape: tuple[int, ...]) -> Array:
    left = a._view(ia)
    if isinstance(b, (Array, PlainArray)):
        return elementwise.binary("mul", left, b._view(_expanded(b._index, of_b, names, shape)))
    return elementwise.times(left, None, _expanded(b, of_b, names, shape), SLOTS if np.iscomplexobj(b) else a._kind)


def _alone(x: Any, names: str, others: str) -> tuple[Any, str]:
    """Takes the diagonal of axes with one name, and sums along axes that only this operand has."""
    distinct = "".join(dict.fromkeys(names))
    if distinct != names:
        if isinstance(x, (Array, PlainArray)):
            x = x._view(_diagonal(x._index, names, distinct))
        else:
            x = _diagonal(x, names, distinct)
        names = distinct
    own = tuple(place for place, name in enumerate(names) if name not in others)
    if own:
        x = total(x, own) if isinstance(x, Array) else np.sum(x, axis=own)
        names = "".join(name for name in names if name in others)
    return x, names


def _diagonal(array: np.ndarray, names: str, distinct: str) -> np.ndarray:
    try:
        return np.einsum(f"{names}->{distinct}", array)
    except ValueError as error:
        refuse(f"axes of one name have one length: {error}")


def _expanded(array: np.ndarray, own: str, names: str, shape: tuple[int, ...]) -> np.ndarray:
    """Returns an array with an axis for each name, repeated along those that it lacks."""
    order = [own.index(name) for name in names if name in own]
    turned = np.transpose(array, order)
    wide = turned.reshape([turned.shape[order.index(own.index(name))] if name in own else 1 for name in names])
    return np.broadcast_to(wide, shape)


def matmul(a: Any, b: Any) -> Array:
    """Returns ``a @ b`` with numpy's rules: the last axis of `a` meets the last but one of `b`, others broadcast."""
    left, right = map(array_of, (a, b))
    if not left.ndim or not right.ndim:
        refuse("`@` needs arrays of one dimension or more on both sides; `*` multiplies by a number")
    deepest = max(left.ndim, right.ndim, 2) - 2
    batch = _LETTERS[:deepest]
    of_left = (batch[deepest - (left.ndim - 2) :] + "YZ") if left.ndim > 1 else "Z"
    of_right = (batch[deepest - (right.ndim - 2) :] + "ZX") if right.ndim > 1 else "Z"
    if left.shape[-1] != right.shape[max(right.ndim - 2, 0)]:
        refuse(
            f"arrays of shapes {left.shape} and {right.shape} do not multiply: the last length of the first is the "
            "last but one of the second, or its only one"
        )
    out = batch + ("Y" if left.ndim > 1 else "") + ("X" if right.ndim > 1 else "")
    return contract(left, of_left, right, of_right, out)


def dot(a: Any, b: Any) -> Array:
    """Returns ``np.dot(a, b)``."""
    left, right = map(array_of, (a, b))
    if not left.ndim or not right.ndim:
        return left * right
    if left.shape[-1] != right.shape[max(right.ndim - 2, 0)]:
        refuse(f"arrays of shapes {left.shape} and {right.shape} do not meet in a dot product")
    of_left = _LETTERS[: left.ndim - 1] + "Z"
    rest = _LETTERS[left.ndim - 1 : left.ndim - 1 + max(right.ndim - 1, 0)]
    of_right = rest[:-1] + "Z" + rest[-1:] if right.ndim > 1 else "Z"
    return contract(left, of_left, right, of_right, of_left[:-1] + rest)


def inner(a: Any, b: Any) -> Array:
    """Returns ``np.inner(a, b)``: the last axes meet."""
    left, right = map(array_of, (a, b))
    if not left.ndim or not right.ndim:
        return left * right
    if left.shape[-1] != right.shape[-1]:
        refuse(f"arrays of shapes {left.shape} and {right.shape} do not meet along their last axes")
    of_left = _LETTERS[: left.ndim - 1]
    of_right = _LETTERS[left.ndim - 1 : left.ndim + right.ndim - 2]
    return contract(left, of_left + "Z", right, of_right + "Z", of_left + of_right)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Array:
    """Returns ``np.tensordot(a, b, axes)``."""
    left, right = map(array_of, (a, b))
    if isinstance(axes, (int, np.integer)):
        pairs: tuple[Sequence[int], Sequence[int]] = (range(left.ndim - axes, left.ndim), range(axes))
    else:
        pairs = tuple([one] if isinstance(one, (int, np.integer)) else list(one) for one in axes)  # type: ignore[assignment]
    try:
        met = dict(zip(axes_of(right, tuple(pairs[1])), axes_of(left, tuple(pairs[0])), strict=True))
    except ValueError:
        refuse(f"axes={shown(axes)} names unequal numbers of axes")
    of_left = _LETTERS[: left.ndim]
    fresh = iter(_LETTERS[left.ndim :])
    of_right = "".join(of_left[met[axis]] if axis in met else next(fresh) for axis in range(right.ndim))
    for axis, other in met.items():
        if right.shape[axis] != left.shape[other]:
            refuse(f"arrays of shapes {left.shape} and {right.shape} do not meet along axes={shown(axes)}")
    out = "".join(n for a, n in enumerate(of_left) if a not in met.values())
    return contract(left, of_left, right, of_right, out + "".join(n for a, n in enumerate(of_right) if a not in met))


def einsum(subscripts: str, *operands: Any) -> Array:
    """Returns ``np.einsum(subscripts, ...)`` of one operand, or of several from left to right."""
    if not isinstance(subscripts, str):
        refuse("np.einsum takes its subscripts as text here, as in np.einsum('ij,j->i', a, x)")
    values = [array_of(value) for value in operands]
    inputs, out = _subscripts(subscripts.replace(" ", ""), [value.ndim for value in values])
    for value, names in zip(values, inputs, strict=True):
        if len(names) != value.ndim:
            refuse(f"np.einsum: {names} names {len(names)} axes, and the array has shape {value.shape}")
    while len(values) > 1:
        later = out + "".join(inputs[2:])
        plain = not any(isinstance(value, Array) for value in values[:2])
        if plain:  # an encrypted operand comes first
            place = next(n for n, value in enumerate(values) if isinstance(value, Array))
            values.insert(0, values.pop(place))
            inputs.insert(0, inputs.pop(place))
            continue
        kept = "".join(name for name in dict.fromkeys(inputs[0] + inputs[1]) if name in later)
        middle = out if len(values) == 2 else kept
        values[:2] = [contract(values[0], inputs[0], values[1], inputs[1], middle)]
        inputs[:2] = [middle]
    alone, names = _alone(values[0], inputs[0], out)
    return alone._view(_expanded(alone._index, names, out, tuple(alone.shape[names.index(n)] for n in out)))


def _subscripts(text: str, dimensions: list[int]) -> tuple[list[str], str]:
    left, arrow, out = text.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(dimensions):
        refuse(f"np.einsum: {text} names {len(inputs)} operands, and {len(dimensions)} are given")
    unused = [letter for letter in _LETTERS if letter not in text]
    most = max((d - len(names) + 3 for names, d in zip(inputs, dimensions, strict=True) if "..." in names), default=0)
    rest = "".join(unused[:most])
    filled = [
        names.replace("...", rest[most - (d - len(names) + 3) :] if "..." in names else "")
        for names, d in zip(inputs, dimensions, strict=True)
    ]
    if not arrow:
        letters = "".join(inputs).replace(".", "")
        out = ("..." if most else "") + "".join(sorted(name for name in set(letters) if letters.count(name) == 1))
    out = out.replace("...", rest)
    known = set("".join(filled))
    if not set(out) <= known or len(set(out)) != len(out) or not all(n in _LETTERS for n in known):
        refuse(f"np.einsum: the subscripts {text} are none; write letters, as in 'ij,jk->ik'")
    return filled, out

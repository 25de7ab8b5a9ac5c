# SPDX-License-Identifier: Apache-2.0
"""Traces operations value by value, with numpy's broadcasting."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ringmill import advice
from ringmill.advice import approximated
from ringmill.arrays.graph import Node
from ringmill.arrays.value import Array, PlainArray, constant, made
from ringmill.check import integer
from ringmill.powers import raised
from ringmill.trace import compile_error, mixed, refuse
from ringmill.types import SLOTS, Type, named

_LARGEST_EXPONENT = 1 << 32
_MOST_PRODUCTS = 64
_DIVIDE = "arithmetic without an encrypted operand belongs outside the program: do it in numpy and pass the result"


def operand(x: Array, other: Any) -> Array | PlainArray | np.ndarray:
    """Returns the other operand of an operation with `x`: a traced array of the same program, or constants as an array
    of numpy.
    """
    if isinstance(other, (Array, PlainArray)):
        if other._graph is not x._graph:
            refuse("this array belongs to another program; give it to this one as an argument")
        return other
    return constant(x, other)


def shapes(*values: Any) -> tuple[int, ...]:
    """Returns the shape to which the values broadcast. Shapes that do not broadcast are refused."""
    given = [value.shape for value in values]
    try:
        return np.broadcast_shapes(*given)
    except ValueError:
        told = " and ".join(map(str, given))
        refuse(f"arrays of shapes {told} do not meet value by value; their last lengths are equal, or one of them is 1")


def binary(op: str, a: Array, other: Any) -> Array:
    """Returns ``a + other``, ``a - other`` or ``a * other``."""
    b = operand(a, other)
    if isinstance(b, Array):
        return _both(op, a, b)
    if isinstance(b, PlainArray):
        return _with_plain(op, a, b)
    return _with_constant(op, a, b)


def _both(op: str, a: Array, b: Array) -> Array:
    kind = mixed(a._kind, b._kind)
    shape = shapes(a, b)
    divisor = a._divisor * b._divisor
    if op != "mul":
        divisor = math.lcm(a._divisor, b._divisor)
        a, b = (number(x, divisor // x._divisor) for x in (a, b))
    ia, ib = (np.broadcast_to(x._index, shape).ravel() for x in (a, b))
    live = (ia >= 0) & (ib >= 0) if op == "mul" else (ia >= 0) | (ib >= 0)
    index = np.full(ia.size, -1)
    if a._node.size == b._node.size and np.array_equal(ia[live], ib[live]):
        whole = np.arange(a._node.size)
        node = a._graph.node(op, a._node.shape, kind, (a._node, whole), (b._node, whole))
        index[live] = ia[live]
        return made(a._graph, node, index.reshape(shape), divisor)
    keys = ia[live] * (b._node.size + 1) + ib[live]
    first, place = _distinct(keys)
    index[live] = place
    ia, ib = ia[live][first], ib[live][first]
    if not first.size:
        return made(a._graph, a._node, index.reshape(shape), divisor)
    node = a._graph.node(op, shape if first.size == index.size else (first.size,), kind, (a._node, ia), (b._node, ib))
    return made(a._graph, node, index.reshape(shape), divisor)


def _distinct(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns where each distinct key first occurs, and for each key the rank of its first occurrence."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    return first[order], rank[inverse.ravel()]


def _whole_of(a: Array, op: str, kind: Type, *rest: Any) -> Array:
    """Applies an operation to all values of the node from which `a` takes its values."""
    node = a._graph.node(op, a._node.shape, kind, (a._node, np.arange(a._node.size)), rest=rest)
    return made(a._graph, node, a._index, a._divisor)


def number(a: Array, factor: complex) -> Array:
    """Returns `a` times a real number."""
    if factor == 1:
        return a
    if factor == 0:
        return made(a._graph, a._node, np.full(a.shape, -1), a._divisor)
    return _whole_of(a, "neg", a._kind) if factor == -1 else _whole_of(a, "number", a._kind, float(factor))


def _with_constant(op: str, a: Array, values: np.ndarray) -> Array:
    shape = shapes(a, values)
    kind = SLOTS if np.iscomplexobj(values) else a._kind
    if op == "mul":
        return times(a, None, values, kind)
    values = (values if op == "add" else -values) * a._divisor
    a = encrypted(a)
    index = np.broadcast_to(a._index, shape)
    uniform = values.size == 1
    if uniform and not values.any():
        return made(a._graph, a._node, index, a._divisor)
    if uniform and (a._index >= 0).all():
        spread = np.full(a._node.size, values.ravel()[0])
        node = a._graph.node("plus", a._node.shape, kind, (a._node, np.arange(a._node.size)), rest=(None, spread))
        return made(a._graph, node, index, a._divisor)
    rest = (None, np.broadcast_to(values, shape).ravel())
    node = a._graph.node("plus", shape, kind, (a._node, index.ravel()), rest=rest)
    return made(a._graph, node, np.arange(node.size).reshape(shape), a._divisor)


def encrypted(a: Array) -> Array:
    """Returns the array. One that is zero whatever the inputs are is taken from a ciphertext of zeros."""
    if (a._index >= 0).any() or not a.size:
        return a
    node = a._graph.node("number", a._node.shape, a._kind, (a._node, np.arange(a._node.size)), rest=(0.0,))
    return made(a._graph, node, np.zeros(a.shape, dtype=np.int64), a._divisor)


def _with_plain(op: str, a: Array, b: PlainArray) -> Array:
    kind = mixed(a._kind, b._kind)
    shape = shapes(a, b)
    if op == "mul":
        return times(a, b._name, b._index, kind)
    if a._divisor != 1:
        refuse("a plain argument does not meet whole numbers that are divided; add it first, then divide")
    a = encrypted(a)
    index = np.broadcast_to(a._index, shape).ravel()
    rest = (b._name, np.broadcast_to(b._index, shape).ravel())
    node = a._graph.node("plus" if op == "add" else "minus", shape, kind, (a._node, index), rest=rest)
    return made(a._graph, node, np.arange(node.size).reshape(shape))


def times(a: Array, plain: str | None, values: np.ndarray, kind: Type) -> Array:
    """Returns `a` times constants, or times values of a plain argument."""
    shape = shapes(a, values)
    if plain is None and values.size and (values == values.ravel()[0]).all() and not np.iscomplexobj(values):
        by = number(a, values.ravel()[0])
        return made(by._graph, by._node, np.broadcast_to(by._index, shape), by._divisor)
    taken = np.broadcast_to(a._index, shape).ravel()
    by_value = np.broadcast_to(values, shape).ravel()
    live = (taken >= 0) & ((by_value >= 0) if plain is not None else (by_value != 0))
    index = np.full(taken.size, -1)
    count = int(live.sum())
    if not count:
        return made(a._graph, a._node, index.reshape(shape), a._divisor)
    index[live] = np.arange(count)
    taken, by_value = taken[live], by_value[live]
    full = shape if count == index.size else (count,)
    op = "scale" if np.unique(taken).size == count else "linear"
    operands = (a._node, taken if op == "scale" else taken[:, None])
    rest = (plain, by_value if op == "scale" else by_value[:, None])
    node = a._graph.node(op, full, kind, operands, rest=rest)
    return made(a._graph, node, index.reshape(shape), a._divisor)


def divided(a: Array, other: Any) -> Array:
    """Returns ``a / other`` for numbers or arrays of numbers. Whole numbers keep the divisor until their
    decryption.
    """
    b = operand(a, other) if not a._kind.whole or isinstance(other, (Array, PlainArray)) else np.asarray(other)
    if isinstance(b, Array):
        refuse(f"division is by numbers only: x / y is x times 1 / y; {approximated('1 / t', 'y', (0.5, 2))}")
    if isinstance(b, PlainArray):
        refuse("division is by numbers only; multiply by y, and give plain={'y': 1 / values} to the run")
    if not a._kind.whole:
        if not b.all():
            refuse("division by zero")
        return _with_constant("mul", a, 1 / b)
    if b.ndim or b.dtype.kind not in "iu" or not b:
        refuse(
            f"{a._kind} is divided by a whole number that is not 0, which is kept until decryption, and not by "
            f"{other!r}; divide what is decrypted"
        )
    by = int(b)
    signed = a if by > 0 else number(a, -1)
    return made(signed._graph, signed._node, signed._index, signed._divisor * abs(by))


def power(a: Array, exponent: Any) -> Array:
    """Returns ``a ** exponent`` for a whole exponent of at least 1, at the least depth."""
    whole = integer(
        1, _LARGEST_EXPONENT, lambda said: compile_error(f"{said}; {advice.power(exponent, a._kind.whole)}")
    )
    if isinstance(exponent, (Array, PlainArray)):
        refuse("the exponent of an encrypted array is a number; write products, as x * x")
    if isinstance(exponent, np.ndarray) and exponent.ndim == 0:
        exponent = exponent[()]
    if isinstance(exponent, (float, np.floating)) and float(exponent).is_integer() and not a._kind.whole:
        exponent = int(exponent)
    return raised(a, whole("the exponent of an encrypted array", exponent), lambda x, y: _both("mul", x, y))


def unary(op: str, a: Array, *rest: Any, kind: Type | None = None) -> Array:
    """Applies an operation of one operand to each value."""
    if op in ("is_zero", "polynomial", "chebyshev", "bounded") and a._divisor != 1:
        refuse("whole numbers that are divided are only added and multiplied; divide at the end")
    if (a._index < 0).any() and not (op in ("neg", "conj", "two_real") or (op == "polynomial" and rest[0][0] == 0)):
        a = materialized(encrypted(a))
    elif op in ("bounded", "chebyshev") and np.unique(a._index).size < a._node.size:
        a = materialized(a)  # the values that are not taken may lie elsewhere
    return _whole_of(a, op, kind or a._kind, *rest)


def materialized(a: Array) -> Array:
    """Returns the same array on a new node that has one value for each element, zeros too."""
    index = a._index.ravel()
    node: Node = a._graph.node("join", a.shape, a._kind, (a._node, index))
    return made(a._graph, node, np.arange(node.size).reshape(a.shape), a._divisor)


def equal(a: Array, other: Any) -> Array:
    """Returns 1 where whole numbers are equal, and 0 elsewhere."""
    if not a._kind.whole:
        refuse(
            f"rm.equal compares whole numbers, and x is of {named(a._kind)}, whose values are approximate; declare the "
            "arguments rm.integer, rm.uint(bits) or rm.bit"
        )
    return unary("is_zero", binary("sub", a, other))

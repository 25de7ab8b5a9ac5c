# SPDX-License-Identifier: Apache-2.0
"""Layouts that a program names: `rm.layout` says in which slots the values of an array stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from ringmill.arrays.code import Code
from ringmill.arrays.graph import Node
from ringmill.arrays.layout import RUBBISH, ZERO, Layout, affine, power, repeated, table
from ringmill.arrays.moves import Placed, arrange, chosen
from ringmill.arrays.slotwise import View, wished
from ringmill.arrays.value import Array, PlainArray, made
from ringmill.check import arguments, flag, integer, shown
from ringmill.trace import compile_error, refuse

_MOST = 1 << 22
_STRIDE = integer(-_MOST, _MOST, compile_error)


def _strides(name: str, value: Any) -> tuple[int, ...]:
    given = value if isinstance(value, (tuple, list)) else (value,)
    return tuple(_STRIDE(f"{name}[{place}]", stride) for place, stride in enumerate(given))


def _encrypted(_name: str, value: Any) -> Any:
    if isinstance(value, PlainArray):
        refuse("rm.layout takes an encrypted array; whoever runs the program encodes plain ones as they are needed")
    if not isinstance(value, Array):
        refuse(f"rm.layout takes x, an encrypted array of a program, and got {shown(value)}")
    return value


@arguments(
    "rm.layout",
    compile_error,
    x=_encrypted,
    strides=_strides,
    offset=integer(0, _MOST, compile_error),
    copies=flag(compile_error),
)
def layout(x: Any, strides: Any, offset: int = 0, copies: bool = False) -> Array:
    """Returns `x` with its values in given slots. If `x` is an argument on which nothing was computed, the client
    encrypts it in these slots.

    Value `index` stands in slot `offset` + `index` . `strides`, as :attr:`Compiled.layouts` prints it. `strides` has a
    number for each axis. Slots of several ciphertexts follow each other. With `copies` the values repeat, at the least
    power of two that holds them, through all slots of the ciphertext.

    >>> import ringmill as rm
    >>> @rm.program
    ... def total(x: rm.Encrypted[rm.real[4, 4]]):
    ...     return rm.layout(x, (1, 4)).sum(axis=0)
    >>> total.compile(input_bound=1).layouts["x"]
    '1 ciphertext of 16 slots, value at slot 0 + index . (1, 4), 0 slots of zero'
    """
    if len(strides) != x.ndim:
        refuse(
            f"strides={strides} has {len(strides)} numbers, and an array of shape {x.shape} has {x.ndim} axes; give "
            "one for each"
        )
    if not x.size:
        refuse(f"an array of shape {x.shape} has no value, so there is nothing to lay out")
    places = affine(x.shape, strides, offset)
    if places.min() < 0 or places.max() >= _MOST:
        far = places.min() if places.min() < 0 else places.max()
        refuse(f"strides={strides} with offset={offset} puts a value in slot {far}; slots are from 0 to {_MOST - 1}")
    taken, counts = np.unique(places, return_counts=True)
    if taken.size != x.size:
        twice = taken[counts.argmax()]
        refuse(f"strides={strides} puts {counts.max()} values of shape {x.shape} in slot {twice}; each needs its own")
    rest = (strides, offset, copies)
    node = x._graph.node("layout", x.shape, x._kind, (x._node, x._index.ravel()), rest=rest)
    return made(x._graph, node, np.arange(x.size).reshape(x.shape), x._divisor)


def span(node: Node) -> int:
    """Returns the number of slots from slot 0 up to the last one that the array of an `rm.layout` takes."""
    strides, offset, _ = node.rest
    return int(affine(node.shape, strides, offset).max()) + 1


def batched(node: Node) -> tuple[Any, ...]:
    """Returns the arguments of `rm.layout` for a batch of such arrays, which stand in one block of slots after the
    other.
    """
    strides, offset, copies = node.rest
    return ((power(span(node)), *strides), offset, copies)


def pinned(node: Node, slots: int) -> Layout:
    """Returns the layout that an `rm.layout` node names."""
    strides, offset, copies = node.rest
    found = table(slots, affine(node.shape, strides, offset))
    if not copies:
        return found
    if found.ciphertexts > 1:
        raise compile_error(
            f"copies=True repeats the values within a ciphertext, and these take {found.ciphertexts} of {slots} slots; "
            "leave copies out, or compile with more slots",
            node.line,
        )
    return repeated(found) or found


def of_input(node: Node) -> Node | None:
    """Returns the input whose values an `rm.layout` node takes whole and in order, or None if it takes others."""
    operand, index = node.operands[0]
    whole = operand.op == "input" and np.array_equal(index, np.arange(operand.size))
    return operand if whole else None


def lowered(code: Code, node: Node, a: View) -> Placed:
    """Lowers an `rm.layout` node to slot operations."""
    layout = pinned(node, code.slots)

    def way() -> Placed | None:
        moved = arrange(code, a[0], wished(layout, a[1]), node.line)
        if moved is None:
            return None
        rest = np.where(moved.layout.holds == ZERO, ZERO, RUBBISH)
        return Placed(moved.parts, Layout(code.slots, np.where(layout.holds >= 0, layout.holds, rest)))

    return chosen(code, [way], node.line)

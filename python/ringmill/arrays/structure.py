# SPDX-License-Identifier: Apache-2.0
"""Traces functions that rearrange values. numpy itself runs them, on indices in place of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ringmill.arrays.graph import Graph, Node
from ringmill.arrays.value import Array, PlainArray, Traced, constant, made
from ringmill.check import shown
from ringmill.errors import CompileError
from ringmill.trace import mixed, refuse

_ROOM = 1 << 25  # more than any plain argument has values

# Functions of numpy whose results are values of their arguments, or zeros.
FUNCTIONS: tuple[Callable[..., Any], ...] = (
    *(np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.squeeze, np.expand_dims),
    *(np.broadcast_to, np.flip, np.fliplr, np.flipud, np.rot90, np.roll, np.repeat, np.tile, np.diagonal, np.diag),
    *(np.diagflat, np.triu, np.tril, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.take, np.delete, np.resize),
    *(np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.concatenate, np.stack, np.vstack, np.hstack),
    *(np.dstack, np.column_stack, np.append, np.block, np.insert, np.copy, np.compress, np.broadcast_arrays),
)


class _Sources:
    """The traced arrays and constants among the arguments of a function, with an index for each value. Index 0 stands
    for the value zero.
    """

    def __init__(self) -> None:
        self.nodes: dict[Node, int] = {}
        self.plain: dict[str, int] = {}
        self.divisors: set[int] = set()
        self.arrays: list[Traced] = []
        self.constants: list[Any] = []
        self.size = 1

    def index(self, value: Traced) -> np.ndarray:
        """Returns the indices of a traced array's values, and remembers the array."""
        self.arrays.append(value)
        known: dict[Any, int] = self.nodes if isinstance(value, Array) else self.plain
        key: Any = value._node if isinstance(value, Array) else value._name
        if isinstance(value, Array):
            self.divisors.add(value._divisor)
        if key not in known:
            known[key] = self.size
            self.size += key.size if isinstance(value, Array) else _ROOM
        return np.where(value._index >= 0, value._index + known[key], 0)


def mapped(value: Any, change: Callable[[Any], Any], of: type | tuple[type, ...]) -> Any:
    """Returns a structure of lists and tuples with every value of a type changed."""
    if isinstance(value, of):
        return change(value)
    if isinstance(value, (list, tuple)):
        made = [mapped(item, change, of) for item in value]
        return made if isinstance(value, list) else tuple(made)
    return value


def assembled(function: Callable[..., Any], args: Any, kwargs: Any, beside: tuple[int, ...] = ()) -> Any:
    """Applies a function that rearranges values. Constants in the arguments with the numbers in `beside` are values,
    too, and not positions.
    """
    found = _Sources()
    indices = mapped((args, kwargs_items := tuple(sorted(kwargs.items()))), found.index, Traced)
    first = next((value for value in found.arrays if isinstance(value, Array)), found.arrays[0])
    if any(value._graph is not first._graph for value in found.arrays):
        refuse("these arrays belong to different programs; give each to this one as an argument")
    constants: list[np.ndarray] = []

    def zeros(value: Any) -> Any:
        found_here = constant(first, value)
        constants.append(found_here.astype(np.int64) if first._kind.whole else found_here)
        return np.zeros(np.shape(value), dtype=np.int64)

    places = _values(function, args, beside)
    shifted = [zeros(item) if place in places else item for place, item in enumerate(_flat(indices[0]))]
    given = _refilled(indices[0], iter(shifted))
    result = _called(function, given, dict(indices[1]))
    if any(values.any() for values in constants):
        left = iter(constants)

        def blank_of(value: Traced) -> np.ndarray:
            return np.zeros(value.shape, dtype=np.int64 if first._kind.whole else float)

        blank = mapped((args, kwargs_items), blank_of, Traced)
        flat = [next(left) if place in places else item for place, item in enumerate(_flat(blank[0]))]
        beside_values = _called(function, _refilled(blank[0], iter(flat)), dict(blank[1]))
    else:
        beside_values = None
    return _wrapped(found, first, result, beside_values)


def _values(function: Callable[..., Any], args: Any, beside: tuple[int, ...]) -> set[int]:
    """Returns the numbers of constants among the flattened arguments that stand for values, not for positions."""
    of_lists = {np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack, np.block}
    of_all = {np.append: (0, 1), np.insert: (0, 2)}
    holders = (0,) if function in of_lists else of_all.get(function, beside)
    found, place = set(), 0
    for number, argument in enumerate(args):
        for item in _flat(argument):
            if number in holders and not isinstance(item, Traced):
                found.add(place)
            place += 1
    return found


def _flat(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in _flat(item)] if isinstance(value, (list, tuple)) else [value]


def _refilled(value: Any, leaves: Any) -> Any:
    if isinstance(value, (list, tuple)):
        made = [_refilled(item, leaves) for item in value]
        return made if isinstance(value, list) else tuple(made)
    return next(leaves)


def _called(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    try:
        return function(*args, **kwargs)
    except CompileError:
        raise
    except Exception as error:
        refuse(f"numpy.{function.__name__} refuses these arguments: {error}")


def _wrapped(found: _Sources, first: Any, result: Any, beside: Any) -> Any:
    if isinstance(result, (list, tuple)):
        return [_wrapped(found, first, each, None if beside is None else beside[n]) for n, each in enumerate(result)]
    index = np.asarray(result)
    if index.dtype.kind not in "iu":
        refuse(f"numpy gives {shown(result)} here, which is no arrangement of the values")
    array = _view_of(found, first, index)
    return array if beside is None else array + np.asarray(beside)


def _view_of(found: _Sources, first: Any, index: np.ndarray) -> Any:
    if not found.nodes:
        if len(found.plain) > 1:
            refuse("plain arrays alone are put together outside of the program: do it in numpy and pass the result")
        (start,) = found.plain.values()
        return first._view(np.where(index > 0, index - start, -1))
    graph: Graph = first._graph
    if len(found.divisors) > 1 or (found.plain and found.divisors != {1}):
        refuse("whole numbers that are divided do not stand in one array with others; divide at the end")
    (divisor,) = found.divisors
    if len(found.nodes) == 1 and not found.plain:
        ((node, start),) = found.nodes.items()
        return made(graph, node, np.where(index > 0, index - start, -1), divisor)
    kind = first._kind
    for other in found.arrays:
        kind = mixed(kind, other._kind)
    flat = index.ravel()
    parts = []
    for node, start in found.nodes.items():
        own = (flat >= start) & (flat < start + node.size)
        if own.any():
            parts.append((node, np.where(own, flat - start, -1)))
    if parts:
        joined = graph.node("join", index.shape, kind, *parts)
        array: Any = made(graph, joined, np.arange(joined.size).reshape(index.shape), divisor)
    else:
        array = made(graph, next(iter(found.nodes)), np.full(index.shape, -1), divisor)
    for name, start in found.plain.items():
        own = (index >= start) & (index < start + _ROOM)
        if own.any():
            array = array + PlainArray(graph, name, np.where(own, index - start, -1), kind)
    return array


def where(mask: Any, a: Any, b: Any) -> Any:
    """Returns ``np.where(mask, a, b)`` for a mask of numpy."""
    if isinstance(mask, Traced):
        refuse(
            "np.where takes a mask that is known while the program is traced; of an encrypted mask of 0 and 1 write "
            "mask * a + (1 - mask) * b"
        )
    return assembled(lambda m, x, y: np.where(m, x, y), (np.asarray(mask), a, b), {}, beside=(1, 2))


def pad(x: Any, width: Any, mode: str = "constant", **options: Any) -> Any:
    """Returns ``np.pad(...)`` in the modes that copy values or fill in constants."""
    if mode not in ("constant", "edge", "reflect", "symmetric", "wrap"):
        refuse(f"np.pad in mode {shown(mode)} computes values; modes constant, edge, reflect, symmetric and wrap copy")
    fill = options.pop("constant_values", 0)
    padded = assembled(np.pad, (x, width), {"mode": mode, **options})
    if not np.any(fill):
        return padded
    known = np.pad(np.zeros(x.shape), width, mode="constant", constant_values=fill)
    return padded + (known.astype(np.int64) if x._kind.whole and (known % 1 == 0).all() else known)

# SPDX-License-Identifier: Apache-2.0
"""Traced arrays. An array takes its values from those of a node of the graph, in numpy's order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from ringmill.arrays.graph import Graph, Node
from ringmill.check import shown
from ringmill.errors import MissingAttribute, RingmillError
from ringmill.trace import compile_error, exact, refuse
from ringmill.types import Type
from ringmill.values import Tiled, numeric, whole_numbers


class Traced:
    """The base of encrypted and plain arrays of a program: a shape, and for each element the index of its value."""

    __pandas_priority__ = 10_000
    __slots__ = ("_graph", "_index", "_kind")

    _graph: Graph
    _index: np.ndarray
    _kind: Type

    def _view(self, index: np.ndarray) -> Any:
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, ...]:
        return self._index.shape

    @property
    def ndim(self) -> int:
        return self._index.ndim

    @property
    def size(self) -> int:
        return self._index.size

    @property
    def T(self) -> Any:
        return self._view(self._index.T)

    def __len__(self) -> int:
        if not self.ndim:
            refuse("an array of no dimension has no length")
        return len(self._index)

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            refuse("an array of no dimension has no elements to walk through")
        return iter([self[place] for place in range(len(self))])

    def __getitem__(self, key: Any) -> Any:
        if any(isinstance(part, Traced) for part in (key if isinstance(key, tuple) else (key,))):
            refuse(
                "an index must be known while the program is traced, and this one is encrypted or plain data; multiply "
                "by a one-hot vector and add up, as (one_hot * x).sum()"
            )
        try:
            return self._view(np.asarray(self._index[key]))
        except (IndexError, ValueError, TypeError) as error:
            refuse(f"{error}; the array has shape {self.shape}")

    def __setitem__(self, _key: Any, _value: Any) -> NoReturn:
        refuse("values of a traced array cannot be set; np.where(mask, a, b) with a mask of numpy blends two arrays")

    __delitem__ = __setitem__  # type: ignore[assignment]

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, _memo: object) -> Any:
        return self

    def __reduce_ex__(self, _protocol: object) -> NoReturn:
        refuse("a traced array is part of a program and cannot be pickled; save the program compiled")

    def __bool__(self) -> NoReturn:
        refuse(
            "a traced array has no truth value: a program cannot branch on data it cannot see; compute both sides and "
            "blend them by a mask of 0 and 1, as mask * a + (1 - mask) * b"
        )

    def __hash__(self) -> int:
        refuse("a traced array cannot be hashed, so it is no key of a dict and no member of a set")

    def __format__(self, spec: str) -> str:
        if spec:
            refuse("the values of a traced array are not known, so they cannot be formatted")
        return repr(self)

    def __array__(self, *_args: object, **_kwargs: object) -> NoReturn:
        refuse(
            "a traced array cannot become a numpy array or a part of one: its values are not known in a trace; "
            "compute on the array itself, or on what is decrypted; np.stack puts several together"
        )

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        from ringmill.arrays.refusals import instead

        raise compile_error(f"a traced array has no attribute `{name}`: {instead(name)}", kind=MissingAttribute)


def _number_of(_self: object, *_operands: object) -> NoReturn:
    refuse("a traced array is no number, so Python's own functions of numbers refuse it; its values are encrypted")


for _name in ("float", "int", "complex", "index", "round", "floor", "ceil", "trunc"):
    setattr(Traced, f"__{_name}__", _number_of)


class PlainArray(Traced):
    """An array that whoever runs the program knows in the clear. An index of -1 is zero."""

    __slots__ = ("_name",)

    def __init__(self, graph: Graph, name: str, index: np.ndarray, kind: Type) -> None:
        self._graph, self._name, self._index, self._kind = graph, name, index, kind

    def _view(self, index: np.ndarray) -> PlainArray:
        return PlainArray(self._graph, self._name, index, self._kind)

    def __repr__(self) -> str:
        return f"<plain array of {self._kind} of shape {self.shape}>"


class Array(Traced):
    """An encrypted array of a program. Its values are those of the node, divided by the divisor. An index of -1 is
    zero.
    """

    __slots__ = ("_divisor", "_node")

    def __init__(self, graph: Graph, node: Node, index: np.ndarray, divisor: int) -> None:
        self._graph, self._node, self._index, self._divisor = graph, node, index, divisor
        self._kind = node.kind

    def _view(self, index: np.ndarray) -> Array:
        return Array(self._graph, self._node, index, self._divisor)

    def __repr__(self) -> str:
        return f"<encrypted array of {self._kind} of shape {self.shape}>"


def made(graph: Graph, node: Node, index: np.ndarray, divisor: int = 1) -> Array:
    """Returns an array that takes its values from a node."""
    return Array(graph, node, index, divisor)


def array_of(value: Any) -> Any:
    """Returns a traced array as it is, and constants as an array of numpy. Other values are refused."""
    if isinstance(value, Traced):
        return value
    try:
        array = np.asarray(value)
    except RingmillError:
        raise
    except Exception as error:
        refuse(f"an operand must be an array of numbers, and {shown(value)} is none: {error}")
    if array.dtype.kind not in "biufcO":
        refuse(f"an operand must be an array of numbers, and {shown(value)} is none")
    return array


def constant(x: Traced, value: Any) -> np.ndarray:
    """Returns constants that stand beside values of a traced array: numbers, which are whole beside whole ones."""
    if isinstance(value, Tiled):
        refuse("rm.tile repeats through slots, and this program is of arrays; np.tile repeats, and shapes broadcast")
    if x._kind.whole:
        array = whole_numbers("a constant", value, x._kind, compile_error, constant=True)
        return np.asarray(exact("a constant", array).real).reshape(array.shape)
    array = numeric("a constant", value, compile_error)
    if not np.isfinite(array).all():
        refuse(f"a constant must be finite, and is {shown(value)}")
    return array if array.imag.any() else np.ascontiguousarray(array.real).reshape(array.shape)

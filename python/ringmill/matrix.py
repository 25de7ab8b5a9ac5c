# SPDX-License-Identifier: Apache-2.0
"""Encrypted matrices of whole numbers. A matrix is one vector of slots, with its entries row after row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from ringmill.arrays.value import Array
from ringmill.check import arguments, instance, integer, items, shown
from ringmill.errors import MissingAttribute
from ringmill.fill import FULL
from ringmill.trace import Encrypted, compile_error, refuse, refusing
from ringmill.types import named
from ringmill.ufuncs import operate
from ringmill.values import whole_numbers

_SIZES = items(integer(1, 1 << 20, compile_error), "a pair of whole numbers, (rows, columns)", compile_error)


@dataclass(frozen=True, eq=False)
class Matrix:
    """An encrypted matrix. Entry (i, j) is slot i * columns + j of `vector`, which has rows times columns slots.

    ``+``, ``-`` and ``*`` go entry by entry, with a matrix of the same shape, an array of that shape, or a number.
    ``@`` is the product of matrices: with an array on either side, or of two encrypted square ones. The latter takes as
    many products of ciphertexts as there are rows, all at one depth (Jiang, Kim, Lauter and Song, *Secure outsourced
    matrix computation*). All results are exact modulo the program's modulus.

    >>> import ringmill as rm
    >>> @rm.program
    ... def square(x: rm.Encrypted[rm.integer[4]]):
    ...     a = rm.Matrix(x, (2, 2))
    ...     return (a @ a).vector
    >>> square(x=[1, 2, 3, 4])
    array([ 7, 10, 15, 22])
    """

    vector: Encrypted
    shape: tuple[int, int]

    def __post_init__(self) -> None:
        if len(self.shape) != 2:
            refuse(f"the shape of a matrix is a pair, (rows, columns), and this one is {shown(self.shape)}")
        if not self.vector._kind.whole:
            refuse(
                f"rm.Matrix is of whole numbers, and the vector is of {named(self.vector._kind)}; declare it "
                f"rm.Encrypted[rm.integer[{len(self.vector)}]]"
            )
        object.__setattr__(self, "shape", tuple(self.shape))
        rows, columns = self.shape
        if self.vector._fill.padded and not self.vector._fill.zeros:
            refuse(
                f"the vector has {self.vector._fill.length} values and padding that is not zero; make the matrix first"
            )
        object.__setattr__(self, "vector", self.vector._filling(FULL))  # zeros behind the array are entries
        if rows * columns != len(self.vector):
            refuse(
                f"a matrix of {rows} x {columns} has {rows * columns} entries, and the vector {len(self.vector)} "
                f"slots: {_padded(rows, columns)}"
            )

    def _made(self, vector: Encrypted, shape: tuple[int, int] | None = None) -> Matrix:
        return Matrix(vector, shape or self.shape)

    def _operand(self, other: Any) -> Any:
        """Returns the other operand of an operation entry by entry: a vector, an array of slots, or a number."""
        if isinstance(other, Matrix):
            if other.shape != self.shape:
                refuse(f"matrices of shapes {self.shape} and {other.shape} do not meet entry by entry")
            return other.vector
        array = _array(other, self.vector)
        if array.ndim == 0:
            return int(array)
        if array.shape != self.shape:
            refuse(f"an array of shape {array.shape} does not meet a matrix of {self.shape} entry by entry")
        return array.ravel()

    def __add__(self, other: Any) -> Matrix:
        return self._made(self.vector + self._operand(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Matrix:
        return self._made(self.vector - self._operand(other))

    def __rsub__(self, other: Any) -> Matrix:
        return self._made(self._operand(other) - self.vector)

    def __mul__(self, other: Any) -> Matrix:
        return self._made(self.vector * self._operand(other))

    __rmul__ = __mul__

    def __neg__(self) -> Matrix:
        return self._made(-self.vector)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or ufunc.__name__ not in _UFUNCS:
            refuse(f"numpy.{ufunc.__name__} does not work on encrypted matrices: {_HAS}")
        return operate(ufunc.__name__, inputs, Matrix)

    def __array_function__(self, function: Callable[..., Any], _types: Any, _args: Any, _kwargs: Any) -> NoReturn:
        refuse(f"numpy.{function.__name__} does not work on encrypted matrices: {_HAS}")

    def __array__(self, *_args: object, **_kwargs: object) -> NoReturn:
        refuse("an encrypted matrix cannot become a numpy array: its values are not known while it is traced")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        cure = _INSTEAD.get(name, _HAS)
        raise compile_error(f"an encrypted matrix has no attribute `{name}`: {cure}", kind=MissingAttribute)

    @property
    def T(self) -> Matrix:
        """The transpose, by as many masked rotations as the permutation has diagonals."""
        rows, columns = self.shape
        source = np.arange(rows * columns).reshape(rows, columns).T.ravel()
        return self._made(_permuted(self.vector, source), (columns, rows))

    def __matmul__(self, other: Any) -> Matrix:
        if isinstance(other, Matrix):
            return self._product(other)
        array = _array(other, self.vector)
        rows, columns = self.shape
        if array.shape != (columns, columns):
            refuse(
                f"a matrix of {rows} x {columns} is multiplied by an array of {columns} x {columns}, and this one has "
                f"shape {array.shape}; pad it with zeros"
            )
        return self._made(_linear(self.vector, np.kron(np.eye(rows, dtype=array.dtype), array.T)))

    def __rmatmul__(self, other: Any) -> Matrix:
        array = _array(other, self.vector)
        rows, columns = self.shape
        if array.shape != (rows, rows):
            refuse(
                f"an array times a matrix of {rows} x {columns} has {rows} x {rows} entries, and this one has shape "
                f"{array.shape}; pad it with zeros"
            )
        return self._made(_linear(self.vector, np.kron(array, np.eye(columns, dtype=array.dtype))))

    def _product(self, other: Matrix) -> Matrix:
        """Computes the sum over k of A_k * B_k, A_k(i, j) = A(i, i + j + k) and B_k(i, j) = B(i + j + k, j)."""
        size, columns = self.shape
        if size != columns or other.shape != self.shape:
            refuse(
                f"encrypted matrices are multiplied where both are square and of one size, and these are of "
                f"{self.shape} and {other.shape}; pad them with zeros"
            )
        i, j = np.divmod(np.arange(size * size), size)
        left = _permuted(self.vector, i * size + (i + j) % size)
        right = _permuted(other.vector, (i + j) % size * size + j)
        total = left * right
        for k in range(1, size):
            turned = _permuted(left, i * size + (j + k) % size)
            total = total + turned * right._turned(k * size)
        return self._made(total)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"<encrypted matrix of {rows} x {columns}>"


_HAS = "it has + - * with a matrix, an array or a number, @, .T, .shape, and its values as .vector"
_INSTEAD = {
    "sum": "all values are added by rm.sum(matrix.vector), those of rows by matrix @ np.ones((columns, columns), int)",
    "mean": "whole numbers have no exact mean; return rm.sum(matrix.vector), and divide what is decrypted",
    "dot": "the product of matrices is a @ b",
    "transpose": "the transpose is matrix.T",
    "reshape": "its values row after row make another: rm.Matrix(matrix.vector, (rows, columns))",
}
# The functions of numpy that are operators of matrices.
_UFUNCS = {"add", "subtract", "multiply", "matmul", "negative"}


for _message, _names in {
    "an encrypted matrix of whole numbers has no division; divide what is decrypted, as client.decrypt(run) / 2": [
        *("truediv", "rtruediv", "floordiv", "rfloordiv", "mod", "rmod", "divmod", "rdivmod")
    ],
    "an encrypted matrix has no power; write products, a @ a of matrices and a * a entry by entry": ["pow", "rpow"],
    "encrypted matrices cannot be compared; rm.equal(a.vector, b.vector) is 1 where entries are equal": [
        *("eq", "ne", "lt", "le", "gt", "ge")
    ],
    "an encrypted matrix has no truth value: a program cannot branch on data it cannot see": ["bool"],
    "entries of an encrypted matrix cannot be picked out: multiply by a 0/1 array of its shape, and add by rm.sum": [
        *("getitem", "setitem", "delitem")
    ],
    "an encrypted matrix cannot be walked through: its entries are computed on together; "
    "rm.sum(matrix.vector) adds them up, and matrix.shape is (rows, columns)": ["iter", "len", "contains"],
    "an encrypted matrix is no number: its entries are in matrix.vector": [
        *("float", "int", "complex", "index", "round", "abs", "invert")
    ],
    "an encrypted matrix holds numbers, not bits: of 0 and 1, a * b is `and`, a + b - a * b is `or`": [
        *("and", "rand", "or", "ror", "xor", "rxor", "lshift", "rlshift", "rshift", "rrshift")
    ],
    "an encrypted matrix cannot be hashed, so it is no key of a dict and no member of a set": ["hash"],
}.items():
    for _name in _names:
        setattr(Matrix, f"__{_name}__", refusing(_message))


def _vector(name: str, value: Any) -> Any:
    if isinstance(value, Array):
        refuse("rm.Matrix is of a vector of slots, and this program is of arrays, which have @ and .T themselves")
    return _IS_VECTOR(name, value)


_IS_VECTOR = instance(Encrypted, "an encrypted vector of a program", compile_error)
_CHECKED = arguments("rm.Matrix", compile_error, vector=_vector, shape=_SIZES)
Matrix.__init__ = _CHECKED(Matrix.__init__)  # type: ignore[method-assign]


def _padded(rows: int, columns: int) -> str:
    """Returns advice to make a matrix of this shape fill a possible number of slots."""
    shape = tuple(1 << (size - 1).bit_length() for size in (rows, columns))
    slots = f"compile with slots={shape[0] * shape[1]}"
    return slots if shape == (rows, columns) else f"pad it with zeros to {shape[0]} x {shape[1]}, and {slots}"


def _array(value: Any, beside: Encrypted) -> np.ndarray:
    return whole_numbers("an operand of a matrix", value, beside._kind, compile_error, constant=True)


def _permuted(x: Encrypted, source: Sequence[int] | np.ndarray) -> Encrypted:
    """Permutes `x`: slot s of the result is slot source[s] of `x`."""
    slots = np.arange(len(x))
    steps = (np.asarray(source) - slots) % len(x)
    masks = {int(step): (steps == step).astype(np.int64) for step in np.unique(steps)}
    return _masked(x, masks)


def _linear(x: Encrypted, by: np.ndarray) -> Encrypted:
    """Multiplies the matrix `by` with the vector of slots, diagonal by diagonal."""
    slots = np.arange(len(x))
    diagonals = {step: by[slots, (slots + step) % len(x)] for step in range(len(x))}
    found = {step: diagonal for step, diagonal in diagonals.items() if diagonal.any()}
    if not found:
        refuse("a matrix times an array of zeros would not be encrypted")
    return _masked(x, found)


def _masked(x: Encrypted, masks: dict[int, np.ndarray]) -> Encrypted:
    """Adds up the rotations of `x` by each step, each times the step's mask."""
    total: Encrypted | None = None
    for step, mask in masks.items():
        moved = x._turned(step)
        term = moved if (mask == 1).all() else moved * mask
        total = term if total is None else total + term
    assert total is not None
    return total

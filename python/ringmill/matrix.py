"""Encrypted matrices of whole numbers: one vector of slots, entries row after row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ringmill.check import arguments, instance, integer, items, shown
from ringmill.fill import FULL
from ringmill.trace import Encrypted, compile_error, refuse
from ringmill.types import named
from ringmill.values import whole_numbers

_SIZES = items(integer(1, 1 << 20, compile_error), "a pair of whole numbers, (rows, columns)", compile_error)


@dataclass(frozen=True)
class Matrix:
    """An encrypted matrix: entry (i, j) is slot i * columns + j of `vector`, and rows times columns are its slots.

    ``+``, ``-`` and ``*`` go entry by entry, with a matrix of the same shape, an array of that shape, or a number.
    ``@`` is the product of matrices: with an array on either side, or of two encrypted square ones, which take as many
    products of ciphertexts as there are rows, all at one depth (Jiang, Kim, Lauter and Song, *Secure outsourced matrix
    computation*). What is computed is exact modulo the program's modulus.

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
                f"rm.Matrix is of whole numbers, and the vector is of {named(self.vector._kind)}; declare rm.integer"
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
                "slots: pad it with rows or columns of zeros"
            )

    def _made(self, vector: Encrypted, shape: tuple[int, int] | None = None) -> Matrix:
        return Matrix(vector, shape or self.shape)

    def _operand(self, other: Any) -> Any:
        """What stands beside the vector, entry by entry."""
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

    # numpy leaves its operators to those here.
    __array_ufunc__ = None

    @property
    def T(self) -> Matrix:
        """The transpose: rotations under masks, as many as it has diagonals."""
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
        """The sum over k of A_k * B_k, A_k(i, j) = A(i, i + j + k) and B_k(i, j) = B(i + j + k, j)."""
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


_VECTOR = instance(Encrypted, "an encrypted vector of a program", compile_error)
_CHECKED = arguments("rm.Matrix", compile_error, vector=_VECTOR, shape=_SIZES)
Matrix.__init__ = _CHECKED(Matrix.__init__)  # type: ignore[method-assign]


def _array(value: Any, beside: Encrypted) -> np.ndarray:
    return whole_numbers("an operand of a matrix", value, beside._kind, compile_error, constant=True)


def _permuted(x: Encrypted, source: Sequence[int] | np.ndarray) -> Encrypted:
    """Slot s of the result is slot source[s] of `x`."""
    slots = np.arange(len(x))
    steps = (np.asarray(source) - slots) % len(x)
    masks = {int(step): (steps == step).astype(np.int64) for step in np.unique(steps)}
    return _masked(x, masks)


def _linear(x: Encrypted, by: np.ndarray) -> Encrypted:
    """`by` times the vector of slots, diagonal by diagonal."""
    slots = np.arange(len(x))
    diagonals = {step: by[slots, (slots + step) % len(x)] for step in range(len(x))}
    found = {step: diagonal for step, diagonal in diagonals.items() if diagonal.any()}
    if not found:
        refuse("a matrix times an array of zeros would not be encrypted")
    return _masked(x, found)


def _masked(x: Encrypted, masks: dict[int, np.ndarray]) -> Encrypted:
    """The sum of what is rotated by each step, times the step's mask."""
    total: Encrypted | None = None
    for step, mask in masks.items():
        moved = x._turned(step)
        term = moved if (mask == 1).all() else moved * mask
        total = term if total is None else total + term
    assert total is not None
    return total

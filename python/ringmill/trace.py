"""Tracing: running a program function on stand-ins that record each operation with the user's source line."""

from __future__ import annotations

import numbers
import os
import sys
from typing import Any, NoReturn

import numpy as np

from ringmill._ringmill import MacroBuilder
from ringmill.errors import CompileError

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep

Line = tuple[str, int]


def user_line() -> Line:
    """File and line of the innermost caller outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def refuse(message: str, line: Line | None = None) -> NoReturn:
    """Raises a CompileError that points at the user's line."""
    file, number = line or user_line()
    error = CompileError(f"{file}:{number}: {message}")
    error.file, error.line = file, number
    raise error


class Tracer:
    """Collects the macro program of one run of a program function."""

    def __init__(self, name: str, slots: int) -> None:
        self.slots = slots
        self.builder = MacroBuilder(name, slots)

    def record(self, operation: str, *operands: Any) -> int:
        """One call of the builder at the user's line; gives the number of the new value."""
        line = user_line()
        try:
            return getattr(self.builder, operation)(*operands, *line)
        except CompileError as error:
            error.file, error.line = line
            raise

    def emit(self, operation: str, *operands: Any) -> Encrypted:
        """One operation with an encrypted result."""
        return Encrypted(self, self.record(operation, *operands))

    def constant(self, value: Any) -> Plain:
        """A constant vector; lengths that divide the slot count repeat through the slots."""
        array = np.asarray(value)
        if array.dtype.kind not in "biufc":
            refuse(f"a constant must hold numbers, and this one has dtype {array.dtype}")
        array = np.atleast_1d(array.astype(np.complex128))
        if array.ndim > 1:
            refuse(
                f"a constant must be a scalar or one-dimensional, and this one has shape {array.shape}; ravel it first"
            )
        if array.size == 0 or self.slots % array.size:
            refuse(
                f"a constant of {array.size} values does not fit {self.slots} slots: its length must divide "
                f"{self.slots}; pad it with zeros"
            )
        return Plain(self, self.record("vector", np.ascontiguousarray(np.tile(array, self.slots // array.size))))


class Vector:
    """A traced vector of slots. Made by the tracer, never by hand."""

    # numpy must hand `array + vector` to the vector, not walk over the array.
    __array_ufunc__ = None
    __slots__ = ("_id", "_tracer")

    def __init__(self, tracer: Tracer, identifier: int) -> None:
        self._tracer = tracer
        self._id = identifier

    def __len__(self) -> int:
        """The number of slots."""
        return self._tracer.slots

    def __bool__(self) -> NoReturn:
        refuse(
            "a traced vector has no truth value: a program cannot branch on data it cannot see; "
            "compute both sides and blend them, or approximate the comparison with rm.polynomial"
        )

    def __iter__(self) -> NoReturn:
        refuse("a traced vector cannot be iterated: its slots are computed on all together; use rm.rotate and rm.sum")

    def __getitem__(self, index: object) -> NoReturn:
        refuse("slots of a traced vector cannot be picked out: multiply by a 0/1 mask and use rm.rotate instead")

    def _compare(self, _other: object) -> NoReturn:
        refuse("traced vectors cannot be compared; approximate the comparison with rm.polynomial")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compare  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class Plain(Vector):
    """A vector known in the clear to whoever runs the program: annotate a parameter with it.

    It may stand beside an encrypted vector in ``+``, ``-`` and ``*``. Arithmetic between plain vectors alone belongs
    outside the program, in numpy.
    """

    __slots__ = ()

    def _alone(self, *_operands: object) -> NoReturn:
        refuse(
            "arithmetic without an encrypted operand belongs outside the program: do it in numpy and pass the result"
        )

    def _meet(self, other: object) -> Any:
        if isinstance(other, Encrypted):
            return NotImplemented
        return self._alone()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _meet
    __neg__ = __pow__ = __truediv__ = __lshift__ = __rshift__ = _alone


class Encrypted(Vector):
    """An encrypted vector: annotate a parameter with it.

    Operators: ``+ - *`` with encrypted vectors, plain vectors, numpy arrays and numbers; unary ``-``; ``**`` with a
    positive integer; ``/`` with a number; ``<<`` and ``>>`` rotate the slots cyclically to the left and right.
    """

    __slots__ = ()

    def _operand(self, other: object) -> Vector | float | None:
        """`other` as a vector of this trace or a real number; None for what it cannot be."""
        if isinstance(other, Vector):
            if other._tracer is not self._tracer:
                refuse("this vector belongs to another program")
            return other
        if isinstance(other, numbers.Real) or (
            isinstance(other, np.ndarray) and other.shape == () and other.dtype.kind in "biuf"
        ):
            return float(other)  # type: ignore[arg-type]
        if isinstance(other, (numbers.Complex, np.ndarray, list, tuple)):
            return self._tracer.constant(other)
        return None

    def _binary(self, operation: str, other: object) -> Encrypted:
        operand = self._operand(other)
        if operand is None:
            return NotImplemented
        right = operand._id if isinstance(operand, Vector) else self._tracer.record("scalar", operand)
        return self._tracer.emit(operation, self._id, right)

    def __add__(self, other: object) -> Encrypted:
        return self._binary("add", other)

    def __sub__(self, other: object) -> Encrypted:
        return self._binary("sub", other)

    def __mul__(self, other: object) -> Encrypted:
        return self._binary("mul", other)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: object) -> Encrypted:
        return (-self).__add__(other)

    def __truediv__(self, other: object) -> Encrypted:
        operand = self._operand(other)
        if not isinstance(operand, float):
            refuse("division is by a number only; multiply by a polynomial approximation of 1/x instead")
        if operand == 0:
            refuse("division by zero")
        return self * (1.0 / operand)

    def __rtruediv__(self, other: object) -> NoReturn:
        refuse("division by an encrypted vector: use rm.polynomial with an approximation of 1/x")

    def __neg__(self) -> Encrypted:
        return self._tracer.emit("neg", self._id)

    def __pow__(self, exponent: object) -> Encrypted:
        if not isinstance(exponent, numbers.Integral) or int(exponent) < 1:
            refuse(f"an encrypted vector can be raised to a positive integer, not to {exponent!r}")
        known = {1: self}

        def power(k: int) -> Encrypted:
            if k not in known:
                high = 1 << ((k - 1).bit_length() - 1)  # the largest power of two below k, for depth ceil(log2 k)
                known[k] = power(high) * power(k - high)
            return known[k]

        return power(int(exponent))

    def __lshift__(self, steps: int) -> Encrypted:
        return self._rotated(steps)

    def __rshift__(self, steps: int) -> Encrypted:
        return self._rotated(-steps)

    def _rotated(self, steps: int) -> Encrypted:
        if not isinstance(steps, numbers.Integral):
            refuse(f"a rotation takes a whole number of slots, not {steps!r}")
        steps = int(steps) % len(self)
        return self if steps == 0 else self._tracer.emit("rotate", self._id, steps)

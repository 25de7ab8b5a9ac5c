# SPDX-License-Identifier: Apache-2.0
"""Traces a program: runs its function on stand-ins that record each operation with the user's source line."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NoReturn, TypeVar, get_origin

import numpy as np

from ringmill import advice
from ringmill._ringmill import MacroBuilder
from ringmill.advice import approximated
from ringmill.check import integer, shown
from ringmill.errors import ArgumentError, CompileError, MissingAttribute
from ringmill.fill import FULL, Fill
from ringmill.frames import Line, user_line
from ringmill.powers import raised
from ringmill.types import SLOTS, Type, join, named, of
from ringmill.ufuncs import operate
from ringmill.values import Tiled, numeric, spread, typed, whole_numbers

_LARGEST_EXPONENT = 1 << 32  # far beyond the depth of any parameters
_DOUBLES = 1 << 53  # below it a double holds every whole number; 2^53 itself may be 2^53 + 1, rounded

E = TypeVar("E", bound=CompileError)


def compile_error(message: str, line: Line | None = None, kind: type[E] = CompileError) -> E:
    """Makes a CompileError that points at the user's line."""
    file, number = line or user_line()
    error = kind(f"{file}:{number}: {message}")
    error.file, error.line = file, number
    return error


def refuse(message: str, line: Line | None = None) -> NoReturn:
    """Raises a CompileError that points at the user's line."""
    raise compile_error(message, line)


class Tracer:
    """Collects the macro program of one run of a program function."""

    def __init__(self, name: str, slots: int, scheme: str) -> None:
        self.slots = slots
        self.builder = MacroBuilder(name.encode(errors="backslashreplace").decode(), slots, scheme)
        # The programs, procedures and bodies that this trace is inside of, outermost first.
        self.inside: list[object] = []
        # The line of the operations that are recorded, if it is not that of the caller.
        self.line: Line | None = None
        # The traced procedures, by function and kind of arguments: each one's number, and the shape of its result.
        self.procedures: dict[Any, Any] = {}

    def record(self, operation: str, *operands: Any) -> Any:
        """Calls the builder at the user's line. Returns the number of the new value, or the builder's other result."""
        line = self.line or user_line()
        try:
            return getattr(self.builder, operation)(*operands, *line)
        except CompileError as error:
            file, number = line
            message = str(error).removeprefix(f"{file}:{number}: ")
            raise compile_error(message, line) from None

    def emit(self, kind: Type, fill: Fill, operation: str, *operands: Any) -> Encrypted:
        """Records one operation with an encrypted result, which has an element type and a fill."""
        return Encrypted(self, self.record(operation, *operands), kind, fill)

    def numbers(self, name: str, value: Any, kind: Type) -> np.ndarray:
        """Returns constants that stand beside values of an element type. Beside whole numbers they may be any whole
        numbers.
        """
        if not kind.whole:
            return numeric(name, value, compile_error)
        if isinstance(value, Tiled):
            refuse(f"{name} is tiled, which makes doubles of it, beside {kind}; repeat it by np.tile instead")
        return exact(name, whole_numbers(name, value, kind, compile_error, constant=True))

    def argument(self, name: str, value: Any, kind: Type) -> Plain:
        """Records a constant that is given for an argument of a declared type."""
        array = typed(name, value, kind, compile_error)
        if kind.length is not None and kind.length > self.slots:
            refuse(f"{name} of type {kind} does not fit {self.slots} slots")
        vector = spread(exact(name, array) if kind.whole else array, self.slots)
        return Plain(self, self.record("vector", vector), kind.element, Fill.of(kind, self.slots))

    def constant(self, value: Any, name: str = "a constant", kind: Type = SLOTS, fill: Fill = FULL) -> Plain:
        """Records a constant vector with one value for each slot. One number, or a tiled value, fills all slots.

        It has the element type of the other operand. Complex constants turn real values into complex ones. Beside a
        vector of a declared length it may have that length.
        """
        if isinstance(value, Tiled) and not kind.whole:
            array = value.spread(name, self.slots, compile_error)
        else:
            array = self.numbers(name, value, kind)
        if array.imag.any():
            kind = SLOTS
        if array.ndim > 1:
            refuse(
                f"{name} must be a scalar or one-dimensional, and this one has shape {array.shape}; "
                "np.ravel(values) has them row after row"
            )
        if array.ndim == 0:
            array = np.full(self.slots, array)
        if array.size == fill.length:
            return Plain(self, self.record("vector", spread(array, self.slots)), kind, Fill(fill.length, zeros=True))
        if array.size != self.slots:
            cure = "cut it" if array.size > self.slots else "pad it with zeros, or repeat it by rm.tile(values)"
            refuse(f"{name} of {array.size} values does not fit {self.slots} slots; {cure}")
        return Plain(self, self.record("vector", np.ascontiguousarray(array)), kind)


def exact(name: str, array: np.ndarray) -> np.ndarray:
    """Returns whole numbers below 2^53 as doubles. Others are refused, as doubles would round some of them."""
    for number in (int(array.min()), int(array.max())) if array.size else ():
        if abs(number) >= _DOUBLES:
            refuse(f"{name} is {number}: constants of 2^53 and more are not traced, since doubles round some of them")
    return array.astype(np.complex128)


@dataclass(frozen=True)
class Annotation:
    """``rm.Encrypted[...]`` or ``rm.Plain[...]``: how a parameter arrives, and its type."""

    vector: type[Vector]
    type: Type

    def __repr__(self) -> str:
        return f"rm.{self.vector.__name__}[{self.type!r}]"


def annotation_of(written: Any) -> Any:
    """Returns the part of an annotation that is for Ringmill: in ``Annotated[T, rm.Encrypted[...]]`` the second part,
    as T is a type checker's.
    """
    if get_origin(written) is not Annotated:
        return written
    ours = [item for item in written.__metadata__ if isinstance(item, Annotation)]
    match ours:
        case []:
            return written.__origin__
        case [one]:
            return one
        case _:
            return written


# The functions of numpy that are operators of traced vectors.
_UFUNCS = {
    *("add", "subtract", "multiply", "divide", "power", "float_power", "negative", "positive", "square"),
}


class Vector:
    """A traced vector of slots. Only the tracer makes it."""

    __pandas_priority__ = 10_000  # lets `series + vector` be one vector, not a sum for each element
    __slots__ = ("_fill", "_id", "_kind", "_tracer")

    def __class_getitem__(cls, kind: Any) -> Annotation:
        return Annotation(cls, of(f"rm.{cls.__name__}", kind))

    def __init__(self, *made: Any, **_named: Any) -> None:
        if len(made) not in (3, 4) or not isinstance(made[0], Tracer):
            kind = type(self).__name__
            raise ArgumentError(
                f"rm.{kind} has no constructor to call; annotate a parameter of an @rm.program function with it"
            )
        self._tracer: Tracer = made[0]
        self._id: int = made[1]
        self._kind: Type = made[2]
        self._fill: Fill = made[3] if len(made) == 4 else FULL

    def __repr__(self) -> str:
        kind = "" if self._kind == SLOTS else f" of {self._kind}"
        return f"<{type(self).__name__.lower()} vector of {len(self)} slots{kind}>"

    def __format__(self, spec: str) -> str:
        if spec:
            refuse(
                "the values of a traced vector are not known, so they cannot be formatted; print(x) says what it "
                "is, and client.decrypt(run) has values"
            )
        return repr(self)

    def __copy__(self) -> Vector:
        return self

    def __deepcopy__(self, _memo: object) -> Vector:
        return self

    def __reduce_ex__(self, _protocol: object) -> NoReturn:
        refuse("a traced vector is part of a program and cannot be pickled; save the program compiled")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        message = f"a traced vector has no attribute `{name}`: {advice.instead(name)}"
        raise compile_error(message, kind=MissingAttribute)

    def __array__(self, *_args: object, **_kwargs: object) -> NoReturn:
        refuse(
            "a traced vector cannot become a numpy array or a part of one: its values are not known in a trace; "
            "compute on the vector itself, or on what is decrypted"
        )

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        name = ufunc.__name__
        if method == "__call__" and name in _UFUNCS and not kwargs:
            return operate(name, inputs, Vector)
        if kwargs.get("out"):
            refuse(f"the result of numpy.{name} with a traced vector is a traced vector, which no array can take in")
        called = name if method == "__call__" else f"{name}.{method}"
        cure = advice.instead_of_ufunc(ufunc, called, list(inputs), Vector, self._kind.whole)
        refuse(f"numpy.{called} does not work on traced vectors: {cure}")

    def __array_function__(self, function: Callable[..., Any], _types: Any, _args: Any, _kwargs: Any) -> NoReturn:
        name = function.__name__
        refuse(f"numpy.{name} does not work on traced vectors: {advice.instead(name)}")

    def __len__(self) -> int:
        """Returns the number of slots."""
        return self._tracer.slots

    def __bool__(self) -> NoReturn:
        refuse(
            "a traced vector has no truth value: a program cannot branch on data it cannot see; compute both sides and "
            "blend them by a vector of 0 and 1, as mask * a + (1 - mask) * b"
        )

    def __iter__(self) -> NoReturn:
        refuse(
            "a traced vector cannot be iterated, as by sum(x), max(x) or a loop: its slots are computed on together; "
            "rm.sum(x) adds them up, and x << 1 has each slot's neighbour in its place"
        )

    def __getitem__(self, index: object) -> NoReturn:
        refuse("slots of a traced vector cannot be picked out: multiply by a 0/1 mask and use rm.rotate instead")

    def _compare(self, other: object) -> NoReturn:
        cure = advice.instead_of_comparing(other, self._kind.whole)
        refuse(f"traced vectors cannot be compared, since their values are encrypted; {cure}")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compare  # type: ignore[assignment]


def refusing(message: str) -> Callable[..., NoReturn]:
    """Makes a method that refuses all operands."""

    def refused(_self: object, *_operands: object) -> NoReturn:
        refuse(message)

    return refused


def _refusing(message: str, function: str) -> Callable[..., NoReturn]:
    def refused(self: Vector, *_operands: object) -> NoReturn:
        cure = f"; {advice.instead_of_function(function, self._kind.whole)}" if function else ""
        refuse(f"{message}{cure}")

    return refused


# The refused operators: a message, the function of t that a polynomial may replace, and the operators' names.
for _message, _function, _names in (
    ("a traced vector cannot be hashed, so it is no key of a dict and no member of a set", "", ["hash"]),
    (
        "a traced vector is no number, so Python's own functions of numbers refuse it, as math.exp(x)",
        "np.exp(t)",
        ["float", "int", "complex", "index"],
    ),
    ("a traced vector has no absolute value", "np.abs(t)", ["abs"]),
    (
        "traced vectors are not rounded; round what is decrypted, as np.round(client.decrypt(run))",
        "",
        ["round", "floor", "ceil", "trunc"],
    ),
    (
        "traced vectors have no remainder and no whole quotient; x * (1 / 3) is a third, and @rm.circuit has // and % "
        "of parameters annotated rm.Encrypted[rm.uint(8)]",
        "",
        ["floordiv", "rfloordiv", "mod", "rmod", "divmod", "rdivmod"],
    ),
    (
        f"`@` does not work on traced vectors: {advice.DOT}; of whole numbers rm.Matrix(x, (rows, columns)) has it",
        "",
        ["matmul", "rmatmul"],
    ),
    (
        "traced vectors hold numbers, not bits: of 0 and 1, x * y is `and`, x + y - x * y is `or`, 1 - x is `not`",
        "",
        ["and", "rand", "or", "ror", "xor", "rxor", "invert"],
    ),
    ("a number cannot be raised to a traced vector", "2.0 ** t", ["rpow"]),
    (f"a number cannot be shifted by a traced vector: {advice.ROTATE}", "", ["rlshift", "rrshift"]),
    ("slots of a traced vector cannot be set: blend two vectors by 0/1 masks", "", ["setitem", "delitem"]),
):
    for _name in _names:
        setattr(Vector, f"__{_name}__", _refusing(_message, _function))


class Plain(Vector):
    """A vector that whoever runs the program knows in the clear. Annotate a parameter with it.

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

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _meet
    __neg__ = __pos__ = __pow__ = __rtruediv__ = __lshift__ = __rshift__ = _alone


class Encrypted(Vector):
    """An encrypted vector. Annotate a parameter with it.

    Operators are ``+ - *`` with encrypted vectors, plain vectors, numpy arrays and numbers; unary ``-``; ``**`` with a
    positive integer; and ``/`` with a number. ``<<`` and ``>>`` rotate the slots cyclically to the left and right. An
    array has one value for each slot; :func:`ringmill.tile` repeats a shorter one.
    """

    __slots__ = ()

    def _operand(self, other: object) -> Vector | float:
        """Returns `other` as a vector of this trace or a real number, if it mixes with this vector's values."""
        if isinstance(other, Vector):
            if other._tracer is not self._tracer:
                refuse("this vector belongs to another program; give it to this one as an argument")
            mixed(self._kind, other._kind)
            return other
        if self._kind.whole:
            array = self._tracer.numbers("a constant", other, self._kind)
            return float(array.real) if array.ndim == 0 else self._constant(other)
        scalar = other[()] if isinstance(other, (np.ndarray, np.generic)) and other.shape == () else other
        if isinstance(scalar, (numbers.Number, np.bool_)) and not isinstance(scalar, (complex, np.complexfloating)):
            try:
                return float(scalar)  # type: ignore[arg-type]
            except Exception:
                refuse(f"the number {shown(scalar)} is too large for a float, or none")
        return self._constant(other)

    def _constant(self, other: object) -> Plain:
        return self._tracer.constant(other, kind=self._kind, fill=self._fill)

    def _binary(self, operation: str, other: object) -> Encrypted:
        operand = self._operand(other)
        if isinstance(operand, Vector):
            kind, fill, number = mixed(self._kind, operand._kind), operand._fill, operand._id
        else:
            kind, fill = self._kind, Fill(self._fill.length, operand == 0)
            number = self._tracer.record("scalar", operand)
        if not self._fill.fits(fill):
            refuse(
                f"an array of {self._fill.length} values and one of {fill.length} do not meet value by value; declare "
                "both of one length"
            )
        met = self._fill.product(fill) if operation == "mul" else self._fill.sum(fill)
        return self._tracer.emit(kind, met, operation, self._id, number)

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

    def __pos__(self) -> Encrypted:
        return self

    def __truediv__(self, other: object) -> Encrypted:
        if self._kind.whole:
            refuse(
                f"{self._kind} has no division: its values are whole numbers, and quotients are not; divide what is "
                "decrypted, as client.decrypt(run) / 2, declare rm.real, or write @rm.circuit, which has x // 2"
            )
        if isinstance(other, Encrypted):
            refuse(f"division is by a number only: x / y is x times 1 / y; {approximated('1 / t', 'y', (0.5, 2))}")
        if isinstance(other, Plain):
            refuse("division is by a number only; multiply by y, and give plain={'y': 1 / values} to the run")
        operand = self._operand(other)
        if not isinstance(operand, float):
            refuse("division is by a number only; multiply by the reciprocals, x * (1 / np.asarray(values))")
        if operand == 0:
            refuse("division by zero")
        return self * (1.0 / operand)

    def __rtruediv__(self, _other: object) -> NoReturn:
        refuse(f"division by an encrypted vector is no polynomial; {approximated('1 / t', 'x', (0.5, 2))}")

    def __neg__(self) -> Encrypted:
        return self._tracer.emit(self._kind, self._fill, "unary", "neg", self._id)

    def __pow__(self, exponent: object, modulus: object = None) -> Encrypted:
        if modulus is not None:
            refuse("an encrypted vector cannot be reduced modulo a number")
        whole = integer(
            1, _LARGEST_EXPONENT, lambda said: compile_error(f"{said}; {advice.power(exponent, self._kind.whole)}")
        )
        return raised(self, whole("the exponent of an encrypted vector", exponent), operator.mul)

    def __lshift__(self, steps: int) -> Encrypted:
        return self._rotated(_steps("the steps of a rotation", steps))

    def __rshift__(self, steps: int) -> Encrypted:
        return self._rotated(-_steps("the steps of a rotation", steps))

    def _rotated(self, steps: int) -> Encrypted:
        if self._fill.padded and steps % len(self):
            refuse(
                f"a rotation would move padding among the {self._fill.length} declared values, which stand in "
                f"{len(self)} slots: declare as many values as there are slots, or add all by rm.sum(x)"
            )
        return self._turned(steps)

    def _filling(self, fill: Fill) -> Encrypted:
        """Returns the same vector with another fill. The caller must know what the padding holds."""
        return Encrypted(self._tracer, self._id, self._kind, fill)

    def _turned(self, steps: int) -> Encrypted:
        """Rotates all slots, whatever they hold. The caller must know what the padding does."""
        steps %= len(self)
        if steps == 0:
            return self
        return self._tracer.emit(self._kind, self._fill.unsure, "rotate", self._id, steps)


def mixed(a: Type, b: Type) -> Type:
    """Returns the element type of an operation's result. Types that do not mix are refused at the user's line."""
    both = join(a, b)
    if both is None:
        refuse(f"{named(a)} and {named(b)} do not mix in one operation; declare the arguments of one type")
    return both


_steps = integer(refusal=compile_error)

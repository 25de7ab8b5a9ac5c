# SPDX-License-Identifier: Apache-2.0
"""Traced integers and bits, which the parameters of a circuit are while it is traced, and the operations on them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ringmill._ringmill import CircuitBuilder
from ringmill.check import arguments, integer, items, shown
from ringmill.circuit_python import Refusing
from ringmill.errors import ArgumentError, CompileError
from ringmill.trace import compile_error, refuse
from ringmill.types import Type, bit, sint, uint

_KINDS = frozenset({bit.kind, uint(1).kind, sint(1).kind})


def kind_of(of: Type) -> tuple[int, bool]:
    """Returns the bits of a type, and whether it is signed."""
    return (1, False) if of.kind == bit.kind else (of.bits or 0, of.kind == sint(1).kind)


def type_of(kind: tuple[int, bool]) -> Type:
    bits, signed = kind
    if signed:
        return sint(bits)
    return bit if bits == 1 else uint(bits)


def _holding(a: tuple[int, bool], b: tuple[int, bool]) -> str:
    """Returns how to convert to the smallest type that holds all values of both types, or advice if there is none."""
    signed = a[1] or b[1]
    bits = max(bits + (signed and not own) for bits, own in (a, b))
    if bits > 64:
        return "no type holds both; convert one to the other's, as x.to(type), which cuts off what does not fit"
    wider = type_of((bits, signed))
    return f"{wider!r} holds both: convert each that is of another type, as x.to({wider!r})"


def _kind_of_value(value: int) -> tuple[int, bool]:
    """Returns the smallest type that has a value."""
    return (max(1, value.bit_length()), False) if value >= 0 else ((-value - 1).bit_length() + 1, True)


class Trace:
    """Collects the program of one run of a function."""

    def __init__(self) -> None:
        self.builder = CircuitBuilder()
        # The circuits that are being traced, outermost first.
        self.inside: list[object] = []

    def record(self, operation: str, *operands: Any) -> int:
        """Calls a method of the builder. An error points at the user's line."""
        try:
            return int(getattr(self.builder, operation)(*operands))
        except CompileError as error:
            raise compile_error(str(error)) from None
        except (TypeError, OverflowError) as error:
            raise compile_error(f"{operation}: {error}") from None


class Integer(Refusing):
    """A traced integer or bit. Only tracing makes it."""

    __hash__ = Refusing.__hash__  # `__eq__` would remove it
    __slots__ = ("_kind", "_number", "_trace")

    def __init__(self, trace: Trace, number: int, kind: tuple[int, bool]) -> None:
        if not isinstance(trace, Trace):
            raise ArgumentError(
                "rm.Integer has no constructor to call; annotate a parameter of an @rm.circuit function"
            )
        self._trace, self._number, self._kind = trace, number, kind

    @property
    def type(self) -> Type:
        """The type, such as ``rm.uint(8)``. The result of a comparison is ``rm.bit``."""
        return type_of(self._kind)

    def _of(self, number: int, kind: tuple[int, bool] | None = None) -> Integer:
        return Integer(self._trace, number, kind or self._kind)

    def _beside(self, other: Any, name: str = "the other operand") -> Integer:
        """Returns the other operand as an integer of the same type, encrypted or constant."""
        if isinstance(other, Integer):
            if other._trace is not self._trace:
                refuse("the two integers are of different circuits; give the one to the other's circuit as an argument")
            if other._kind != self._kind:
                refuse(
                    f"{self.type!r} and {other.type!r} do not mix, {name} is the latter; "
                    f"{_holding(self._kind, other._kind)}"
                )
            return other
        return self._of(constant(self._trace, name, other, self._kind))

    def _two(self, name: str, other: Any, swapped: bool = False, kind: tuple[int, bool] | None = None) -> Integer:
        beside = self._beside(other)
        a, b = (beside, self) if swapped else (self, beside)
        return self._of(self._trace.record("binary", name, a._number, b._number), kind)

    def __add__(self, other: Any) -> Integer:
        return self._two("add", other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Integer:
        return self._two("sub", other)

    def __rsub__(self, other: Any) -> Integer:
        return self._two("sub", other, swapped=True)

    def __mul__(self, other: Any) -> Integer:
        return self._two("mul", other)

    __rmul__ = __mul__

    def __neg__(self) -> Integer:
        return self._two("sub", 0, swapped=True)

    def __pos__(self) -> Integer:
        return self

    def __and__(self, other: Any) -> Integer:
        return self._two("and", other)

    __rand__ = __and__

    def __or__(self, other: Any) -> Integer:
        return self._two("or", other)

    __ror__ = __or__

    def __xor__(self, other: Any) -> Integer:
        return self._two("xor", other)

    __rxor__ = __xor__

    def __invert__(self) -> Integer:
        return self._of(self._trace.record("invert", self._number))

    def __truediv__(self, _other: Any) -> Integer:
        refuse(
            "quotients of whole numbers are none, and circuits compute on whole numbers; x // y rounds down, of signed "
            "integers x.quotient(y) towards 0"
        )

    __rtruediv__ = __truediv__

    def __pow__(self, exponent: Any, modulus: Any = None) -> Integer:
        """Multiplies the integer with itself `exponent` times, modulo 2^width as all products. The power 0 is 1."""
        if modulus is not None:
            refuse("a power modulo a number is not there; write (x**n) % m in a type that holds x**n")
        if isinstance(exponent, Integer):
            refuse(
                "an exponent must be known; of a known base rm.lookup(x, [base**i for i in range(n)], type) reads "
                "powers"
            )
        left = integer(0, 2**32 - 1, compile_error)("the exponent of an encrypted integer", exponent)
        power, square = None, self
        while left:
            if left & 1:
                power = square if power is None else power * square
            left >>= 1
            square = square * square if left else square
        return self * 0 + 1 if power is None else power

    def __abs__(self) -> Integer:
        """Returns the absolute value. The least value of a signed type has no opposite in it, and stays as it is."""
        return select(self < 0, -self, self) if self._kind[1] else self

    def __divmod__(self, other: Any) -> tuple[Integer, Integer]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Integer, Integer]:
        return other // self, other % self

    def _floor(self) -> None:
        if self._kind[1]:
            refuse(
                "// and % of signed integers round down in Python; here x.quotient(y) rounds towards 0, and "
                "x.remainder(y) has the sign of x"
            )

    def __floordiv__(self, other: Any) -> Integer:
        self._floor()
        return self._two("div", other)

    def __rfloordiv__(self, other: Any) -> Integer:
        self._floor()
        return self._two("div", other, swapped=True)

    def __mod__(self, other: Any) -> Integer:
        self._floor()
        return self._two("rem", other)

    def __rmod__(self, other: Any) -> Integer:
        self._floor()
        return self._two("rem", other, swapped=True)

    @arguments("quotient", compile_error)
    def quotient(self, other: Integer | int) -> Integer:
        """Computes self / other, rounded towards 0. Division by 0 gives ones in all bits."""
        return self._two("div", other)

    @arguments("remainder", compile_error)
    def remainder(self, other: Integer | int) -> Integer:
        """Computes the remainder of :meth:`quotient`, with the sign of self. Division by 0 gives self."""
        return self._two("rem", other)

    def __lt__(self, other: Any) -> Integer:
        return self._two("lt", other, kind=(1, False))

    def __le__(self, other: Any) -> Integer:
        return self._two("le", other, kind=(1, False))

    def __gt__(self, other: Any) -> Integer:
        return self._two("lt", other, swapped=True, kind=(1, False))

    def __ge__(self, other: Any) -> Integer:
        return self._two("le", other, swapped=True, kind=(1, False))

    def __eq__(self, other: object) -> Integer:  # type: ignore[override]
        return self._two("eq", other, kind=(1, False))

    def __ne__(self, other: object) -> Integer:  # type: ignore[override]
        return self._two("ne", other, kind=(1, False))

    def _shifted(self, name: str, by: Any) -> Any:
        if isinstance(by, Integer):
            if by._trace is not self._trace:
                refuse("the two integers are of different circuits; give the one to the other's circuit as an argument")
            return self._of(self._trace.record("shift", name, self._number, by._number))
        by = integer(0, 2**32 - 1, compile_error)("what to shift by", by)
        return self._of(self._trace.record("shift_by", name, self._number, by))

    def __lshift__(self, by: Any) -> Integer:
        """Shifts towards higher bits; zeros come in. An amount of the width or more gives 0."""
        return self._shifted("left", by)

    def __rshift__(self, by: Any) -> Integer:
        """Shifts towards lower bits. Zeros come in, or for a signed integer copies of its sign."""
        return self._shifted("right_signed" if self._kind[1] else "right", by)

    @arguments("rotate_left", compile_error)
    def rotate_left(self, by: Integer | int) -> Integer:
        """Rotates towards higher bits: bits that leave at the top come in at the bottom. An encrypted `by` needs a
        width that is a power of two.
        """
        return self._shifted("rotate_left", by)

    @arguments("to", compile_error)
    def to(self, kind: Type) -> Integer:
        """Converts to another type: the lowest bits, or an extension with zeros or with a signed integer's sign."""
        wanted = kind_of(scalar("the kind to convert to", kind, compile_error))
        return self._of(self._trace.record("convert", self._number, wanted), wanted)

    def __repr__(self) -> str:
        return f"<encrypted {self.type}>"


def is_list(value: Any) -> bool:
    """Returns whether a value is a list, a tuple or an array of numpy."""
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _known(name: str, value: Any) -> int:
    """Returns a known integer."""
    try:
        return operator.index(value)
    except Exception:
        refuse(f"{name} must be an integer, encrypted or known, and is {shown(value)}{_whole(value)}")


def constant(trace: Trace, name: str, value: Any, kind: tuple[int, bool]) -> int:
    """Adds a constant of a type, and returns its number."""
    known = _known(name, value)
    of = type_of(kind)
    low, high = of.ends or (0, 0)
    if not low <= known <= high:
        refuse(
            f"the constant {shown(known)} is no value of {of!r}, which runs from {low} to {high}; "
            f"{_holding(kind, _kind_of_value(known))}"
        )
    return trace.record("constant", known, kind)


def _whole(value: Any) -> str:
    """Returns advice for a value that is no whole number."""
    if is_list(value):
        return "; write it for each element, as [x + item for item in items]"
    try:
        whole = int(value)
        if whole == value:
            return f"; write {shown(whole)}"
    except Exception:
        return ""
    return "; circuits compute on whole numbers: count in a smaller unit, as hundredths"


def scalar(name: str, kind: Any, refusal: Callable[[str], Exception]) -> Type:
    if not isinstance(kind, Type) or kind.length is not None or kind.kind not in _KINDS:
        elsewhere = "; rm.real and rm.integer are for @rm.program" if isinstance(kind, Type) else ""
        raise refusal(f"{name} must be rm.uint(bits), rm.sint(bits) or rm.bit, and is {shown(kind)}{elsewhere}")
    return kind


def _operands(what: str, given: Mapping[str, Any]) -> tuple[Integer, list[int]]:
    """Returns an encrypted one of the operands, and the numbers of all. All must have one type."""
    of = next((value for value in given.values() if isinstance(value, Integer)), None)
    if of is None:
        refuse(
            f"{what}: one of {', '.join(given) or 'the operands'} must be an encrypted integer, and none is; compute "
            "known ones in Python"
        )
    return of, [of._beside(value, f"{name} of {what}")._number for name, value in given.items()]


@arguments("rm.select", compile_error)
def select(bit: Integer, when_true: Integer | int, when_false: Integer | int) -> Integer:
    """Chooses one of two integers by an encrypted bit, as ``if`` does outside of circuits."""
    if not isinstance(bit, Integer) or bit._kind != (1, False):
        refuse(f"rm.select: bit must be an encrypted bit, as x < y gives one, and is {shown(bit)}")
    if not isinstance(when_true, Integer) and not isinstance(when_false, Integer):
        for name, side in (("when_true", when_true), ("when_false", when_false)):
            _known(f"rm.select: {name}", side)
        refuse(
            "rm.select: both sides are known, and so no type is; write "
            f"rm.lookup(bit, [{shown(when_false)}, {shown(when_true)}], rm.uint(8)), with the type that you want"
        )
    of, numbers = _operands("rm.select", {"when_true": when_true, "when_false": when_false})
    if bit._trace is not of._trace:
        refuse("rm.select: bit is of another circuit; give it to this one as an argument")
    return of._of(of._trace.record("select", bit._number, *numbers))


@arguments("rm.minimum", compile_error)
def minimum(a: Integer | int, b: Integer | int) -> Integer:
    """Returns the smaller of two integers. Together with :func:`maximum` of the same two it costs no more than either
    alone.
    """
    of, numbers = _operands("rm.minimum", {"a": a, "b": b})
    return of._of(of._trace.record("binary", "min", *numbers))


@arguments("rm.maximum", compile_error)
def maximum(a: Integer | int, b: Integer | int) -> Integer:
    """Returns the larger of two integers."""
    of, numbers = _operands("rm.maximum", {"a": a, "b": b})
    return of._of(of._trace.record("binary", "max", *numbers))


def _anything(_name: str, value: Any) -> Any:
    return value


@arguments("rm.add_all", compile_error, values=items(_anything, "a list of encrypted integers", compile_error))
def add_all(values: Sequence[Integer | int]) -> Integer:
    """Adds many integers. It carries less often than one addition after another."""
    of, numbers = _operands("rm.add_all", {f"values[{place}]": value for place, value in enumerate(values)})
    return of._of(of._trace.record("sum", numbers))


@arguments(
    "rm.lookup",
    compile_error,
    entries=items(integer(None, None, compile_error), "a list of whole numbers", compile_error),
)
def lookup(index: Integer, entries: Sequence[int], type: Type) -> Integer:
    """Returns entry `index` of a public table, with the type `type`, or 0 behind its end. The index is unsigned and has
    at most eight bits.
    """
    if not isinstance(index, Integer):
        refuse(f"rm.lookup: index must be encrypted, and is {shown(index)}; index the table itself by a known one")
    bits, signed = index._kind
    if signed or bits > 8:
        refuse(
            f"rm.lookup: index is {index.type!r}, expected an unsigned integer of at most 8 bits; convert it, as "
            f"index.to(rm.uint({min(bits, 8)}))"
        )
    kind = kind_of(scalar("rm.lookup: type", type, compile_error))
    return index._of(index._trace.record("table", index._number, list(entries), kind), kind)

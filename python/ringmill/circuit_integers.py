"""Traced integers and bits: what the parameters of a circuit are while it is traced, and what is computed on them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from ringmill._ringmill import CircuitBuilder
from ringmill.check import arguments, integer, items, shown
from ringmill.errors import ArgumentError, CompileError
from ringmill.trace import compile_error, refuse
from ringmill.types import Type, bit, sint, uint

_KINDS = frozenset({bit.kind, uint(1).kind, sint(1).kind})


def kind_of(of: Type) -> tuple[int, bool]:
    """Bits of a type, and whether it is signed."""
    return (1, False) if of.kind == bit.kind else (of.bits or 0, of.kind == sint(1).kind)


def type_of(kind: tuple[int, bool]) -> Type:
    bits, signed = kind
    if signed:
        return sint(bits)
    return bit if bits == 1 else uint(bits)


class Trace:
    """Collects the program of one run of a function."""

    def __init__(self) -> None:
        self.builder = CircuitBuilder()

    def record(self, operation: str, *operands: Any) -> int:
        """One call of the builder, whose refusals point at the user's line."""
        try:
            return int(getattr(self.builder, operation)(*operands))
        except CompileError as error:
            raise compile_error(str(error)) from None
        except (TypeError, OverflowError) as error:
            raise compile_error(f"{operation}: {error}") from None


class Integer:
    """A traced integer or bit. Made by tracing, never by hand."""

    __array_ufunc__ = None  # numpy leaves operators to this class
    __hash__ = None  # type: ignore[assignment]
    __slots__ = ("_kind", "_number", "_trace")

    def __init__(self, trace: Trace, number: int, kind: tuple[int, bool]) -> None:
        if not isinstance(trace, Trace):
            raise ArgumentError(
                "rm.Integer has no constructor to call; annotate a parameter of an @rm.circuit function"
            )
        self._trace, self._number, self._kind = trace, number, kind

    @property
    def type(self) -> Type:
        """Its type, as ``rm.uint(8)``; what compares is ``rm.bit``."""
        return type_of(self._kind)

    def _of(self, number: int, kind: tuple[int, bool] | None = None) -> Integer:
        return Integer(self._trace, number, kind or self._kind)

    def _beside(self, other: Any) -> Integer | None:
        """The other operand of this one's type; None for what is no integer."""
        if isinstance(other, Integer):
            if other._trace is not self._trace:
                refuse("the two integers are of different circuits")
            return other
        try:
            value = operator.index(other)
        except Exception:
            return None
        return self._of(self._trace.record("constant", value, self._kind))

    def _two(self, name: str, other: Any, swapped: bool = False, kind: tuple[int, bool] | None = None) -> Any:
        beside = self._beside(other)
        if beside is None:
            return NotImplemented
        if beside._kind != self._kind:
            refuse(f"{self.type!r} and {beside.type!r} do not mix; convert one, as x.to({self.type!r})")
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
        """self / other, rounded towards 0; by 0 all its bits are 1."""
        return _made("other", self._two("div", other), other)

    @arguments("remainder", compile_error)
    def remainder(self, other: Integer | int) -> Integer:
        """What :meth:`quotient` leaves, with the sign of self; by 0 it is self."""
        return _made("other", self._two("rem", other), other)

    def __lt__(self, other: Any) -> Integer:
        return self._two("lt", other, kind=(1, False))

    def __le__(self, other: Any) -> Integer:
        return self._two("le", other, kind=(1, False))

    def __gt__(self, other: Any) -> Integer:
        return self._two("lt", other, swapped=True, kind=(1, False))

    def __ge__(self, other: Any) -> Integer:
        return self._two("le", other, swapped=True, kind=(1, False))

    def __eq__(self, other: object) -> Integer:  # type: ignore[override]
        return _made("what == compares with", self._two("eq", other, kind=(1, False)), other)

    def __ne__(self, other: object) -> Integer:  # type: ignore[override]
        return _made("what != compares with", self._two("ne", other, kind=(1, False)), other)

    def _shifted(self, name: str, by: Any) -> Any:
        if isinstance(by, Integer):
            self._beside(by)
            return self._of(self._trace.record("shift", name, self._number, by._number))
        by = integer(0, 2**32 - 1, compile_error)("what to shift by", by)
        return self._of(self._trace.record("shift_by", name, self._number, by))

    def __lshift__(self, by: Any) -> Integer:
        """Zeros come in below; by the width and more all bits leave."""
        return self._shifted("left", by)

    def __rshift__(self, by: Any) -> Integer:
        """Zeros come in above, of a signed integer its sign."""
        return self._shifted("right_signed" if self._kind[1] else "right", by)

    def __rlshift__(self, _: Any) -> NoReturn:
        refuse("a constant cannot be shifted by an encrypted amount; make it encrypted: x * 0 + constant")

    __rrshift__ = __rlshift__

    @arguments("rotate_left", compile_error)
    def rotate_left(self, by: Integer | int) -> Integer:
        """Bits that leave above come in below; an encrypted `by` needs a width that is a power of two."""
        return self._shifted("rotate_left", by)

    @arguments("to", compile_error)
    def to(self, kind: Type) -> Integer:
        """The lowest bits of it as another type, or more of them: zeros, or the sign of a signed integer."""
        wanted = kind_of(scalar("the kind to convert to", kind, compile_error))
        return self._of(self._trace.record("convert", self._number, wanted), wanted)

    def __bool__(self) -> NoReturn:
        refuse("what is encrypted cannot steer Python's if, while, and, or, not; use rm.select(bit, a, b), & | and ~")

    def __index__(self) -> NoReturn:
        refuse("what is encrypted is no index; use rm.lookup(index, entries, type)")

    __int__ = __float__ = __index__

    def __iter__(self) -> NoReturn:
        refuse("an encrypted integer has no elements; shift and mask its bits")

    def __repr__(self) -> str:
        return f"<encrypted {self.type}>"


def _made(name: str, value: Any, other: object) -> Integer:
    if value is NotImplemented:
        refuse(f"{name} must be an integer, encrypted or known, and is {shown(other)}")
    return value  # type: ignore[no-any-return]


def scalar(name: str, kind: Any, refusal: Callable[[str], Exception]) -> Type:
    if not isinstance(kind, Type) or kind.length is not None or kind.kind not in _KINDS:
        raise refusal(f"{name} must be rm.uint(bits), rm.sint(bits) or rm.bit, and is {shown(kind)}")
    return kind


def _operands(what: str, given: Mapping[str, Any]) -> tuple[Integer, list[int]]:
    """One of the operands that is encrypted, and the numbers of all, which are of one type."""
    of = next((value for value in given.values() if isinstance(value, Integer)), None)
    if of is None:
        refuse(f"{what}: one of {', '.join(given)} must be an encrypted integer, and none is")
    numbers = []
    for name, value in given.items():
        beside = of._beside(value)
        if beside is None:
            refuse(f"{what}: {name} must be an integer, encrypted or known, and is {shown(value)}")
        if beside._kind != of._kind:
            refuse(f"{what}: {name} is {beside.type!r} beside {of.type!r}; convert one, as x.to({of.type!r})")
        numbers.append(beside._number)
    return of, numbers


@arguments("rm.select", compile_error)
def select(bit: Integer, when_true: Integer | int, when_false: Integer | int) -> Integer:
    """One of two integers, by an encrypted bit: inside circuits what ``if`` is outside."""
    if not isinstance(bit, Integer) or bit._kind != (1, False):
        refuse(f"rm.select: bit must be an encrypted bit, as x < y gives one, and is {shown(bit)}")
    of, numbers = _operands("rm.select", {"when_true": when_true, "when_false": when_false})
    bit._beside(of)
    return of._of(of._trace.record("select", bit._number, *numbers))


@arguments("rm.minimum", compile_error)
def minimum(a: Integer | int, b: Integer | int) -> Integer:
    """The smaller of two integers; with :func:`maximum` of the same two it costs no more than one of them."""
    of, numbers = _operands("rm.minimum", {"a": a, "b": b})
    return of._of(of._trace.record("binary", "min", *numbers))


@arguments("rm.maximum", compile_error)
def maximum(a: Integer | int, b: Integer | int) -> Integer:
    """The larger of two integers."""
    of, numbers = _operands("rm.maximum", {"a": a, "b": b})
    return of._of(of._trace.record("binary", "max", *numbers))


def _anything(_name: str, value: Any) -> Any:
    return value


@arguments("rm.add_all", compile_error, values=items(_anything, "a list of encrypted integers", compile_error))
def add_all(values: Sequence[Integer | int]) -> Integer:
    """The sum of many integers, which carries less often than one addition after another."""
    of, numbers = _operands("rm.add_all", {f"values[{place}]": value for place, value in enumerate(values)})
    return of._of(of._trace.record("sum", numbers))


@arguments(
    "rm.lookup",
    compile_error,
    entries=items(integer(None, None, compile_error), "a list of whole numbers", compile_error),
)
def lookup(index: Integer, entries: Sequence[int], type: Type) -> Integer:
    """Entry `index` of a public table, of a type; 0 behind its end. The index is unsigned, of at most eight bits."""
    if not isinstance(index, Integer):
        refuse(f"rm.lookup: index must be encrypted, and is {shown(index)}; index the table itself by a known one")
    kind = kind_of(scalar("rm.lookup: type", type, compile_error))
    return index._of(index._trace.record("table", index._number, list(entries), kind), kind)

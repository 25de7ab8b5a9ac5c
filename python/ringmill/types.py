# SPDX-License-Identifier: Apache-2.0
"""Plaintext types, which say what the arguments of a program hold. They are the same for all schemes.

A scalar is ``rm.real``, ``rm.integer``, ``rm.uint(16)`` or ``rm.bit``. An array has its shape in brackets, as in
``rm.real[64]`` or ``rm.real[100, 30]``. A parameter is annotated ``rm.Encrypted[rm.real[64]]`` or ``rm.Plain[rm.bit]``.
A type checker does not take a computed annotation as a type. For a checker write ``Annotated[rm.Encrypted,
rm.Encrypted[rm.real[64]]]``: its first part is for the checker, its second for Ringmill. :mod:`ringmill.schemes` says
which schemes take which types.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ringmill.check import arguments, by_hand, shown
from ringmill.check import integer as whole
from ringmill.errors import ArgumentError

_MOST_VALUES = 1 << 24
_LENGTH = whole(1, _MOST_VALUES)


@dataclass(frozen=True, slots=True, init=False)
class Type:
    """A scalar, or an array of scalars with a shape. Equal types are one dictionary key."""

    kind: str
    bits: int | None
    length: int | None
    """The number of an array's values, or None for a scalar."""
    shape: tuple[int, ...]

    def __new__(cls, *_args: Any, **_named: Any) -> Type:
        return by_hand(
            "types are made from rm.real, rm.integer, rm.uint(bits), rm.sint(bits) and rm.bit, arrays as rm.real[64]"
        )()

    @property
    def element(self) -> Type:
        """The scalar type of an array's elements. A scalar is its own."""
        return _made(self.kind, self.bits) if self.shape else self

    @property
    def whole(self) -> bool:
        """Whether values are integers, which are never rounded."""
        return self.kind in _WHOLE

    @property
    def ends(self) -> tuple[int, int] | None:
        """The least and the largest value, or None if the type sets none."""
        match self.kind:
            case "uint":
                return 0, (1 << (self.bits or 0)) - 1
            case "sint":
                return -(1 << ((self.bits or 1) - 1)), (1 << ((self.bits or 1) - 1)) - 1
            case "bit":
                return 0, 1
            case _:
                return None

    def __getitem__(self, shape: int | tuple[int, ...]) -> Type:
        """Returns the type of an array of such scalars: its length, or its shape, as in ``rm.real[100, 30]``.

        Raises :class:`ArgumentError` for lengths below 1 and for more than 2^24 values.
        """
        if self.shape:
            raise ArgumentError(
                f"{self!r} is an array already, and there are no arrays of arrays; write one shape, as rm.real[100, 30]"
            )
        lengths = shape if isinstance(shape, tuple) else (shape,)
        lengths = tuple(_LENGTH(f"the length of an array of {self}", length) for length in lengths)
        if math.prod(lengths) > _MOST_VALUES:
            raise ArgumentError(
                f"an array of {self} of shape {lengths} has {math.prod(lengths)} values; at most {_MOST_VALUES} are "
                "taken"
            )
        return _made(self.kind, self.bits, lengths)

    def __iter__(self) -> Any:
        raise ArgumentError(f"{self!r} is a type and has no elements to walk through; {self!r}[64] is an array of it")

    def __str__(self) -> str:
        bits = "" if self.bits is None else f"({self.bits})"
        shape = f"[{', '.join(map(str, self.shape))}]" if self.shape else ""
        return f"{self.kind}{bits}{shape}"

    def __repr__(self) -> str:
        return f"rm.{self}"

    def __reduce__(self) -> Any:
        return _made, (self.kind, self.bits, self.shape)


def _made(kind: str, bits: int | None = None, shape: tuple[int, ...] = ()) -> Type:
    made = object.__new__(Type)
    length = math.prod(shape) if shape else None
    for name, value in (("kind", kind), ("bits", bits), ("length", length), ("shape", shape)):
        object.__setattr__(made, name, value)
    return made


def of_parts(kind: Any, bits: Any, shape: tuple[Any, ...]) -> Type:
    """Returns the type with these parts, as a file has them. Others raise ValueError."""
    scalars = {"real": real, "integer": integer, "bit": bit}
    if kind in ("uint", "sint"):
        if type(bits) is not int or not 1 <= bits <= 64:
            raise ValueError(f"{bits!r} is no width of a type")
        scalar = _made(kind, bits)
    else:
        scalar = scalars[kind]
    return scalar[shape] if shape else scalar


_WHOLE = ("integer", "uint", "sint", "bit", "wholes")

real = _made("real")
"""A real number, computed on approximately."""

integer = _made("integer")
"""A whole number of either sign, computed on exactly."""

bit = _made("bit")
"""0 or 1."""

# The type of rm.Encrypted and rm.Plain without brackets: real or complex numbers, one for each slot.
SLOTS = _made("slots")

# The type of inputs of a whole-number program that was read from text: whole numbers, one for each slot.
WHOLES = _made("wholes")


@arguments("rm.uint", bits=whole(1, 64))
def uint(bits: int) -> Type:
    """Returns the type of a whole number from 0 to 2^`bits` - 1, which stays exact. `bits` is from 1 to 64.

    Raises :class:`ArgumentError` for other widths.

    >>> import ringmill as rm
    >>> rm.uint(16), rm.uint(16)[8]
    (rm.uint(16), rm.uint(16)[8])
    """
    return _made("uint", bits)


@arguments("rm.sint", bits=whole(1, 64))
def sint(bits: int) -> Type:
    """Returns the type of a whole number from -2^(`bits` - 1) to 2^(`bits` - 1) - 1, for circuits. `bits` is from 1 to
    64.

    Raises :class:`ArgumentError` for other widths.

    >>> import ringmill as rm
    >>> rm.sint(16)
    rm.sint(16)
    """
    return _made("sint", bits)


def of(annotated: str, value: object) -> Type:
    """Returns the type in the brackets of an annotation."""
    if not isinstance(value, Type):
        wanted = "rm.real, rm.integer, rm.uint(bits), rm.sint(bits), rm.bit, or an array of one, as rm.real[64]"
        hint = " (a width in bits is missing, as in rm.uint(16))" if value is uint else ""
        raise ArgumentError(f"{annotated}[...] takes a type: {wanted}; and got {shown(value)}{hint}")
    return value


def join(a: Type, b: Type) -> Type | None:
    """Returns the element type of the result of two element types, or None if they do not mix.

    Whole numbers of different types give whole numbers. The compiler finds the range of the result, whatever the types.
    """
    if a == b:
        return a
    if a.whole and b.whole:
        return integer
    return SLOTS if {a, b} == {real, SLOTS} else None


def named(kind: Type) -> str:
    """Returns the name of a type in a message."""
    match kind:
        case _ if kind == SLOTS:
            return "vectors of slots"
        case _ if kind == WHOLES:
            return "vectors of whole numbers"
        case _:
            return str(kind)

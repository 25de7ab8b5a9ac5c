# SPDX-License-Identifier: Apache-2.0
"""Converts numbers in the forms that callers have (arrays, lists, numbers) to vectors of slots."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from ringmill import types
from ringmill._ringmill import MAX_SLOTS
from ringmill.check import Refusal, arguments, shown, text
from ringmill.errors import DataError, RingmillError
from ringmill.types import Type

# The range of whole numbers whose type sets none, and the element types of arrays that hold whole numbers.
_INTEGERS = (-(1 << 63), (1 << 63) - 1)
RAVEL = "np.ravel(values) has them row after row"
_ROUND = "round first, as np.rint(values).astype(np.int64)"
_HELD = {"integer": np.int64, "uint": np.uint64, "sint": np.int64, "bit": np.uint8, "wholes": np.int64}


def numeric(name: str, value: Any, refusal: Refusal = DataError) -> np.ndarray:
    """Returns an array of complex numbers of the same shape. Masked or ragged values, and values that are no numbers,
    are refused.
    """
    array = _array(name, value, np.asarray, refusal)
    if array.dtype.kind not in "biufc":
        if array.dtype.kind == "O" and array.shape == ():
            raise refusal(f"{name} must hold numbers, and is {shown(value)}")
        raise refusal(
            f"{name} must hold numbers, and has dtype {array.dtype}; convert it, as by np.asarray(values, dtype=float)"
        )
    with np.errstate(all="ignore"):
        return np.ascontiguousarray(array.astype(np.complex128)).reshape(array.shape)


def _array(name: str, value: Any, convert: Callable[[Any], np.ndarray], refusal: Refusal) -> np.ndarray:
    """Returns a value as an array. Ragged or masked values, and values that are no array, are refused."""
    try:
        masked = isinstance(value, np.ma.MaskedArray) and bool(np.ma.is_masked(value))
        array = convert(value)
    except RingmillError:
        raise
    except Exception as error:
        raise refusal(f"{name} must be an array of numbers, and {shown(value)} is none: {error}") from None
    if masked:
        raise refusal(f"{name} has masked values; fill them in, as with .filled(0), or leave them out")
    return array


def whole_numbers(
    name: str, value: Any, kind: Type, refusal: Refusal = DataError, *, constant: bool = False
) -> np.ndarray:
    """Returns an array of the whole numbers that a type holds, in numpy's integers. No number is converted to a double
    on the way.

    A `constant` stands beside values of the type, and may be any whole number.
    """
    cure = _ROUND if constant or kind == types.WHOLES else f"{_ROUND}, or declare rm.real"
    if constant:
        takes = f"{name} beside values of type {kind} takes whole numbers"
    elif kind == types.WHOLES:
        takes = f"{name} takes whole numbers"
    else:
        takes = f"{name} is of type {kind} and takes whole numbers"

    def convert(value: Any) -> np.ndarray:
        # numpy would turn a list with both -1 and 2^63 into doubles.
        return value if isinstance(value, (np.ndarray, np.generic)) else np.asarray(value, dtype=object)

    array = np.asarray(_array(name, value, convert, refusal))
    if array.dtype.kind not in ("biuO" if kind.kind == "bit" else "iuO"):
        raise refusal(f"{takes}, and has dtype {array.dtype}; {cure}")
    if array.dtype.kind == "O":
        numbers = list(enumerate(_index(item, kind) for item in array.flat))
        for place, number in numbers:
            if number is None:
                item = array.flat[place]
                said = f"{takes}, and {shown(item)} is none{_at(place, array)}"
                raise refusal(f"{said}; {cure}" if isinstance(item, (float, np.floating)) else said)
    else:
        places = (int(array.argmin()), int(array.argmax())) if array.size else ()
        numbers = [(place, int(array.flat[place])) for place in places]
    lowest, highest = _INTEGERS if constant else kind.ends or _INTEGERS
    for place, number in numbers:
        if number is not None and not lowest <= number <= highest:
            raise refusal(f"{takes} from {lowest} to {highest}, and holds {shown(number)}{_at(place, array)}")
    return array.astype(np.int64 if constant else _HELD[kind.kind])


def _at(place: int, array: np.ndarray) -> str:
    """Returns the place of a value in an array for a message, or an empty text for one number."""
    return f" (value {place})" if array.ndim else ""


def _index(item: Any, kind: Type) -> int | None:
    """Returns an element of a list as a whole number, or None if it is none."""
    if isinstance(item, (bool, np.bool_)) and kind.kind != "bit":
        return None
    try:
        return operator.index(int(item) if isinstance(item, np.bool_) else item)
    except Exception:
        return None


def typed(name: str, value: Any, kind: Type, refusal: Refusal = DataError) -> np.ndarray:
    """Returns a value of a declared type: one number, or exactly as many as the array is long."""
    if isinstance(value, Tiled):
        raise refusal(f"{name} is of type {kind}, whose length is declared; rm.tile repeats through undeclared ones")
    if kind.whole:
        array = whole_numbers(name, value, kind.element, refusal)
    else:
        array = numeric(name, value, refusal)
        if array.imag.any():
            raise refusal(f"{name} is of type {kind} and takes real numbers, and holds complex ones")
        array = np.ascontiguousarray(array.real).reshape(array.shape)
    if array.shape != kind.shape:
        wanted = "one number" if kind.length is None else f"exactly {kind.length} in one dimension"
        wanted = f"an array of shape {kind.shape}" if len(kind.shape) > 1 else wanted
        raise refusal(
            f"{name} is of type {kind}, which is {wanted}, and has shape {array.shape}{_other_length(array, kind)}"
        )
    return array


def _other_length(array: np.ndarray, kind: Type) -> str:
    """Returns advice for values whose count is not the type's."""
    if array.ndim > 1 and array.size == kind.length and len(kind.shape) == 1:
        return f"; {RAVEL}"
    if array.size == kind.length and len(kind.shape) > 1:
        return f"; np.reshape(values, {kind.shape}) has them row after row"
    if len(kind.shape) > 1:
        return f"; give that shape, or declare {kind.element[array.shape]!r}" if array.ndim and array.size else ""
    if array.ndim and 0 < array.size <= MAX_SLOTS:
        return f"; give as many, or declare {kind.element[array.size]!r}"
    return ""


def spread(array: np.ndarray, slots: int) -> np.ndarray:
    """Lays out a value of a declared type in the slots: one number in every slot, or an array in the first slots with
    zeros behind.

    Whole numbers become int64, others complex.
    """
    kind = np.int64 if array.dtype.kind in "iu" else np.complex128
    if array.ndim == 0:
        return np.full(slots, array, dtype=kind)
    vector = np.zeros(slots, dtype=kind)
    vector[: array.size] = array
    return vector


def whole_slots(name: str, array: np.ndarray, slots: int) -> np.ndarray:
    """Lays out whole numbers of a declared type in the slots. Numbers above 2^63 - 1, which no scheme holds, are
    refused.
    """
    if array.size and int(array.max()) > _INTEGERS[1]:
        place = int(array.argmax())
        raise DataError(
            f"{name} takes whole numbers up to {_INTEGERS[1]}, and holds {array.flat[place]}{_at(place, array)}; no "
            "scheme holds larger ones"
        )
    return spread(array, slots)


def as_vector(name: str, value: Any, slots: int | None = None, kind: Type = types.SLOTS) -> np.ndarray:
    """Returns the vector of an input. With `slots`, a value of :func:`tile` is repeated to that length, and values of a
    declared type are laid out in the slots. Whole numbers become int64, others complex.
    """
    if kind == types.WHOLES:
        return _wholes(f"input {name}", value, slots)
    if kind != types.SLOTS and slots is not None:
        array = typed(f"input {name}", value, kind)
        return whole_slots(f"input {name}", array, slots) if kind.whole else spread(array, slots)
    if isinstance(value, Tiled) and slots is not None:
        return value.spread(f"input {name}", slots)
    if isinstance(value, Tiled):
        raise DataError(f"input {name} is tiled and nothing says to what length; give one whole vector")
    array = numeric(f"input {name}", value)
    if array.ndim == 0:
        raise DataError(f"input {name} is one number; rm.tile({shown(value)}) repeats it through the slots")
    if array.ndim != 1:
        raise DataError(f"input {name} must be one-dimensional, and has shape {array.shape}; {RAVEL}")
    return array


def _wholes(name: str, value: Any, slots: int | None) -> np.ndarray:
    """Returns the vector of an input of a whole-number program that was read from text."""
    if isinstance(value, Tiled):
        raise DataError(
            f"{name} is tiled, which makes doubles of it, and takes whole numbers; repeat it by np.tile instead"
        )
    array = whole_numbers(name, value, types.WHOLES)
    if array.ndim == 0:
        raise DataError(f"{name} is one number; np.full({slots}, {shown(value)}) repeats it through the slots")
    if array.ndim != 1:
        raise DataError(f"{name} must be one-dimensional, and has shape {array.shape}; {RAVEL}")
    return array


def as_vectors(inputs: Mapping[str, Any], slots: int, kind_of: Callable[[str], Type]) -> dict[str, np.ndarray]:
    """Returns the vectors of named inputs. `kind_of` returns the type of a name."""
    name_of = text(DataError)
    return {
        name_of("an input's name", name): as_vector(name, value, slots, kind_of(name)) for name, value in inputs.items()
    }


class Tiled:
    """Values that repeat through the slots of the other operand. :func:`tile` makes them."""

    __slots__ = ("values",)

    def __init__(self, values: Any) -> None:
        array = np.atleast_1d(numeric("rm.tile: values", values))
        if array.ndim != 1 or array.size == 0:
            raise DataError(f"rm.tile takes one number or a one-dimensional array, and got shape {array.shape}")
        self.values = array

    def spread(self, name: str, slots: int, refusal: Refusal = DataError) -> np.ndarray:
        """Returns the values repeated to `slots`."""
        if slots % self.values.size:
            raise refusal(
                f"{name} repeats {self.values.size} values, which do not divide {slots} slots; pad them with zeros to "
                "a power of two"
            )
        return np.tile(self.values, slots // self.values.size)

    def _meet(self, other: object) -> Any:
        if hasattr(type(other), "_tracer"):
            return NotImplemented  # the traced vector, which knows its slots, does it
        return self._alone()

    def _alone(self, *_arguments: object, **_options: object) -> NoReturn:
        raise DataError(
            "tiled values stand beside encrypted vectors only; compute in numpy first, then tile the result"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _meet
    __neg__ = __pow__ = __rpow__ = __getitem__ = __iter__ = __len__ = __array__ = __array_function__ = _alone

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        for vector in inputs:
            if hasattr(type(vector), "_tracer"):
                return vector.__array_ufunc__(ufunc, method, *inputs, **options)
        return self._alone()

    def __repr__(self) -> str:
        return f"rm.tile({shown(self.values)})"


@arguments("rm.tile")
def tile(values: Any) -> Tiled:
    """Returns a number or a short vector that repeats through the slots of the vector that it meets.

    Its length must divide the slots. It can stand beside encrypted vectors in programs, and for inputs of
    :meth:`Client.encrypt`, :meth:`Compiled.run` and ``sample=``. It cannot stand beside whole numbers, or for an input
    of a declared type. A plain vector of no declared length that is shorter than the slots is refused everywhere, so
    that none is repeated by accident.

    >>> import ringmill as rm
    >>> @rm.program
    ... def odd(x: rm.Encrypted):
    ...     return x * rm.tile([0, 1])
    >>> odd(x=[1.0, 2.0, 3.0, 4.0])
    array([0., 2., 0., 4.])
    """
    return Tiled(values)

"""Numbers as callers have them (arrays, lists, numbers), made into vectors of complex numbers."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ringmill.check import Refusal, arguments, shown, text
from ringmill.errors import DataError, RingmillError


def numeric(name: str, value: Any, refusal: Refusal = DataError) -> np.ndarray:
    """An array of complex numbers of the same shape; what is masked, ragged or no number is refused."""
    try:
        masked = isinstance(value, np.ma.MaskedArray) and bool(np.ma.is_masked(value))
        array = np.asarray(value)
    except RingmillError:
        raise
    except Exception as error:
        raise refusal(f"{name} must be an array of numbers, and {shown(value)} is none: {error}") from None
    if masked:
        raise refusal(f"{name} has masked values; fill them in, as with .filled(0), or leave them out")
    if array.dtype.kind not in "biufc":
        if array.dtype.kind == "O" and array.shape == ():
            raise refusal(f"{name} must hold numbers, and is {shown(value)}")
        raise refusal(f"{name} must hold numbers, and has dtype {array.dtype}; convert it, as with .astype(float)")
    with np.errstate(all="ignore"):
        return np.ascontiguousarray(array.astype(np.complex128)).reshape(array.shape)


def as_vector(name: str, value: Any, slots: int | None = None) -> np.ndarray:
    """The vector of an input. With `slots`, what :func:`tile` made is repeated to that length."""
    if isinstance(value, Tiled) and slots is not None:
        return value.spread(f"input {name}", slots)
    if isinstance(value, Tiled):
        raise DataError(f"input {name} is tiled and nothing says to what length; give one whole vector")
    array = numeric(f"input {name}", value)
    if array.ndim == 0:
        raise DataError(f"input {name} is one number; rm.tile({shown(value)}) repeats it through the slots")
    if array.ndim != 1:
        raise DataError(f"input {name} must be one-dimensional, and has shape {array.shape}; ravel it first")
    return array


def as_vectors(inputs: dict[str, Any], slots: int) -> dict[str, np.ndarray]:
    """The vectors of named inputs."""
    name_of = text(DataError)
    return {name_of("an input's name", name): as_vector(name, value, slots) for name, value in inputs.items()}


class Tiled:
    """Values that repeat through the slots of whatever they meet; made by :func:`tile`."""

    __slots__ = ("values",)

    def __init__(self, values: Any) -> None:
        array = np.atleast_1d(numeric("rm.tile: values", values))
        if array.ndim != 1 or array.size == 0:
            raise DataError(f"rm.tile takes one number or a one-dimensional array, and got shape {array.shape}")
        self.values = array

    def spread(self, name: str, slots: int, refusal: Refusal = DataError) -> np.ndarray:
        """The values repeated to `slots`."""
        if slots % self.values.size:
            raise refusal(
                f"{name} repeats {self.values.size} values, which do not divide {slots} slots; pad them with zeros to "
                "a power of two"
            )
        return np.tile(self.values, slots // self.values.size)

    def _meet(self, other: object) -> Any:
        if hasattr(type(other), "_tracer"):
            return NotImplemented  # a traced vector, which knows its slots
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
    """A number or a short vector, to be repeated through the slots of the vector it meets.

    Its length must divide the slots. It stands beside encrypted vectors in programs, and for inputs of
    :meth:`Client.encrypt`, :meth:`Compiled.run` and ``sample=``. A plain vector that is shorter than the slots is
    refused everywhere else, so that none is repeated by accident.

    >>> import ringmill as rm
    >>> @rm.program
    ... def odd(x: rm.Encrypted):
    ...     return x * rm.tile([0, 1])
    >>> odd(x=[1.0, 2.0, 3.0, 4.0])
    array([0., 2., 0., 4.])
    """
    return Tiled(values)

"""Operations on encrypted vectors that have no Python operator."""

from __future__ import annotations

import numbers
from collections.abc import Sequence

import numpy as np

from ringmill.trace import Encrypted, refuse


def _encrypted(x: object, name: str) -> Encrypted:
    if not isinstance(x, Encrypted):
        refuse(f"rm.{name} works on an encrypted vector inside a program, and got {type(x).__name__}")
    return x


def rotate(x: Encrypted, steps: int) -> Encrypted:
    """Slots moved cyclically to the left: slot i of the result is slot i + steps of `x`. The same as ``x << steps``.

    >>> import ringmill as rm
    >>> @rm.program
    ... def first(x: rm.Encrypted):
    ...     return rm.rotate(x, 1)
    >>> first(x=[1.0, 2.0, 3.0, 4.0])
    array([2., 3., 4., 1.])
    """
    return _encrypted(x, "rotate") << steps


def conj(x: Encrypted) -> Encrypted:
    """The complex conjugate of every slot."""
    x = _encrypted(x, "conj")
    return x._tracer.emit("conj", x._id)


def sum(x: Encrypted, width: int, stride: int = 1) -> Encrypted:
    """Slot i of the result is x[i] + x[i + stride] + ... + x[i + (width - 1) stride], indices cyclic.

    `width` is a power of two; log2(width) rotations. With the samples side by side and feature f in slots
    f * stride to (f + 1) * stride - 1, ``rm.sum(x, features, stride)`` adds up the features of every sample, and when
    width * stride is the number of slots every slot holds a whole sum.

    >>> import ringmill as rm
    >>> @rm.program
    ... def features(x: rm.Encrypted):
    ...     return rm.sum(x, 2, stride=2)
    >>> features(x=[1.0, 2.0, 30.0, 40.0])
    array([31., 42., 31., 42.])
    """
    x = _encrypted(x, "sum")
    if not isinstance(width, numbers.Integral) or width < 1 or width & (width - 1):
        refuse(f"rm.sum adds a power of two of slots, not {width!r}; pad with zeros to the next power of two")
    if not isinstance(stride, numbers.Integral) or stride < 1 or width * stride > len(x):
        refuse(f"rm.sum of {width} slots {stride!r} apart does not fit the {len(x)} slots of the vector")
    step = int(stride) * int(width) // 2
    while step >= stride:
        x = x + (x << step)
        step //= 2
    return x


def polynomial(x: Encrypted, coefficients: Sequence[float]) -> Encrypted:
    """c[0] + c[1] x + c[2] x^2 + ... at the least depth, ceil(log2(degree + 1)) with real coefficients.

    Coefficients are in ascending order, as in ``numpy.polynomial``; they cost no level of their own.

    >>> import ringmill as rm
    >>> @rm.program
    ... def cubic(x: rm.Encrypted):
    ...     return rm.polynomial(x, [1, 0, 0, 2])
    >>> cubic(x=[0.0, 1.0, 2.0, -1.0])
    array([ 1.,  3., 17., -1.])
    """
    x = _encrypted(x, "polynomial")
    values = np.asarray(coefficients)
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        refuse("rm.polynomial takes a list of real coefficients, lowest degree first")
    if not np.any(values[1:]):
        refuse("the polynomial is a constant: its result would not be encrypted")
    return x._tracer.emit("polynomial", x._id, values.astype(float).tolist())

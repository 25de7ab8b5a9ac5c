# SPDX-License-Identifier: Apache-2.0
"""Operations on encrypted vectors that have no Python operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray

from ringmill.arrays import elementwise, products
from ringmill.arrays.value import Array, constant
from ringmill.check import arguments, integer, number, optional, shown, text
from ringmill.fill import FULL, Fill
from ringmill.trace import Encrypted, compile_error, refuse
from ringmill.types import named, real


def _encrypted(name: str, x: Any) -> Any:
    if not isinstance(x, (Encrypted, Array)):
        refuse(
            f"{name} must be an encrypted vector of a program, and is of type {type(x).__name__}; call it inside an "
            "@rm.program function, on its encrypted arguments"
        )
    return x


@arguments("rm.rotate", compile_error, x=_encrypted, steps=integer(refusal=compile_error))
def rotate(x: Encrypted, steps: int) -> Encrypted:
    """Rotates the slots cyclically to the left: slot i of the result is slot i + steps of `x`. It is the same as ``x <<
    steps``.

    >>> import ringmill as rm
    >>> @rm.program
    ... def first(x: rm.Encrypted):
    ...     return rm.rotate(x, 1)
    >>> first(x=[1.0, 2.0, 3.0, 4.0])
    array([2., 3., 4., 1.])
    """
    if isinstance(x, Array):
        refuse("rm.rotate turns a vector of slots, and this program is of arrays: write np.roll(x, -steps)")
    return x << steps


@arguments("rm.conj", compile_error, x=_encrypted)
def conj(x: Encrypted) -> Encrypted:
    """Returns the complex conjugate of every slot."""
    if x._kind.whole:
        refuse(f"rm.conj is about complex numbers, and x is of {x._kind}; leave it out")
    if isinstance(x, Array):
        return elementwise.unary("conj", x)
    return x._tracer.emit(x._kind, x._fill, "unary", "conj", x._id)


@arguments("rm.two_real", compile_error, x=_encrypted)
def two_real(x: Encrypted) -> Encrypted:
    """Returns twice the real part of every slot: ``x + rm.conj(x)``, known to be real. It takes no level and one key
    switch.

    Errors of `x` in the imaginary part cancel; the error of the key switch stays.

    >>> import ringmill as rm
    >>> @rm.program
    ... def doubled(x: rm.Encrypted):
    ...     return rm.two_real(x)
    >>> doubled(x=[1.0 + 2.0j, 3.0])
    array([2., 6.])
    """
    if x._kind.whole:
        refuse(f"rm.two_real is about complex numbers, and x is of {x._kind}; 2 * x is twice of it")
    if isinstance(x, Array):
        return elementwise.unary("two_real", x, kind=real)
    return x._tracer.emit(real, x._fill, "unary", "two_real", x._id)


@arguments(
    "rm.sum",
    compile_error,
    x=_encrypted,
    width=optional(integer(1, refusal=compile_error)),
    stride=integer(1, refusal=compile_error),
)
def sum(x: Encrypted, width: int | None = None, stride: int = 1) -> Encrypted:
    """Adds up all values of `x`, in every slot, or with a `width` the values in a window.

    With a window, slot i of the result is x[i] + x[i + stride] + ... + x[i + (width - 1) stride], with cyclic indices.
    An array whose declared length is shorter than the slots has padding behind it, so it can be summed without a width
    only.

    It takes log2(width) rotations, rounded down, and one more for each 1 in the binary form of `width` except the
    first. Suppose that samples lie side by side, with feature f in slots f * stride to (f + 1) * stride - 1. Then
    ``rm.sum(x, features, stride)`` adds up the features of every sample. If width * stride is the number of slots,
    every slot holds a complete sum.

    >>> import ringmill as rm
    >>> @rm.program
    ... def features(x: rm.Encrypted):
    ...     return rm.sum(x, 2, stride=2)
    >>> features(x=[1.0, 2.0, 30.0, 40.0])
    array([31., 42., 31., 42.])
    """
    if isinstance(x, Array):
        if width is not None or stride != 1:
            refuse("windows of rm.sum are of slots, and this program is of arrays: slice it, or write np.convolve")
        return products.total(x)
    if width is None:
        if stride != 1:
            refuse(f"rm.sum with stride={shown(stride)} adds up a window; say its width: rm.sum(x, width, stride)")
        return _total(x)
    if x._fill.padded and width > 1:
        refuse(
            f"rm.sum of a window of {shown(width)} would read the padding behind the {x._fill.length} declared values, "
            f"which stand in {len(x)} slots; rm.sum(x) adds up the declared ones"
        )
    if width * stride > len(x):
        refuse(
            f"rm.sum of {shown(width)} slots {shown(stride)} apart does not fit the {len(x)} slots of the vector; "
            f"{len(x) // stride} do, and rm.sum(x) adds up all"
        )
    return _summed(x, width, stride)


def _summed(x: Encrypted, width: int, stride: int) -> Encrypted:
    if width == 1:
        return x
    if width % 2:
        return x + _summed(x, width - 1, stride)._turned(stride)
    half = width // 2
    return _summed(x + x._turned(half * stride), half, stride)


def _total(x: Encrypted) -> Encrypted:
    """Adds up the values, in every slot. Unknown padding is set to zero first."""
    if x._fill.padded and not x._fill.zeros:
        x = x * np.ones(x._fill.length, dtype=np.int64 if x._kind.whole else np.float64)
    return _summed(x._filling(FULL), len(x), 1)


@arguments("rm.mean", compile_error, x=_encrypted)
def mean(x: Encrypted) -> Encrypted:
    """Returns the mean of all values of `x`, in every slot. The values are the declared length, or all slots.

    >>> import ringmill as rm
    >>> @rm.program
    ... def centred(x: rm.Encrypted[rm.real[3]]):
    ...     return x - rm.mean(x)
    >>> centred(x=[1.0, 2.0, 6.0])
    array([-2., -1.,  3.])
    """
    if isinstance(x, Array):
        return products.mean(x)
    if x._kind.whole:
        refuse("rm.mean is no whole number in general; return rm.sum(x), and divide what is decrypted")
    return _total(x) / (x._fill.length or len(x))


@arguments("rm.equal", compile_error, x=_encrypted)
def equal(x: Encrypted, y: Any) -> Encrypted:
    """Returns 1 in the slots where the whole numbers `x` and `y` are equal, and 0 in the others.

    `y` is an encrypted or plain vector of the same type, an array, or a number. For short ranges (bits, bytes) the
    compiler takes a polynomial that has all differences except 0 as roots. For longer ones it takes Fermat's little
    theorem, 1 - (x - y)^(t - 1) modulo the plaintext modulus t. Its depth is about the number of bits of t.

    >>> import ringmill as rm
    >>> @rm.program
    ... def same(x: rm.Encrypted[rm.uint(8)[4]], y: rm.Encrypted[rm.uint(8)[4]]):
    ...     return rm.equal(x, y)
    >>> same(x=[0, 1, 255, 7], y=[0, 0, 255, 8])
    array([1, 0, 1, 0])
    """
    if not x._kind.whole:
        refuse(
            f"rm.equal compares whole numbers, and x is of {named(x._kind)}, whose values are approximate; declare the "
            "arguments rm.integer, rm.uint(bits) or rm.bit"
        )
    if isinstance(x, Array):
        return elementwise.equal(x, y)
    difference = x - y
    return x._tracer.emit(difference._kind, difference._fill.unsure, "unary", "is_zero", difference._id)


@arguments("rm.bounded", compile_error, x=_encrypted, lo=number(compile_error), hi=number(compile_error))
def bounded(x: Encrypted, lo: float, hi: float) -> Encrypted:
    """Returns `x`, of which you state that every slot is a real number from `lo` to `hi`, whatever the inputs are.

    The compiler then takes the value to lie there, for all that is computed from it. This costs nothing at run time,
    and nothing checks it there: where data break it, results may be wrong. So predictions that rest on it are
    conditional, and :meth:`Client.decrypt` shares such outputs only with ``assume_bounded=True``. It is
    checked in the clear on `sample` when the program is compiled, and on the inputs of :meth:`Client.measure`.

    >>> import ringmill as rm
    >>> @rm.program
    ... def cosine(x: rm.Encrypted[rm.real[2]], y: rm.Encrypted[rm.real[2]]):
    ...     angle = rm.bounded(rm.sum(x * y), -1, 1)  # of vectors of length 1
    ...     return angle**8
    >>> cosine(x=[0.6, 0.8], y=[0.0, 1.0])
    array([0.16777216, 0.16777216])
    """
    if x._kind.whole:
        refuse(
            f"rm.bounded is about approximate numbers, and x is of {x._kind}, which is computed on exactly; "
            "leave it out"
        )
    if not lo <= hi:
        refuse(f"rm.bounded takes the lowest value first, and got lo={shown(lo)} and hi={shown(hi)}")
    if isinstance(x, Array):
        return elementwise.unary("bounded", x, lo, hi)
    if x._fill.padded and not x._fill.zeros:
        refuse(
            f"rm.bounded is about every slot, and behind the {x._fill.length} declared values is padding that is not "
            "zero; declare as many values as there are slots"
        )
    if x._fill.padded:
        lo, hi = min(lo, 0.0), max(hi, 0.0)
    return x._tracer.emit(x._kind, x._fill, "bounded", x._id, lo, hi)


def _ends(name: str, value: Any) -> tuple[float, float]:
    """Returns the two ends of an interval."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    ends = tuple(value) if isinstance(value, (tuple, list)) else ()
    if len(ends) != 2:
        refuse(f"{name} is a lowest and a highest value, as (-1, 1), and is {shown(value)}")
    lowest, highest = (number(compile_error)(f"each end of {name}", end) for end in ends)
    return lowest, highest


@arguments("rm.polynomial", compile_error, x=_encrypted, basis=text(compile_error), domain=optional(_ends))
def polynomial(
    x: Encrypted,
    coefficients: Sequence[float] | NDArray[Any] | Chebyshev | Polynomial,
    basis: str = "power",
    domain: tuple[float, float] | None = None,
) -> Encrypted:
    """Evaluates c[0] + c[1] x + c[2] x^2 + ... with real coefficients, at the least depth, ceil(log2(degree + 1)).

    Coefficients are in ascending order, as in ``numpy.polynomial``. They cost no level of their own.

    With ``basis="chebyshev"`` the coefficients are those of a Chebyshev series c[0] + c[1] T_1(u) + c[2] T_2(u) + ...,
    where u goes from -1 to 1 as x goes through `domain`, by default (-1, 1). The depth is the same, and a very wide
    domain may take one level more. Such a series is accurate at degrees where powers of x would lose all digits. The
    values of x must lie in the domain: :func:`ringmill.bounded` says so of a value inside a program.

    A ``Polynomial`` or a ``Chebyshev`` of ``numpy.polynomial`` brings its basis and its domain with it.

    >>> import numpy as np
    >>> import ringmill as rm
    >>> @rm.program
    ... def cubic(x: rm.Encrypted):
    ...     return rm.polynomial(x, [1, 0, 0, 2])
    >>> cubic(x=[0.0, 1.0, 2.0, -1.0])
    array([ 1.,  3., 17., -1.])
    >>> tanh = np.polynomial.Chebyshev.interpolate(np.tanh, 31, domain=[-4, 4])
    >>> @rm.program
    ... def squashed(x: rm.Encrypted):
    ...     return rm.polynomial(x, tanh)
    >>> np.round(squashed(x=[-4.0, -1.0, 1.0, 2.0]), 4)
    array([-0.9993, -0.7616,  0.7616,  0.964 ])
    """
    series = _Series.of(coefficients, basis, domain)
    if isinstance(x, Array):
        values = np.asarray(constant(x, series.coefficients))
    else:
        values = x._tracer.numbers("coefficients", series.coefficients, x._kind)
    if values.ndim != 1 or values.imag.any():
        refuse("rm.polynomial takes a list of real coefficients, lowest degree first")
    if not values[1:].any():
        refuse("the polynomial is a constant: its result would not be encrypted")
    numbers = values.real.tolist()
    if series.domain is not None and x._kind.whole:
        refuse(f"a Chebyshev series is of real numbers, and x is of {x._kind}; give the coefficients of powers")
    if isinstance(x, Array):
        if series.domain is None:
            return elementwise.unary("polynomial", x, tuple(numbers))
        return elementwise.unary("chebyshev", x, tuple(numbers), *series.domain)
    if series.domain is None:
        fill = Fill(x._fill.length, x._fill.zeros and not values[0])
        return x._tracer.emit(x._kind, fill, "polynomial", x._id, numbers)
    return x._tracer.emit(x._kind, Fill(x._fill.length, False), "chebyshev", x._id, numbers, *series.domain)


@dataclass(frozen=True)
class _Series:
    """The coefficients of a polynomial: of powers, or of Chebyshev polynomials on a domain."""

    coefficients: Any
    domain: tuple[float, float] | None

    @staticmethod
    def of(coefficients: Any, basis: str, domain: tuple[float, float] | None) -> _Series:
        if isinstance(coefficients, (Chebyshev, Polynomial)):
            if basis != "power" or domain is not None:
                refuse(f"a {type(coefficients).__name__} of numpy brings its basis and its domain; leave these out")
            if isinstance(coefficients, Polynomial):
                return _Series(coefficients.convert().coef, None)
            if tuple(coefficients.window) != (-1, 1):
                refuse(f"a Chebyshev series has the window (-1, 1), and this one has {tuple(coefficients.window)}")
            lowest, highest = (float(end) for end in coefficients.domain)
            return _Series(coefficients.coef, (lowest, highest))
        if basis == "chebyshev":
            return _Series(coefficients, domain or (-1.0, 1.0))
        if basis != "power":
            refuse(f"the basis of a polynomial is 'power' or 'chebyshev', not {basis!r}")
        if domain is not None:
            refuse("domain= is about a Chebyshev series; say basis='chebyshev', or leave it out")
        return _Series(coefficients, None)

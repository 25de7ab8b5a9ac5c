# SPDX-License-Identifier: Apache-2.0
"""Advice for the refusals of :mod:`ringmill.trace`: the code to write instead of an operation that vectors lack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# An approximation is advised on the first of these intervals on which the function is finite.
_POSITIVE = ((0.5, 2), (1, 2))
_INTERVALS = ((-1, 1), (-0.9, 0.9), *_POSITIVE)
_DEGREE = 7
# Numbers in messages have at most this magnitude.
_LARGE = 1e15


def approximated(function: str, of: str = "x", interval: tuple[float, float] = (-1, 1)) -> str:
    """Returns advice to replace a function by a polynomial of `of` on an interval. `function` is text, with t as the
    argument.
    """
    low, high = interval
    return (
        f"for {of} from {low} to {high} write rm.polynomial({of}, np.polynomial.Polynomial.fit(t, {function}, "
        f"{_DEGREE}).convert().coef) with t = np.linspace({low}, {high}, 1000)"
    )


def _about_one(of: str, when: str) -> str:
    return f"{approximated('t > 0', of)}, which is about 1 where {when}"


_WHOLE = "@rm.circuit compares whole numbers exactly, as a < b of parameters annotated rm.Encrypted[rm.uint(8)]"
_TABLE = "@rm.circuit has tables of whole numbers: rm.lookup(x, entries, rm.uint(8)); or declare the argument rm.real"

_SUM = "values are added by rm.sum(x)"
DOT = "multiply and add the values: rm.sum(x * w)"
_MEAN = "the mean is rm.mean(x)"
_ORDER = f"values cannot be compared while they are encrypted; {_about_one('x - y', 'x > y')}; {_WHOLE}"
ROTATE = "slots are moved by rm.rotate(x, steps), `x << steps` and `x >> steps`"
_PARTS = "rm.conj(x) is the conjugate, (x + rm.conj(x)) / 2 the real part"
_LENGTH = "len(x) is the number of slots, and there is one dimension"
_ELSE = "it has + - *, ** with a whole number, / by a number, rm.rotate, rm.sum, rm.polynomial and rm.conj"
# The advice for each function of numpy, and for each attribute of arrays.
_INSTEAD = {
    **dict.fromkeys(["sum", "add.reduce", "nansum", "cumsum", "add.accumulate", "trace"], _SUM),
    **dict.fromkeys(["dot", "vdot", "inner", "matmul", "vecdot", "matvec", "vecmat", "einsum", "tensordot"], DOT),
    **dict.fromkeys(["mean", "average", "nanmean"], _MEAN),
    **dict.fromkeys(["var", "std"], "the variance is rm.mean((x - rm.mean(x)) ** 2)"),
    **dict.fromkeys(["prod", "multiply.reduce", "cumprod"], "rotate and multiply: x * (x << 1), and so on"),
    **dict.fromkeys(["convolve", "correlate", "roll", "flip", "fliplr", "take", "sort", "transpose", "T"], ROTATE),
    "polyval": "of numpy's coefficients, highest degree first, it is rm.polynomial(x, coefficients[::-1])",
    "interp": approximated("np.interp(t, xp, fp)"),
    **dict.fromkeys(["max", "min", "amax", "amin", "argmax", "argmin", "clip", "where"], _ORDER),
    **dict.fromkeys(["real", "imag", "angle", "conj", "conjugate"], _PARTS),
    **dict.fromkeys(["shape", "size", "ndim"], _LENGTH),
    **dict.fromkeys(
        ["zeros_like", "ones_like", "full_like", "empty_like", "array", "copy", "concatenate", "stack", "append"],
        "constants are numpy arrays of len(x) values; vectors are put together by 0/1 masks and sums",
    ),
}
_OF_TWO = frozenset(
    ("maximum", "minimum", "fmax", "fmin", "greater", "greater_equal", "less", "less_equal", "equal", "not_equal")
)


def instead(name: str) -> str:
    """Returns the advice for a function of numpy, or for an attribute of arrays."""
    return _INSTEAD.get(name, _ELSE)


def instead_of_ufunc(ufunc: np.ufunc, called: str, operands: list[Any], vector: type, whole: bool) -> str:
    """Returns the advice for an elementwise function of numpy. `called` is its name. Some operands are of the traced
    type `vector`, whose values are whole numbers if `whole` is set.
    """
    if called in _INSTEAD:
        return _INSTEAD[called]
    if whole:
        return _WHOLE if called in _OF_TWO else _TABLE
    known = [None if isinstance(item, vector) else item for item in operands]
    if called == ufunc.__name__ and known.count(None) == 1 and all(item is None or _number(item) for item in known):
        terms = ", ".join("t" if item is None else f"{item!r}" for item in known)
        for interval in _INTERVALS:
            if _finite(lambda t: ufunc(*[t if item is None else item for item in known]), interval):
                return approximated(f"np.{called}({terms})", "x", interval)
    return _ORDER if called in _OF_TWO else _ELSE


def _number(item: object) -> bool:
    return isinstance(item, (int, float)) and -_LARGE <= item <= _LARGE


def _finite(function: Callable[[np.ndarray], Any], interval: tuple[float, float]) -> bool:
    try:
        with np.errstate(all="ignore"):
            return bool(np.isfinite(np.asarray(function(np.linspace(*interval, 1000)), dtype=float)).all())
    except Exception:
        return False


def instead_of_comparing(other: object, whole: bool) -> str:
    """Returns the advice for a comparison with `other`."""
    if whole:
        return f"rm.equal(x, y) is 1 where whole numbers are equal; {_WHOLE}"
    if _number(other):
        of = "x" if other == 0 else f"x - {other!r}" if other > 0 else f"x + {-other!r}"  # type: ignore[operator]
        return _about_one(of, f"x > {other!r}")
    return _about_one("x - y", "x > y")


def instead_of_function(function: str, whole: bool) -> str:
    """Returns the advice for a function, written as a function of t."""
    return _TABLE if whole else approximated(function)


def power(exponent: object, whole: bool) -> str:
    """Returns the advice for a power that is no product."""
    if not _number(exponent):
        return "write products, as x * x"
    if exponent == 0:
        return "x ** 0 is 1, which needs no encryption"
    if whole:
        return _TABLE
    interval = next((i for i in _POSITIVE if _finite(lambda t: t**exponent, i)), None)
    return approximated(f"t ** {exponent!r}", "x", interval) if interval else "write products, as x * x"

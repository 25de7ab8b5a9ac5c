# SPDX-License-Identifier: Apache-2.0
"""Gives traced arrays the operators and methods of numpy's arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ringmill import advice
from ringmill.arrays import elementwise, products, structure
from ringmill.arrays.value import Array, PlainArray, Traced
from ringmill.errors import RingmillError
from ringmill.trace import refuse


def _add(x: Array, other: Any) -> Array:
    return elementwise.binary("add", x, other)


def _subtract(x: Array, other: Any) -> Array:
    return elementwise.binary("sub", x, other)


def _subtracted(x: Array, other: Any) -> Array:
    return elementwise.binary("add", elementwise.number(x, -1), other)


def _multiply(x: Array, other: Any) -> Array:
    return elementwise.binary("mul", x, other)


def _divide(x: Array, other: Any) -> Array:
    return elementwise.divided(x, other)


def _power(x: Array, exponent: Any, modulus: Any = None) -> Array:
    if modulus is not None:
        refuse("an encrypted array cannot be reduced modulo a number")
    return elementwise.power(x, exponent)


def _matmul(x: Array, other: Any) -> Array:
    return products.matmul(x, other)


def _rmatmul(x: Array, other: Any) -> Array:
    return products.matmul(other, x)


_OPERATORS = {
    **{"add": _add, "radd": _add, "sub": _subtract, "rsub": _subtracted, "mul": _multiply, "rmul": _multiply},
    **{"truediv": _divide, "pow": _power, "matmul": _matmul, "rmatmul": _rmatmul},
    **{"neg": lambda x: elementwise.number(x, -1), "pos": lambda x: x},
}
for _name, _method in _OPERATORS.items():
    setattr(Array, f"__{_name}__", _method)

_ALONE = "arithmetic without an encrypted operand belongs outside the program: do it in numpy and pass the result"


def _meet(name: str) -> Any:
    def met(_self: PlainArray, other: Any) -> Any:
        if isinstance(other, Array) and not name.startswith("r"):
            return NotImplemented  # the encrypted array does it
        refuse(_ALONE)

    return met


for _name in ("add", "sub", "mul", "truediv", "matmul", "pow", "radd", "rsub", "rmul", "rtruediv", "rmatmul", "rpow"):
    setattr(PlainArray, f"__{_name}__", _meet(_name))
for _name in ("neg", "pos", "abs"):
    setattr(PlainArray, f"__{_name}__", lambda _self: refuse(_ALONE))


def _compared(x: Traced, other: Any) -> Any:
    refuse(
        "traced arrays cannot be compared, since their values are encrypted; "
        f"{advice.instead_of_comparing(other, x._kind.whole)}"
    )


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Traced, f"__{_name}__", _compared)


def _refusing(message: str) -> Any:
    def refused(_self: Any, *_operands: Any) -> Any:
        refuse(message)

    return refused


for _message, _names in (
    (
        f"division by an encrypted array is no polynomial; {advice.approximated('1 / t', 'x', (0.5, 2))}",
        ("rtruediv",),
    ),
    ("a traced array has no absolute value; x * x is its square", ("abs",)),
    ("a number cannot be raised to an encrypted array", ("rpow",)),
    (
        "arrays have no remainder and no whole quotient; x * (1 / 3) is a third, and @rm.circuit has // and %",
        ("floordiv", "rfloordiv", "mod", "rmod", "divmod", "rdivmod"),
    ),
    (
        "arrays hold numbers, not bits: of 0 and 1, x * y is `and`, x + y - x * y is `or`, 1 - x is `not`",
        ("and", "rand", "or", "ror", "xor", "rxor", "invert"),
    ),
    (
        "`<<` and `>>` rotate vectors of slots, and this program is of arrays: write np.roll(x, -steps), or compile "
        "with slots= for a program of slots",
        ("lshift", "rlshift", "rshift", "rrshift"),
    ),
):
    for _name in _names:
        setattr(Array, f"__{_name}__", _refusing(_message))


def _rearranging(function: Any) -> Any:
    def method(self: Traced, *args: Any, **kwargs: Any) -> Any:
        return structure.assembled(function, (self, *args), kwargs)

    return method


def _reshape(self: Traced, *shape: Any, order: Any = "C") -> Any:
    wanted = shape[0] if len(shape) == 1 else shape
    return structure.assembled(np.reshape, (self, wanted), {"order": order})


def _transpose(self: Traced, *axes: Any) -> Any:
    wanted = axes[0] if len(axes) == 1 and not isinstance(axes[0], (int, np.integer)) else axes
    return structure.assembled(np.transpose, (self, wanted or None), {})


Traced.reshape = _reshape  # type: ignore[attr-defined]
Traced.transpose = _transpose  # type: ignore[attr-defined]
Traced.flatten = _rearranging(np.ravel)  # type: ignore[attr-defined]
Traced.copy = lambda self: self  # type: ignore[attr-defined]
for _function in (np.ravel, np.swapaxes, np.squeeze, np.repeat, np.take, np.diagonal):
    setattr(Traced, _function.__name__, _rearranging(_function))


def _total(self: Array, axis: Any = None, keepdims: bool = False) -> Array:
    return products.total(self, axis, keepdims)


def _mean(self: Array, axis: Any = None, keepdims: bool = False) -> Array:
    return products.mean(self, axis, keepdims)


def _var(self: Array, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Array:
    return products.variance(self, axis, keepdims, ddof)


def _prod(self: Array, axis: Any = None, keepdims: bool = False) -> Array:
    return products.product(self, axis, keepdims)


def _std(self: Array, *_args: Any, **_options: Any) -> Array:
    refuse(
        "a standard deviation is a root, which encrypted values lack; return x.var(), and take np.sqrt of what is "
        "decrypted"
    )


def _trace(self: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    diagonal = structure.assembled(np.diagonal, (self, offset, axis1, axis2), {})
    return products.total(diagonal, -1)


def _conj(self: Array) -> Array:
    return self if self._kind.whole else elementwise.unary("conj", self)


def called(name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function of arrays, which messages call `name`. Arguments that it does not take are refused."""
    try:
        return function(*args, **kwargs)
    except RingmillError:
        raise
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        refuse(f"{name} does not take these arguments here: {error}")


def _method_of(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Array, *args: Any, **kwargs: Any) -> Any:
        return called(f"the method {name} of arrays", function, self, *args, **kwargs)

    method.__name__ = name
    return method


for _name, _method in {
    **{"sum": _total, "mean": _mean, "var": _var, "prod": _prod, "std": _std, "trace": _trace},
    **{"dot": products.dot, "cumsum": products.cumulated, "conj": _conj, "conjugate": _conj},
}.items():
    setattr(Array, _name, _method_of(_name, _method))

# SPDX-License-Identifier: Apache-2.0
"""Maps numpy's functions to traced arrays: ``np.mean(x, axis=0)`` works on an encrypted `x`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ringmill import advice
from ringmill.arrays import elementwise, filters, methods, products, structure
from ringmill.arrays.refusals import instead
from ringmill.arrays.value import Array, Traced, array_of
from ringmill.trace import refuse
from ringmill.ufuncs import OPERATORS, operate


def _averaged(x: Any, axis: Any = None, weights: Any = None, *, keepdims: bool = False) -> Array:
    if weights is None:
        return products.mean(x, axis, keepdims)
    by = np.asarray(weights)
    if by.ndim != x.ndim:
        (place,) = products.axes_of(x, axis)
        by = by.reshape([-1 if a == place else 1 for a in range(x.ndim)])
    return products.total(x * (by / by.sum(axis=axis, keepdims=True)), axis, keepdims)


def _difference(x: Any, n: int = 1, axis: int = -1) -> Any:
    (place,) = products.axes_of(x, axis)
    ahead, behind = [slice(None)] * x.ndim, [slice(None)] * x.ndim
    ahead[place], behind[place] = slice(1, None), slice(None, -1)
    for _ in range(n):
        x = x[tuple(ahead)] - x[tuple(behind)]
    return x


def _norm(*_args: Any, **_options: Any) -> Any:
    refuse("a norm is a root, which encrypted values lack; return (x * x).sum(), and take np.sqrt of what is decrypted")


def _kron(a: Any, b: Any) -> Any:
    left, right = map(array_of, (a, b))
    if left.ndim != right.ndim or not left.ndim:
        refuse(f"np.kron takes arrays of as many dimensions here, and these have {left.ndim} and {right.ndim}")
    outer = products.tensordot(left, right, 0)
    order = [axis for pair in zip(range(left.ndim), range(left.ndim, 2 * left.ndim), strict=True) for axis in pair]
    return outer.transpose(order).reshape(tuple(n * m for n, m in zip(left.shape, right.shape, strict=True)))


def _outer(a: Any, b: Any) -> Any:
    return products.tensordot(np.ravel(a), np.ravel(b), 0)


def _vdot(a: Any, b: Any) -> Any:
    left, right = np.ravel(a), np.ravel(b)
    if isinstance(left, Array):
        return products.dot(left.conj() if left._kind.kind == "slots" else left, right)
    return products.dot(np.conj(left) if isinstance(left, np.ndarray) else left, right)


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: methods._total,
    np.mean: methods._mean,
    np.var: methods._var,
    np.std: methods._std,
    np.prod: methods._prod,
    np.cumsum: products.cumulated,
    np.average: _averaged,
    np.trace: methods._trace,
    np.dot: products.dot,
    np.inner: products.inner,
    np.outer: _outer,
    np.vdot: _vdot,
    np.kron: _kron,
    np.tensordot: products.tensordot,
    np.einsum: products.einsum,
    np.diff: _difference,
    np.where: structure.where,
    np.pad: structure.pad,
    np.convolve: filters.convolve,
    np.correlate: filters.correlate,
    np.linalg.norm: _norm,
    np.shape: lambda x: x.shape,
    np.ndim: lambda x: x.ndim,
    np.size: lambda x, axis=None: x.size if axis is None else x.shape[axis],
}


def _applied(self: Traced, function: Any, _types: Any, args: Any, kwargs: Any) -> Any:
    if function in structure.FUNCTIONS:
        return structure.assembled(function, args, kwargs)
    if function in _FUNCTIONS:
        kwargs = {name: value for name, value in kwargs.items() if not _default(name, value)}
        return methods.called(f"numpy.{function.__name__}", _FUNCTIONS[function], *args, **kwargs)
    refuse(f"numpy.{function.__name__} does not work on traced arrays: {instead(function.__name__)}")


def _default(name: str, value: Any) -> bool:
    """Returns whether an argument has no effect."""
    return value is None and name in ("out", "dtype", "where", "initial")


_UFUNCS = frozenset(
    ("add", "subtract", "multiply", "matmul", "divide", "power", "float_power", "square", "negative", "positive")
)
_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "add.reduce": lambda x, axis=0, **options: products.total(x, axis, **options),
    "multiply.reduce": lambda x, axis=0, **options: products.product(x, axis, **options),
    "add.accumulate": lambda x, axis=0: products.cumulated(x, axis),
    "multiply.outer": lambda a, b: products.tensordot(a, b, 0),
}


def _of_ufunc(self: Traced, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    name = ufunc.__name__
    called = name if method == "__call__" else f"{name}.{method}"
    if kwargs.get("out"):
        refuse(f"the result of numpy.{called} with a traced array is a traced array, which no array can take in")
    kwargs = {key: value for key, value in kwargs.items() if not _default(key, value)}
    if called in _REDUCTIONS:
        return methods.called(f"numpy.{called}", _REDUCTIONS[called], *inputs, **kwargs)
    if called in ("conjugate", "vecdot") and not kwargs:
        return inputs[0].conj() if called == "conjugate" else products.total(inputs[0] * inputs[1], -1)
    if called in _UFUNCS and called in OPERATORS and not kwargs:
        return operate(called, inputs, Array if any(isinstance(item, Array) for item in inputs) else Traced)
    cure = instead(called)
    if cure.startswith("arrays have"):
        cure = advice.instead_of_ufunc(ufunc, called, list(inputs), Traced, self._kind.whole)
    refuse(f"numpy.{called} does not work on traced arrays: {cure}")


Traced.__array_function__ = _applied  # type: ignore[attr-defined]
Traced.__array_ufunc__ = _of_ufunc  # type: ignore[attr-defined]
assert elementwise  # the operators of methods use it

# SPDX-License-Identifier: Apache-2.0
"""Traces convolutions and windows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ringmill.arrays import elementwise, products
from ringmill.arrays.value import Array, Traced, array_of
from ringmill.check import arguments, integer, shown
from ringmill.trace import compile_error, refuse

_WHOLE = integer(1, 1 << 24, compile_error)
_PADDING = integer(0, 1 << 24, compile_error)


def convolve(a: Any, v: Any, mode: str = "full") -> Array:
    """Returns ``np.convolve(a, v, mode)``."""
    a, v = (np.atleast_1d(array_of(value)) for value in (a, v))
    if a.ndim != 1 or v.ndim != 1:
        refuse(f"np.convolve takes arrays of one dimension, and these have shapes {a.shape} and {v.shape}")
    if v.shape[0] > a.shape[0]:
        a, v = v, a
    return _slid(a, v[::-1], mode)


def correlate(a: Any, v: Any, mode: str = "valid") -> Array:
    """Returns ``np.correlate(a, v, mode)``."""
    a, v = (np.atleast_1d(array_of(value)) for value in (a, v))
    if a.ndim != 1 or v.ndim != 1:
        refuse(f"np.correlate takes arrays of one dimension, and these have shapes {a.shape} and {v.shape}")
    v = np.conj(v) if isinstance(v, np.ndarray) else v
    return _slid(a, v, mode) if v.shape[0] <= a.shape[0] else _slid(v, a, mode)[::-1]


def _slid(a: Any, v: Any, mode: str) -> Array:
    """Returns the sum of products of `v` with each window of `a`. `a` is not shorter than `v`."""
    count = v.shape[0]
    if mode not in ("full", "same", "valid"):
        refuse(f"mode={shown(mode)} is none of 'full', 'same' and 'valid'")
    before = {"full": count - 1, "same": count // 2, "valid": 0}[mode]
    after = {"full": count - 1, "same": count - 1 - count // 2, "valid": 0}[mode]
    windows = _windows(a, (count,), (1,), ((before, after),))
    return products.contract(windows, "xk", v, "k", "x")


def _windows(x: Any, size: tuple[int, ...], stride: tuple[int, ...], padding: tuple[tuple[int, int], ...]) -> Any:
    """Returns the windows over the last axes of `x`. The result has the axes of the windows' places, and then the axes
    within a window.
    """
    kept = x.ndim - len(size)
    index = x._index if isinstance(x, Traced) else np.asarray(x)
    index = np.pad(index, [(0, 0)] * kept + list(padding), constant_values=-1 if isinstance(x, Traced) else 0)
    if any(length < window for length, window in zip(index.shape[kept:], size, strict=True)):
        refuse(f"windows of size {size} do not fit x of shape {x.shape[kept:]} with padding {padding}")
    windows = sliding_window_view(index, size, axis=tuple(range(kept, x.ndim)))
    steps = (slice(None),) * kept + tuple(slice(None, None, step) for step in stride)
    return x._view(windows[steps]) if isinstance(x, Traced) else windows[steps]


def _pair(name: str, value: Any, check: Any) -> tuple[int, int]:
    both = value if isinstance(value, (tuple, list)) else (value, value)
    if len(both) != 2:
        refuse(f"{name} is a number or a pair, and is {shown(value)}")
    return check(name, both[0]), check(name, both[1])


def _traced(_name: str, value: Any) -> Any:
    return array_of(value)


@arguments("rm.conv2d", compile_error, x=_traced, weights=_traced, groups=_WHOLE)
def conv2d(x: Any, weights: Any, stride: Any = 1, padding: Any = 0, groups: int = 1) -> Array:
    """Returns the cross-correlation of images with filters, as neural networks have it.

    `x` has shape (channels, height, width), with or without a leading batch axis, and `weights` (filters, channels /
    groups, height, width). Both may also be one image and one filter of two dimensions. `stride` and `padding` are
    numbers or pairs, and the padding is zeros. Either operand may be encrypted.

    >>> import numpy as np
    >>> import ringmill as rm
    >>> @rm.program
    ... def blurred(image: rm.Encrypted[rm.real[4, 4]]):
    ...     return rm.conv2d(image, np.ones((3, 3)) / 9)
    >>> blurred(np.ones((4, 4))).shape
    (2, 2)
    """
    return _convolved(
        "rm.conv2d", x, weights, _pair("stride", stride, _WHOLE), _pair("padding", padding, _PADDING), groups
    )


@arguments("rm.conv1d", compile_error, x=_traced, weights=_traced, stride=_WHOLE, padding=_PADDING, groups=_WHOLE)
def conv1d(x: Any, weights: Any, stride: int = 1, padding: int = 0, groups: int = 1) -> Array:
    """Returns the cross-correlation of signals with filters, as neural networks have it.

    `x` has shape (channels, length), with or without a leading batch axis, and `weights` (filters, channels / groups,
    length). Both may also have one dimension. The padding is zeros. Either operand may be encrypted.

    >>> import ringmill as rm
    >>> @rm.program
    ... def steps(x: rm.Encrypted[rm.real[4]], rows: rm.Encrypted[rm.real[1, 1]]):
    ...     return rm.conv1d(x, [-1.0, 1.0]) * rows[0, 0]
    >>> steps([1.0, 2.0, 4.0, 8.0], [[1.0]])
    array([1., 2., 4.])
    """
    return _convolved("rm.conv1d", x, weights, (stride,), (padding,), groups)


def _convolved(
    name: str, x: Any, weights: Any, stride: tuple[int, ...], padding: tuple[int, ...], groups: int
) -> Array:
    axes = len(stride)
    if not isinstance(x, Array) and not isinstance(weights, Array):
        refuse(f"{name} needs x or weights encrypted; without that, do it outside the program and pass the result")
    both = tuple((each, each) for each in padding)
    size = tuple(weights.shape[-axes:])
    inner, places = "hwk"[:axes], "xyz"[:axes]
    if x.ndim == axes and weights.ndim == axes:
        return products.contract(_windows(x, size, stride, both), places + inner, weights, inner, places)
    if x.ndim not in (axes + 1, axes + 2) or weights.ndim != axes + 2:
        refuse(
            f"{name} takes x of shape (channels, ...) or (batch, channels, ...) and weights of shape (filters, "
            f"channels / groups, ...), and got {x.shape} and {weights.shape}"
        )
    channels, filters = x.shape[-axes - 1], weights.shape[0]
    if channels % groups or filters % groups or weights.shape[1] != channels // groups:
        refuse(f"{channels} channels of x and weights of shape {weights.shape} do not fit groups={groups}")
    windows = _windows(x, size, stride, both)
    batch = "n" if x.ndim == axes + 2 else ""
    lead = x.shape[: x.ndim - axes - 1]
    windows = windows.reshape((*lead, groups, channels // groups, *windows.shape[len(lead) + 1 :]))
    by = weights.reshape((groups, filters // groups, *weights.shape[1:]))
    found = products.contract(windows, f"{batch}gc{places}{inner}", by, f"gfc{inner}", f"{batch}gf{places}")
    return found.reshape((*lead, filters, *found.shape[len(lead) + 2 :]))  # type: ignore[attr-defined]


@arguments("rm.upsample", compile_error, x=_traced)
def upsample(x: Any, scale: Any) -> Array:
    """Returns images whose values are repeated along the last two axes: the nearest value stands for each new one.

    `scale` is a number or a pair. Arrays of one dimension are repeated along their only axis.

    >>> import ringmill as rm
    >>> @rm.program
    ... def larger(image: rm.Encrypted[rm.real[1, 2]]):
    ...     return rm.upsample(image, (2, 3))
    >>> larger([[1.0, 2.0]])
    array([[1., 1., 1., 2., 2., 2.],
           [1., 1., 1., 2., 2., 2.]])
    """
    if not isinstance(x, Traced) or not x.ndim:
        refuse("rm.upsample takes x, an array of a program of one dimension or more")
    if x.ndim == 1 and isinstance(scale, (tuple, list)):
        refuse(f"scale={shown(scale)} is a pair, and x has one axis; give one number")
    rows, columns = (1, _WHOLE("scale", scale)) if x.ndim == 1 else _pair("scale", scale, _WHOLE)
    if x.size * rows * columns > products.MOST_TERMS:
        refuse(f"x of shape {x.shape} has too many values at scale={shown(scale)}; at most {products.MOST_TERMS}")
    wide = np.repeat(x._index, columns, axis=-1)
    return x._view(wide if rows == 1 else np.repeat(wide, rows, axis=-2))  # type: ignore[no-any-return]


@arguments("rm.avg_pool2d", compile_error, x=_traced)
def avg_pool2d(x: Any, size: Any, stride: Any = None, padding: Any = 0) -> Array:
    """Returns the means of windows over the last two axes. `size`, `stride` (the size by default) and `padding` are
    numbers or pairs. Padding is zeros, which count as values in the means.

    >>> import numpy as np
    >>> import ringmill as rm
    >>> @rm.program
    ... def smaller(image: rm.Encrypted[rm.real[4, 4]]):
    ...     return rm.avg_pool2d(image, 2)
    >>> smaller(np.ones((4, 4)))
    array([[1., 1.],
           [1., 1.]])
    """
    if not isinstance(x, Array) or x.ndim < 2:
        refuse("rm.avg_pool2d takes x, an encrypted array of two dimensions or more")
    window = _pair("size", size, _WHOLE)
    both = _pair("padding", padding, _PADDING)
    steps = window if stride is None else _pair("stride", stride, _WHOLE)
    windows = _windows(x, window, steps, tuple((each, each) for each in both))
    return elementwise.divided(products.total(windows, (-2, -1)), window[0] * window[1])

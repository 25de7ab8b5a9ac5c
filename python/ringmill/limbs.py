# SPDX-License-Identifier: Apache-2.0
"""Multiplies two polynomials on a device: one limb of any lattice cryptosystem."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringmill import _ringmill, types
from ringmill.check import arguments, integer
from ringmill.errors import DataError, ParameterError
from ringmill.parameters import device_name
from ringmill.values import RAVEL, whole_numbers


class NegacyclicProduct(NamedTuple):
    """A product, and its time on the device's machine, which is None on ``"cpu"``."""

    residues: NDArray[np.int64]
    """n integers from 0 to q - 1, lowest coefficient first."""
    cycles: int | None
    """The cycles of the machine's clock for the whole call: it loads the tables of `q` and both operands, computes the
    product and unloads it. The cycles in the paper are for the product alone, as ``ringmill reproduce polymul`` prints
    them.
    """
    seconds: float | None
    """Those cycles at the machine's clock, without the host link."""


def _polynomial(name: str, value: Any) -> NDArray[np.int64]:
    array = whole_numbers(name, value, types.WHOLES)
    if array.ndim != 1:
        raise DataError(f"{name} must be one-dimensional, and has shape {array.shape}; {RAVEL}")
    return array


@arguments(
    "rm.negacyclic_product",
    a=_polynomial,
    b=_polynomial,
    q=integer(2, 2**61 - 1, ParameterError),
    device=device_name,
)
def negacyclic_product(a: ArrayLike, b: ArrayLike, q: int, *, device: str = "cpu") -> NegacyclicProduct:
    """Multiplies two polynomials in Z_q[x] / (x^n + 1), on the CPU, a modelled or an RTL machine.

    `a` and `b` hold n integers each, lowest coefficient first. They are taken modulo `q`, a prime that is 1 mod 2n. n
    is a power of two. ``"sim:polymul"`` takes n from 256 to 4096 and primes of up to 32 bits. The CPU takes n from 8 to
    131072 and primes of up to 61 bits. All devices give the same residues.

    Raises :class:`DataError` for polynomials of another length or of different lengths, :class:`ParameterError` for a
    `q` without the transform, and :class:`DeviceError` for a device that is unknown or has no room for n or q.

    >>> import numpy as np, ringmill as rm
    >>> x = np.zeros(256, int)
    >>> x[200] = 1
    >>> found = rm.negacyclic_product(x, x, 7681, device="sim:polymul")  # x^400 = -x^144
    >>> int(found.residues[144]), found.cycles > 0
    (7680, True)
    """
    residues, taken = _ringmill.negacyclic_product(
        np.mod(a, q).astype(np.uint64), np.mod(b, q).astype(np.uint64), q, device
    )
    cycles, seconds = taken or (None, None)
    return NegacyclicProduct(residues, cycles, seconds)

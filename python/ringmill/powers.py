# SPDX-License-Identifier: Apache-2.0
"""Raises values to whole powers at the least depth."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def raised(x: T, exponent: int, product: Callable[[T, T], T]) -> T:
    """Returns x to the power `exponent`, which is at least 1, with ceil(log2(exponent)) products in sequence."""
    known = {1: x}

    def power(k: int) -> T:
        if k not in known:
            high = 1 << ((k - 1).bit_length() - 1)  # the largest power of two below k
            known[k] = product(power(high), power(k - high))
        return known[k]

    return power(exponent)

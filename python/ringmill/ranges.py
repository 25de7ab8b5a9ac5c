# SPDX-License-Identifier: Apache-2.0
"""Finds the ranges of a program's whole-number inputs: from their types, from declared ranges, or from a sample."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ringmill._ringmill import MacroProgram
from ringmill.check import shown
from ringmill.errors import DataError, UnknownName
from ringmill.schemes import Signature
from ringmill.types import Type, named
from ringmill.values import as_vector

Ends = tuple[int, int]


@dataclass(frozen=True)
class Sizes:
    """What a caller says about the sizes of inputs when a program is compiled."""

    ranges: Mapping[str, Any]
    sample: Mapping[str, Any] | None
    bound: float | None
    margin: float


def whole_ranges(traced: MacroProgram, signature: Signature, sizes: Sizes) -> list[list[int]]:
    """Returns the least and the largest value of each input, in order.

    Raises :class:`DataError` for an input without a range, and for ranges or a sample that do not fit the program or
    its types.
    """
    known = [name for name, _ in traced.inputs]
    for what, given in (("ranges", sizes.ranges), ("sample", sizes.sample or {})):
        for name in given:
            if name not in known:
                raise UnknownName(f"{what}: the program has no input {name}; its inputs are {', '.join(known)}")
    return [list(_range(name, signature.of(name), traced.slots, sizes)) for name in known]


def _range(name: str, kind: Type, slots: int, sizes: Sizes) -> Ends:
    sample = None if sizes.sample is None else _typical(name, kind, slots, sizes.sample)
    ends = _declared(name, kind, sizes.ranges[name]) if name in sizes.ranges else kind.ends
    if ends is None and sample is not None:
        most = _power_of_two(sizes.margin, max(abs(int(sample.min())), abs(int(sample.max()))))
        ends = -most, most
    if ends is None and sizes.bound is not None:
        ends = _bound(sizes.bound)
    if ends is None:
        cure = f"give ranges={{{name!r}: (lowest, highest)}}, sample= or input_bound="
        raise DataError(f"input {name} is of type {named(kind)}, and nothing says where its values lie; {cure}")
    if (kind.length or slots) < slots:  # zeros follow a shorter array
        ends = min(ends[0], 0), max(ends[1], 0)
    if sample is not None and not (ends[0] <= sample.min() and sample.max() <= ends[1]):
        place = int(np.argmax((sample < ends[0]) | (sample > ends[1])))
        raise DataError(
            f"sample: value {place} of input {name} is {sample[place]}, outside its range {ends[0]} to {ends[1]}"
        )
    return ends


def _declared(name: str, kind: Type, given: Any) -> Ends:
    """Returns a range that is given by name: two whole numbers, or one as the largest absolute value."""
    both = given if isinstance(given, (tuple, list, np.ndarray)) and np.shape(given) == (2,) else None
    numbers = [_whole(item) for item in ([given] if both is None else both)]
    if None in numbers:
        raise DataError(
            f"ranges: input {name} takes (lowest, highest) in whole numbers, or one for the largest absolute value, "
            f"and got {shown(given)}"
        )
    low, high = numbers if both is not None else (-numbers[0], numbers[0])
    if low > high:
        raise DataError(f"ranges: input {name} has no value between {shown(given)}; the lowest comes first")
    if kind.ends is None:
        return low, high
    lowest, highest = kind.ends
    low = max(low, lowest) if both is None else low
    if not lowest <= low <= high <= highest:
        raise DataError(f"ranges: input {name} is of type {kind}, from {lowest} to {highest}, and got {shown(given)}")
    return low, high


def _whole(value: Any) -> int | None:
    try:
        return None if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except Exception:
        return None


def _bound(bound: float) -> Ends:
    if not isinstance(bound, int):
        raise DataError(f"input_bound is a whole number for inputs of whole numbers, not {bound}")
    return -bound, bound


def _power_of_two(margin: float, largest: int) -> int:
    """Returns the least power of two that is at least `margin` times `largest`, so that it reveals no value of the
    sample.
    """
    if not (math.isfinite(margin) and margin >= 1):
        raise DataError(f"the margin over a sample is a finite factor of at least 1, not {margin}")
    most = math.ceil(Fraction(margin) * largest)
    return 1 << (most - 1).bit_length() if most else 0


def _typical(name: str, kind: Type, slots: int, sample: Mapping[str, Any]) -> np.ndarray:
    if name not in sample:
        raise DataError(f"sample: input {name} is missing; give typical values of every input, plain ones too")
    vector = as_vector(name, sample[name], slots, kind)
    if vector.size != slots:
        raise DataError(f"sample: input {name} has {vector.size} values, and the program's vectors have {slots}")
    return vector

# SPDX-License-Identifier: Apache-2.0
"""Layouts: which value each slot of an array's ciphertexts holds.

A layout knows of each slot whether it holds a value, a copy of one, zero, or rubbish. Most layouts are affine: a
value's slot is an offset plus a stride for each index (:func:`affine`). The table of slots is the definition, so
layouts that operations leave behind need not be affine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

ZERO = -1
"""The slot is zero."""

RUBBISH = -2
"""Nothing is known about the slot. As a wish it means that any content will do."""


@dataclass(frozen=True, eq=False)
class Layout:
    """The number of each slot's value, or `ZERO` or `RUBBISH`. The slots of several ciphertexts follow each other."""

    slots: int
    holds: np.ndarray

    @property
    def ciphertexts(self) -> int:
        return self.holds.size // self.slots

    @cached_property
    def _sorted(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.holds, kind="stable")
        return order, self.holds[order]

    @cached_property
    def padded(self) -> bool:
        """Whether a slot holds no value."""
        return bool((self.holds < 0).any())

    @cached_property
    def rubbish(self) -> bool:
        """Whether a slot holds rubbish."""
        return bool((self.holds == RUBBISH).any())

    @cached_property
    def _firsts(self) -> np.ndarray:
        """The first slot of each value, or -1. The last entry is -1, for numbers that are no value's."""
        held = np.flatnonzero(self.holds >= 0)[::-1]
        found = np.full(int(self.holds.max(initial=-1)) + 2, -1)
        found[self.holds[held]] = held
        return found

    def first(self, values: np.ndarray) -> np.ndarray:
        """Returns the first slot of each value, or -1 for a value that no slot holds."""
        firsts = self._firsts
        known = np.asarray(values)
        return firsts[np.where((known >= 0) & (known < firsts.size), known, -1)]

    def copies(self) -> int:
        """Returns the largest number of slots that hold one value."""
        held = self.holds[self.holds >= 0]
        return int(np.bincount(held).max()) if held.size else 0

    def once(self) -> Layout:
        """Returns the layout with the first copy of each value alone. Other slots hold rubbish."""
        held = np.full(self.holds.size, RUBBISH)
        values = np.unique(self.holds[self.holds >= 0])
        held[self.first(values)] = values
        return Layout(self.slots, held)

    def all_copies(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the place in `values` and the slot of each copy of each value."""
        order, held = self._sorted
        low, high = np.searchsorted(held, values, "left"), np.searchsorted(held, values, "right")
        counts = high - low
        which = np.repeat(np.arange(values.size), counts)
        within = np.arange(which.size) - np.repeat(np.cumsum(counts) - counts, counts)
        return which, order[low[which] + within]

    def __str__(self) -> str:
        parts = [f"{self.ciphertexts} ciphertext{'s' * (self.ciphertexts > 1)} of {self.slots} slots"]
        values = int((self.holds >= 0).sum())
        distinct = int(np.unique(self.holds[self.holds >= 0]).size)
        parts.append(f"{distinct} values")
        if values > distinct:
            parts.append(f"{values - distinct} copies")
        for name, mark in (("zero", ZERO), ("rubbish", RUBBISH)):
            count = int((self.holds == mark).sum())
            if count:
                parts.append(f"{count} {name}")
        return ", ".join(parts)


def table(slots: int, places: np.ndarray, fill: int = ZERO) -> Layout:
    """Returns the layout in which value i stands in slot `places[i]`. Other slots hold `fill`."""
    places = np.asarray(places).ravel()
    ciphertexts = int(places.max(initial=0)) // slots + 1
    holds = np.full(ciphertexts * slots, fill)
    holds[places] = np.arange(places.size)
    return Layout(slots, holds)


def affine(shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> np.ndarray:
    """Returns the slot of each value: the offset plus each index times its stride."""
    places = np.full(tuple(shape), offset)
    for axis, (length, stride) in enumerate(zip(shape, strides, strict=True)):
        places += (np.arange(length) * stride).reshape((-1,) + (1,) * (len(shape) - axis - 1))
    return places


def affine_strides(places: np.ndarray) -> tuple[int, ...] | None:
    """Returns the strides of places that are affine in the index, or None if they are not."""
    strides = tuple(
        int(places.take(1, axis=axis).flat[0] - places.flat[0]) if length > 1 else 0
        for axis, length in enumerate(places.shape)
    )
    known = affine(places.shape, strides, int(places.flat[0]))
    return strides if bool((known == places).all()) else None


def power(length: int) -> int:
    """Returns the least power of two that is not below `length`."""
    return 1 << (max(length, 1) - 1).bit_length()


def strides_of(shape: Sequence[int], order: Sequence[int], padded: bool) -> list[int]:
    """Returns the strides of axes that follow each other in `order`, outermost first. Padded lengths are powers of
    two.
    """
    strides, stride = [0] * len(shape), 1
    for axis in reversed(order):
        strides[axis] = stride
        stride *= power(shape[axis]) if padded else shape[axis]
    return strides


def usual(shape: Sequence[int], slots: int) -> Iterator[Layout]:
    """Returns the usual layouts of an array: rows or columns first, with lengths padded to powers of two or dense."""
    axes = [axis for axis, length in enumerate(shape) if length > 1]
    size = math.prod(shape)
    seen = set()
    for order in (axes, axes[::-1]):
        for padded in (True, False):
            kept = strides_of([shape[a] for a in axes], [axes.index(a) for a in order], padded)
            places = affine([shape[a] for a in axes], kept)
            if tuple(kept) in seen or (places.max(initial=0) // slots > 4 * (size - 1) // slots + 3 and padded):
                continue
            seen.add(tuple(kept))
            yield table(slots, places)


def filled(layout: Layout) -> Layout:
    """Returns the layout with copies of the first value in place of zeros."""
    return Layout(layout.slots, np.where(layout.holds == ZERO, 0, layout.holds))


def repeated(layout: Layout) -> Layout | None:
    """Returns the layout with its values repeated through all slots of its one ciphertext. Returns None for several
    ciphertexts, for rubbish, and if no copy fits.
    """
    if layout.ciphertexts > 1 or layout.rubbish:
        return None
    held = np.flatnonzero(layout.holds >= 0)
    period = power(int(held.max(initial=0)) + 1)
    if period >= layout.slots:
        return None
    return Layout(layout.slots, np.tile(layout.holds[:period], layout.slots // period))

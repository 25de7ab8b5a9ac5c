# SPDX-License-Identifier: Apache-2.0
"""Tracks which slots of a vector hold values: all slots, or a declared number of them with padding behind."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ringmill.types import Type


@dataclass(frozen=True, slots=True)
class Fill:
    """`length` values with padding behind them, which may be known to hold `zeros`. Without a length, every slot is a
    value.
    """

    length: int | None = None
    zeros: bool = False

    @classmethod
    def of(cls, kind: Type, slots: int) -> Fill:
        """Returns the fill of an argument of a declared type: zeros follow an array that is shorter than the slots."""
        short = kind.length is not None and kind.length < slots
        return cls(kind.length, zeros=True) if short else FULL

    @property
    def padded(self) -> bool:
        return self.length is not None

    @property
    def unsure(self) -> Fill:
        """The same values, with nothing known about the padding."""
        return replace(self, zeros=False)

    def product(self, other: Fill) -> Fill:
        """Returns the fill of a product: zero times anything is zero."""
        return self._met(other, self.zeros or other.zeros)

    def sum(self, other: Fill) -> Fill:
        """Returns the fill of a sum or a difference."""
        return self._met(other, self.zeros and other.zeros)

    def fits(self, other: Fill) -> bool:
        """Returns whether vectors with these fills may meet in one operation: arrays of one length, or one that fills
        every slot.
        """
        return not (self.padded and other.padded) or self.length == other.length

    def _met(self, other: Fill, zeros: bool) -> Fill:
        length = other.length if self.length is None else self.length
        return FULL if length is None else Fill(length, zeros)


FULL = Fill()

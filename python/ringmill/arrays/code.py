# SPDX-License-Identifier: Apache-2.0
"""A list of slot operations of an array program, before they are recorded in a trace. An operation that is emitted
twice is stored once.

The list has an estimated cost, by which layouts are compared before one is taken.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from ringmill.frames import Line

# Times relative to a rotation. An operation's time grows with the levels that are left.
_TIMES = {
    **{
        "rotate": 1.0,
        "mul": 1.3,
        "times": 0.25,
        "scale": 0.2,
        "plus": 0.05,
        "minus": 0.05,
        "polynomial": 5.0,
        "chebyshev": 5.0,
    },
    **{"is_zero": 40.0, "conj": 1.0, "two_real": 1.0, "input": 0.5},
}
_MOST_DEMANDS = 12
_LEVEL = 12.0  # what one more level costs a choice that is made alone
_DEGREES = ((1, 12), (2, 13), (6, 14), (14, 15), (30, 16), (1 << 30, 17))


@dataclass(frozen=True)
class Operation:
    """A slot operation: its name, the numbers of the operations that are its operands, further arguments in `rest`, the
    user's line, and the levels up to its result.
    """

    name: str
    operands: tuple[int, ...]
    rest: tuple[Any, ...]
    line: Line
    depth: int


def _time(operation: Operation) -> float:
    if operation.name == "diagonals":
        turns, groups, plain, _ = operation.rest
        return float(turns + groups * (_TIMES["times" if plain else "scale"] + 0.02))
    return _TIMES.get(operation.name, 0.02)


class Code:
    """A list of slot operations."""

    def __init__(self, slots: int, whole: bool) -> None:
        self.slots = slots
        self.whole = whole
        self.operations: list[Operation] = []
        self.vectors: dict[bytes, np.ndarray] = {}
        self._known: dict[Any, int] = {}
        self._keys: list[Any] = []
        self.demands: dict[int, dict[bytes, np.ndarray]] = {}
        """For each input's ciphertexts, by the number of the first one's operation: wishes of later operations for the
        values of the slots (:func:`ringmill.arrays.moves.arrange`).
        """
        self.trial = False
        """Whether operations are only emitted for their cost. A linear map is then one operation with an estimated
        cost.
        """
        self._deepest: list[int] = []
        self.work = 0
        """The work so far: emitted operations, also known or removed ones, and a share for large tables of slots."""

    def emit(self, name: str, operands: tuple[int, ...], *rest: Any, line: Line) -> int:
        """Adds an operation unless it is known. Returns its number."""
        self.work += 1
        key = (name, operands, rest)
        if key in self._known:
            return self._known[key]
        depth = max((self.operations[operand].depth for operand in operands), default=0)
        self.operations.append(Operation(name, operands, rest, line, depth + self._levels(name, rest)))
        self._keys.append(key)
        deepest = self._deepest[-1] if self._deepest else 0
        self._deepest.append(max(deepest, self.operations[-1].depth))
        self._known[key] = len(self.operations) - 1
        return len(self.operations) - 1

    def _levels(self, name: str, rest: tuple[Any, ...]) -> int:
        match name:
            case "mul" | "scale" | "times" | "diagonals":
                return 1
            case "polynomial" | "chebyshev":
                return max(1, math.ceil(math.log2(len(rest[0]))))
            case "is_zero":
                return 9
            case _:
                return 0

    def demand(self, parts: tuple[int | None, ...], wish: np.ndarray) -> None:
        """Remembers the wish for the values of the slots if the ciphertexts `parts` are those of an input.

        Wishes outside of trials come first. At most 12 wishes of trials are kept.
        """
        first = next((part for part in parts if part is not None), None)
        if first is None or self.operations[first].name != "input":
            return
        known, key = self.demands.setdefault(first, {}), wish.tobytes()
        if not self.trial:
            self.demands[first] = {key: wish, **known}
        elif len(known) < _MOST_DEMANDS:
            known.setdefault(key, wish)

    def vector(self, values: np.ndarray) -> bytes:
        """Keeps a constant vector. Returns its key."""
        values = np.ascontiguousarray(values, dtype=np.complex128)
        key = values.tobytes()
        self.vectors.setdefault(key, values)
        return key

    def rotate(self, value: int, steps: int, line: Line) -> int:
        """Rotates a value to the left by `steps` slots. A rotation of a rotation becomes one rotation. Returns the
        operation's number.
        """
        steps %= self.slots
        operation = self.operations[value]
        if operation.name == "rotate" and steps:
            value, steps = operation.operands[0], (steps + operation.rest[0]) % self.slots
        return self.emit("rotate", (value,), steps, line=line) if steps else value

    @property
    def length(self) -> int:
        return len(self.operations)

    def cut(self, length: int) -> None:
        """Removes the operations from number `length` on."""
        while len(self.operations) > length:
            self.operations.pop()
            self._deepest.pop()
            del self._known[self._keys.pop()]

    def cost_from(self, start: int) -> float:
        """Returns the cost of the operations from number `start` on, without regard to later ones."""
        new = self.operations[start:]
        before = self._deepest[start - 1] if start else 0
        deeper = (self._deepest[-1] if self._deepest else 0) - before
        return sum(_time(operation) for operation in new) + _LEVEL * max(deeper, 0)

    def live(self, roots: set[int]) -> list[int]:
        """Returns the operations that these results need, in order."""
        needed = set(roots)
        for number in range(len(self.operations) - 1, -1, -1):
            if number in needed:
                needed.update(self.operations[number].operands)
        return sorted(needed)

    def cost(self, roots: set[int]) -> float:
        """Returns the cost of a whole program: time, with the levels and the ring degree that it takes, and keys."""
        live = [self.operations[number] for number in self.live(roots)]
        deepest = max((operation.depth for operation in live), default=0)
        time = sum(_time(operation) * (deepest - operation.depth + 2) for operation in live)
        keys = len({operation.rest[0] for operation in live if operation.name == "rotate"})
        degree = max(next(log for most, log in _DEGREES if deepest <= most), self.slots.bit_length())
        return (time + 0.1 * keys * (deepest + 2)) * degree * 2.0**degree

    def counts(self, roots: set[int]) -> dict[str, int]:
        """Counts the operations that these results need."""
        return dict(Counter(self.operations[number].name for number in self.live(roots)))

# SPDX-License-Identifier: Apache-2.0
"""Moves values from one layout to another by rotations, masks and sums."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ringmill.arrays.code import Code
from ringmill.arrays.layout import RUBBISH, ZERO, Layout
from ringmill.frames import Line
from ringmill.trace import compile_error

T = TypeVar("T")
_MOST_COPIES = 1 << 20  # larger tables of copies are not searched for common rotations


@dataclass(frozen=True, eq=False)
class Placed:
    """A laid out value: for each ciphertext the number of its slot operation, or None for zeros alone."""

    parts: tuple[int | None, ...]
    layout: Layout


def cheapest(code: Code, ways: Sequence[Callable[[], T | None]]) -> T | None:
    """Emits the way of least cost. A way that returns None cannot be taken."""
    best: tuple[float, int] | None = None
    if len(ways) == 1:
        return ways[0]()
    trial, code.trial = code.trial, True
    for place, way in enumerate(ways):
        start = code.length
        found = way()
        cost = code.cost_from(start)
        code.cut(start)
        if found is not None and (best is None or cost < best[0]):
            best = cost, place
    code.trial = trial
    return None if best is None else ways[best[1]]()


def chosen(code: Code, ways: Sequence[Callable[[], T | None]], line: Line) -> T:
    """Emits the way of least cost. If none can be taken, the operation is refused at its line."""
    found = cheapest(code, ways)
    if found is None:
        raise compile_error("no layout in slots serves this operation; compute it in smaller parts", line)
    return found


def preferred(code: Code, ways: Sequence[Callable[[], T | None]]) -> T | None:
    """Emits the first way that can be taken. A way that returns None cannot be taken."""
    for way in ways:
        start = code.length
        found = way()
        if found is not None:
            return found
        code.cut(start)
    return None


def added(code: Code, terms: Sequence[int], line: Line) -> int:
    """Adds up slot operations."""
    total = terms[0]
    for term in terms[1:]:
        total = code.emit("add", (total, term), line=line)
    return total


def summed(code: Code, value: int, width: int, stride: int, line: Line) -> int:
    """Adds to each slot those that follow it at a stride, `width` in all."""
    if width == 1:
        return value
    if width % 2:
        rest = summed(code, value, width - 1, stride, line)
        return code.emit("add", (value, code.rotate(rest, stride, line)), line=line)
    twice = code.emit("add", (value, code.rotate(value, width // 2 * stride, line)), line=line)
    return summed(code, twice, width // 2, stride, line)


def _rotated(layout: Layout, steps: int) -> np.ndarray:
    """Returns what slots hold after each ciphertext is rotated to the left."""
    return np.roll(layout.holds.reshape(-1, layout.slots), -steps, axis=1).ravel()


def _meets(holds: np.ndarray, wish: np.ndarray) -> bool:
    return holds.size == wish.size and bool(((wish == RUBBISH) | (holds == wish)).all())


def arrange(code: Code, placed: Placed, wish: np.ndarray, line: Line) -> Placed | None:
    """Moves values so that each slot holds what the array `wish` says: the number of a value, `ZERO`, or `RUBBISH` for
    any content.

    Returns None if some wanted value is in no slot.
    """
    code.work += wish.size >> 10
    if _meets(placed.layout.holds, wish):
        return placed
    code.demand(placed.parts, wish)
    ways = [lambda: _turned(code, placed, wish, line)]
    if (wish == ZERO).any():
        ways.append(lambda: _masked(code, placed, wish, line))
    if not (start := preferred(code, ways)):
        start = cheapest(code, [lambda: _spread(code, placed, wish, line), lambda: _picked(code, placed, wish, line)])
    return start


def _shifts(placed: Placed, wish: np.ndarray) -> Iterator[int]:
    """Yields rotations that bring the first wanted value, and a few others that are tried, to their slots."""
    slots = placed.layout.slots
    wanted = np.flatnonzero(wish >= 0)
    if wanted.size and wish.size == placed.layout.holds.size:
        first = int(wanted[0])
        sources = np.flatnonzero(placed.layout.holds == wish[first])
        few = wanted[:: max(1, wanted.size // 8)]
        base, within, expected = few // slots * slots, few % slots, wish[few]
        for source in sources[sources // slots == first // slots][:64]:
            steps = int(source - first) % slots
            if (placed.layout.holds[base + (within + steps) % slots] == expected).all():
                yield steps


def _turned(code: Code, placed: Placed, wish: np.ndarray, line: Line) -> Placed | None:
    """Fulfils a wish (:func:`arrange`) by one rotation, or returns None."""
    slots = placed.layout.slots
    for steps in _shifts(placed, wish):
        holds = _rotated(placed.layout, steps)
        if _meets(holds, wish):
            parts = tuple(None if p is None else code.rotate(p, steps, line) for p in placed.parts)
            return Placed(parts, Layout(slots, holds))
    return None


def masked(code: Code, placed: Placed, keep: np.ndarray, line: Line) -> Placed:
    """Sets all slots to zero but those to keep."""
    slots, layout = placed.layout.slots, placed.layout
    holds = np.where(keep, layout.holds, ZERO)
    parts: list[int | None] = []
    for number, part in enumerate(placed.parts):
        span = slice(number * slots, (number + 1) * slots)
        if part is None or (holds[span] == layout.holds[span]).all():
            parts.append(part)
        elif not keep[span].any():
            parts.append(None)
        else:
            mask = code.vector(keep[span].astype(float))
            parts.append(code.emit("scale", (part,), mask, line=line))
    return Placed(tuple(parts), Layout(slots, holds))


def _masked(code: Code, placed: Placed, wish: np.ndarray, line: Line) -> Placed | None:
    """Fulfils a wish (:func:`arrange`) by one rotation and a mask, or returns None."""
    slots = placed.layout.slots
    for steps in [0, *_shifts(placed, wish)]:
        holds = _rotated(placed.layout, steps)
        if holds.size == wish.size and (holds == wish)[wish >= 0].all():
            parts = tuple(None if p is None else code.rotate(p, steps, line) for p in placed.parts)
            return masked(code, Placed(parts, Layout(slots, holds)), wish >= 0, line)
    return None


def _spread(code: Code, placed: Placed, wish: np.ndarray, line: Line) -> Placed | None:
    """Fulfils a wish (:func:`arrange`) for copies at one stride, or returns None. It masks one copy of each value and
    doubles the copies by rotations.
    """
    slots, layout = placed.layout.slots, placed.layout
    if placed.layout.ciphertexts != 1 or wish.size != slots:
        return None
    wanted = np.flatnonzero(wish >= 0)
    values, counts = np.unique(wish[wanted], return_counts=True)
    copies = int(counts.max(initial=0))
    if copies < 2:
        return None
    order = np.argsort(wish[wanted], kind="stable")
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    ranked = wanted[order]
    fullest = int(np.argmax(counts))
    gaps = np.diff(ranked[starts[fullest] : starts[fullest] + copies])
    stride = int(gaps.min())
    count = int((ranked[starts[fullest] + copies - 1] - ranked[starts[fullest]]) // stride) + 1
    ways = []
    for turns in {count, slots // stride if slots % stride == 0 else count}:
        for home in (ranked[starts], layout.first(values)):
            ways.append(lambda turns=turns, home=home: _doubled(code, placed, wish, values, home, stride, turns, line))
    return cheapest(code, ways)


def _doubled(
    code: Code,
    placed: Placed,
    wish: np.ndarray,
    values: np.ndarray,
    home: np.ndarray,
    stride: int,
    turns: int,
    line: Line,
) -> Placed | None:
    """Moves each value to its slot in `home`, sets all other slots to zero, and adds rotations so that `turns` copies
    stand at a stride to the right. Returns None if that does not fulfil the wish.
    """
    slots = placed.layout.slots
    if (home < 0).any():
        return None
    at_home = np.full(slots, ZERO)
    at_home[home] = values
    holds = np.full(slots, ZERO)
    taken = np.zeros(slots, dtype=bool)
    if turns * home.size > slots:
        return None
    places = (home[:, None] + np.arange(turns) * stride) % slots
    taken[places] = True
    if int(taken.sum()) != places.size:
        return None
    holds[places] = values[:, None]
    if not _meets(holds, wish):
        return None
    start = arrange(code, placed, at_home, line)
    if start is None or start.parts[0] is None:
        return None
    return Placed((summed(code, start.parts[0], turns, -stride, line),), Layout(slots, holds))


def sources(layout: Layout, values: np.ndarray, targets: np.ndarray) -> np.ndarray | None:
    """Chooses for each value the copy that is moved to the value's target slot, so that the moves need few different
    rotations. Returns the copies' slots, or None if some value is in no slot.
    """
    first = layout.first(values)
    if (first < 0).any():
        return None
    if layout.copies() == 1 or values.size == 0:
        return first
    which, places = layout.all_copies(values)
    steps = (places - targets[which]) % layout.slots
    if which.size > _MOST_COPIES:
        return first
    best = np.lexsort((steps, which))
    lead = np.concatenate(([True], np.diff(which[best]) > 0))
    smallest = places[best][lead]
    greedy = _few(which, places, steps, values.size)
    if greedy is None or np.unique((greedy - targets) % layout.slots).size >= np.unique(steps[best][lead]).size:
        return smallest
    return greedy


def _few(which: np.ndarray, places: np.ndarray, steps: np.ndarray, count: int) -> np.ndarray | None:
    """Chooses rotations greedily: each serves the most values that are left. Returns the slot of each value's copy, or
    None if 64 rotations are not enough.
    """
    chosen = np.full(count, -1)
    for _ in range(64):
        common = np.bincount(steps)
        step = int(common.argmax())
        hit = steps == step
        fresh = which[hit][::-1]
        chosen[fresh] = places[hit][::-1]
        left = chosen[which] < 0
        which, places, steps = which[left], places[left], steps[left]
        if not which.size:
            return chosen
    return None


def _picked(code: Code, placed: Placed, wish: np.ndarray, line: Line) -> Placed | None:
    """Fulfils any wish (:func:`arrange`): rotates by each distance, masks, and adds up. Returns None if some wanted
    value is in no slot.
    """
    targets = np.flatnonzero(wish >= 0)
    values = wish[targets]
    found = sources(placed.layout, values, targets)
    if found is None:
        return None
    terms = Terms(targets, found, np.ones(targets.size), None)
    parts = combined(code, placed, terms, wish.size // placed.layout.slots, line)
    return Placed(parts, Layout(placed.layout.slots, np.where(wish >= 0, wish, ZERO)))


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of a linear map of slots: target and source of each, and its factor, or the value of a plain argument
    that is the factor.
    """

    targets: np.ndarray
    sources: np.ndarray
    factors: np.ndarray
    plain: str | None


def combined(code: Code, placed: Placed, terms: Terms, ciphertexts: int, line: Line) -> tuple[int | None, ...]:
    """Emits a linear map, diagonal by diagonal, with baby and giant steps. Returns its ciphertexts."""
    slots = code.slots
    parts: list[int | None] = []
    for number in range(ciphertexts):
        of = terms.targets // slots == number
        sources = terms.sources[of]
        targets = terms.targets[of] % slots
        live = np.array([placed.parts[s] is not None for s in range(placed.layout.ciphertexts)], dtype=bool)
        kept = live[sources // slots] if sources.size else np.zeros(0, dtype=bool)
        if not kept.any():
            parts.append(None)
            continue
        targets, sources, factors = targets[kept], sources[kept], terms.factors[of][kept]
        ciphers, steps = sources // slots, (sources % slots - targets) % slots
        parts.append(_diagonals(code, placed, targets, ciphers, steps, factors, terms.plain, line))
    return tuple(parts)


def _distinct(numbers: np.ndarray) -> np.ndarray:
    """Returns the different numbers in order. They must not be negative, and memory grows with the largest of them."""
    found = np.zeros(int(numbers.max(initial=-1)) + 1, dtype=bool)
    found[numbers] = True
    return np.flatnonzero(found)


def _width(pairs: np.ndarray, slots: int) -> int:
    """Returns the number of baby steps for which baby and giant steps are fewest.

    A pair is the number of a ciphertext times the slots, plus the steps of a rotation.
    """
    return slots if pairs.size <= 3 else _best_width(pairs.tobytes(), slots)


@functools.lru_cache(maxsize=4096)
def _best_width(pairs: bytes, slots: int) -> int:
    ciphers, steps = np.divmod(np.frombuffer(pairs, dtype=np.int64), slots)

    def rotations(width: int) -> float:
        within = steps % width
        babies = _distinct((ciphers * slots + within)[within > 0]).size
        return babies + 1.05 * int(np.count_nonzero(_distinct(steps // width)))

    most = int(steps.max(initial=0))
    tried = [*range(1, 33), *(1 << k for k in range(6, slots.bit_length()))]
    return min([width for width in tried if width // 2 <= most], key=rotations)


def _diagonals(
    code: Code,
    placed: Placed,
    targets: np.ndarray,
    ciphers: np.ndarray,
    steps: np.ndarray,
    factors: np.ndarray,
    plain: str | None,
    line: Line,
) -> int | None:
    slots = code.slots
    pairs = _distinct(ciphers * slots + steps)
    width = _width(pairs, slots)
    if code.trial:
        return _estimated(code, placed, pairs, width, plain, line)
    giants: dict[int, list[int]] = {}
    order = np.lexsort((targets, steps, ciphers))
    targets, ciphers, steps, factors = targets[order], ciphers[order], steps[order], factors[order]
    edges = np.flatnonzero(np.diff(ciphers * slots + steps)) + 1
    for group in np.split(np.arange(targets.size), edges):
        step, cipher = int(steps[group[0]]), int(ciphers[group[0]])
        part = placed.parts[cipher]
        assert part is not None
        giant, baby = step - step % width, step % width
        turned = code.rotate(part, baby, line)
        for vector in _vectors(targets[group], factors[group], plain, slots):
            moved = np.roll(vector, giant)
            if plain is not None:
                term = code.emit("times", (turned,), plain, moved.tobytes(), line=line)
            elif (vector == 1).all():
                term = turned
            else:
                term = code.emit("scale", (turned,), code.vector(moved), line=line)
            giants.setdefault(giant, []).append(term)
    if not giants:
        return None
    return added(code, [code.rotate(added(code, terms, line), giant, line) for giant, terms in giants.items()], line)


def _estimated(code: Code, placed: Placed, pairs: np.ndarray, width: int, plain: str | None, line: Line) -> int:
    """Emits one operation with the cost of all diagonals."""
    ciphers, steps = np.divmod(pairs, code.slots)
    babies = _distinct((ciphers * code.slots + steps % width)[steps % width > 0]).size
    turns = babies + int(np.count_nonzero(_distinct(steps // width)))
    operands = tuple(part for cipher in _distinct(ciphers) if (part := placed.parts[cipher]) is not None)
    return code.emit("diagonals", operands, turns, pairs.size, plain is not None, code.length, line=line)


def _vectors(targets: np.ndarray, factors: np.ndarray, plain: str | None, slots: int) -> Iterator[Any]:
    """Yields vectors with the factors at their targets. Constants of one target are added up. Values of a plain
    argument with one target go into separate vectors.
    """
    if plain is None:
        vector = np.zeros(slots, dtype=factors.dtype)
        np.add.at(vector, targets, factors)
        if vector.any():
            yield vector
        return
    new = np.concatenate(([True], np.diff(targets) > 0))
    within = np.arange(targets.size) - np.maximum.accumulate(np.where(new, np.arange(targets.size), 0))
    for layer in range(int(within.max(initial=-1)) + 1):
        vector = np.full(slots, -1)
        vector[targets[within == layer]] = factors[within == layer]
        yield vector

# SPDX-License-Identifier: Apache-2.0
"""Searches the memory of another process for copies of a secret. A copy is at least 32 consecutive bytes of it, at any
address.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np

COPY = 32
HALF = COPY // 2
# They combine two words into one number. Any odd factors serve.
FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], dtype=np.uint64)
TABLE_BITS = 20
SHIFT = np.uint64(64 - TABLE_BITS)
# A piece whose bytes change less often occurs by chance: zeros with a few ones.
CHANGES = 8


def _keys(words: np.ndarray) -> np.ndarray:
    """Returns a number for each two neighbouring words."""
    return words[:-1] * FACTORS[0] + words[1:] * FACTORS[1]


def _words(data: bytes, start: int) -> np.ndarray:
    return np.frombuffer(data, dtype="<u8", offset=start, count=(len(data) - start) // 8)


def _changes(piece: bytes) -> int:
    return sum(a != b for a, b in pairwise(piece))


def _alike(a: bytes, b: bytes) -> int:
    """Returns how many first bytes of both are equal."""
    for count, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return count
    return min(len(a), len(b))


@lru_cache(maxsize=1)
def _pieces(secret: bytes) -> tuple[dict[bytes, int], np.ndarray]:
    """Returns the aligned pieces of a secret with their offsets, and the table of the numbers that their words give."""
    starts = range(0, len(secret) - HALF + 1, HALF)
    pieces = {secret[at : at + HALF]: at for at in starts if _changes(secret[at : at + HALF])}
    known = np.array([_keys(_words(piece, 0))[0] for piece in pieces], dtype=np.uint64)
    table = np.zeros(1 << TABLE_BITS, dtype=bool)
    table[known >> SHIFT] = True
    return pieces, table


def copies(data: bytes, secret: bytes) -> list[int]:
    """Returns the offsets in `data` of copies of a part of the secret. The search looks for aligned pieces of the
    secret, and every copy contains one whole.
    """
    pieces, table = _pieces(secret)
    found = []
    for offset in range(8):
        keys = _keys(_words(data, offset)) if len(data) >= offset + HALF else np.empty(0, dtype=np.uint64)
        for word in np.flatnonzero(table[keys >> SHIFT]):
            place = offset + 8 * int(word)
            at = pieces.get(data[place : place + HALF])
            if at is None:
                continue
            before = _alike(data[max(place - at, 0) : place][::-1], secret[:at][::-1])
            after = _alike(data[place : place + len(secret) - at], secret[at:])
            if before + after >= COPY and _changes(data[place - before : place + after]) >= CHANGES:
                found.append(place - before)
    return found


def search(process: int, secret: bytes) -> list[str]:
    """Returns the copies in all memory that a process may have written to, each with its mapping and address."""
    found = []
    with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{process}/maps").read_text().splitlines():
            span, mode, *_, name = line.split(maxsplit=5) if line.count(" ") > 5 else [*line.split(), ""]
            if mode[0] != "r" or name.startswith("[v") or (name.startswith("/") and "w" not in mode):
                continue
            first, last = (int(end, 16) for end in re.split("-", span))
            memory.seek(first)
            data = b""
            while len(data) < last - first and (more := memory.read(last - first - len(data))):
                data += more
            found += [f"{name or 'anonymous'} {first + at:#x}" for at in copies(data, secret)]
    return found

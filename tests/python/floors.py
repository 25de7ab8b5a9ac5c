# SPDX-License-Identifier: Apache-2.0
"""Computes tables of pages from parameters: lower bounds (floors), and cycles by the formula on the page."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Returns a table in Markdown."""
    lines = [list(head)]
    lines += [["---"] * len(lines[0]), *map(list, rows)]
    return "".join(f"|{'|'.join(f' {text} ' if text else ' ' for text in line)}|\n" for line in lines)


def folded() -> str:
    """The folded unit of 64-bit words and 32 lanes, l = k: 1 + k ((l + 2) N / TP + 2 S + 3) cycles, S = 27."""
    rows = []
    for log_n, count in [(16, 17), (16, 18), (14, 4), (14, 5), (14, 6), (14, 7)]:
        floor = (count + 2) * count * 2**log_n // 32
        cycles = 1 + floor + count * (2 * 27 + 3)
        over = f"{cycles / floor:.{4 if log_n == 16 else 3}f}"
        rows.append([f"2^{log_n}, {count}", f"{cycles:,}", f"{cycles / 200:,.1f} us", f"{floor:,}", over])
    return table(["N, l = k", "cycles", "at 200 MHz", "(l + 2) l N / TP", "over it"], rows)


def batches() -> str:
    """Cycles of the shared unit times its multipliers, for each coefficient and target, l = k. The unit takes l + 1
    rows in rounds.
    """
    rows = []
    for count, batch in [(7, 7), (17, 17), (30, 30), (30, 15), (30, 10)]:
        rounds = ceil(count / min(batch, count + 1))
        taken = rounds * (count + 1) * (batch + 2) / count
        floor = count + 1 + (2 * count + 1) / count
        whole, parts = (count, batch, batch + 2, rounds), (taken, floor, taken / floor)
        rows.append([*map(str, whole), *(f"{part:.2f}" for part in parts)])
    return table(["l = k", "`Batch`", "multipliers a lane", "rounds", "multiplier-cycles", "floor", "over it"], rows)


# Digits of TFHE's key switch: log2 of their base, and their number.
DIGITS = [(1, 15), (2, 8), (3, 5)]


def masks() -> str:
    """Random masks that a key switch needs at N = 1024 and n = 630: rows N t, words N t n, blocks N t ceil(n / 16)."""
    rows = []
    for log_base, levels in DIGITS:
        count = 1024 * levels
        base = "2" if log_base == 1 else f"2^{log_base}"
        rows.append([f"base {base}, t = {levels}", *(f"{count * words:,}" for words in (1, 630, ceil(630 / 16)))])
    return table(["digits", "rows N t", "mask words N t n", "blocks N t ceil(n / 16)"], rows)


def switches() -> str:
    """Least cycles of a key switch by its number of mask generators, N = 1024 and n = 630: N t ceil(n / 16 cores)."""
    rows = [
        [f"{cores}", *(f"{1024 * levels * ceil(630 / (16 * cores)):,}" for _, levels in DIGITS)]
        for cores in (1, 2, 14, 40)
    ]
    return table(["generators", *(f"base {2**log_base}, t = {levels}" for log_base, levels in DIGITS)], rows)


def steps() -> str:
    """The least cycles of a step of one ciphertext on the torus engine, N = 1024 and l = 3.

    Transforms of N / 2 log2 N butterflies run on 96 butterflies. Products at N positions run on 48 multipliers. The
    larger of both counts is the bound.
    """
    levels, degree, each = 3, 1024, 1024 // 2 * 10
    rows = []
    for name, transforms, products, most in [
        ('`"sums"`', lambda m: 2 * levels + 2, lambda m: 4 * levels * (2**m - 1), "2 l N (2^m - 1), Bg q / 2"),
        ('`"coefficients"`', lambda m: 6 * levels + 2, lambda m: 4 * levels, "2 l N, Bg q / 4"),
    ]:
        taken = [max(ceil(transforms(m) * each / 96), ceil(products(m) * degree / 48)) for m in (2, 3)]
        rows.append([name, *(f"{cycles:,}" for cycles in taken), most])
    return table(["", "m = 2", "m = 3", "terms of a sum, each at most"], rows)


def bootstraps() -> str:
    """Transforms and keys of a bootstrap, the TFHE library's set: n = 630, N = 1024, k = 1, l = 3; base 4, t = 8."""
    switched = 1024 * 8 * 631 * 4
    rows = []
    for name, bits, word in [
        ("2^32, m = 1", 1, 8),
        ("prime, m = 1", 1, 4),
        ("prime, m = 2", 2, 4),
        ("prime, m = 3", 3, 4),
    ]:
        steps_of = 630 // bits
        key = steps_of * (2**bits - 1) * 2 * 3 * 2 * 1024 * word
        kind = " of 50 or 52 bits" if word == 8 else " of 32 bits" if bits == 1 else ""
        rows.append([name, f"{steps_of * 2 * 4}{kind}", f"{key / 1e6:.1f} MB", f"{switched / 1e6:.1f} MB"])
    return table(["TFHE library's set", "transforms", "bootstrapping key", "switching key"], rows)

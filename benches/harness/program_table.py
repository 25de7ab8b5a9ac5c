# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of whole programs: of one run as text, and of all records for docs/benchmarks.md."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

MIB = 2**20


def compared(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Returns the rows that have a peer's time."""
    return [row for row in rows if row["ratio"] is not None]


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def shares(row: Mapping[str, Any]) -> tuple[float, float]:
    """Returns the ratio of our keys' bytes to the peer's: as both are stored, and with both halves of ours in place of
    seeds.
    """
    ours, peer = row["program"]["ours"], row["program"]["peer"]
    theirs = peer["key_bytes_stored"]
    return ours["key_bytes_stored"] / theirs, ours["key_bytes_whole"] / theirs


def conclusion(rows: Iterable[Mapping[str, Any]]) -> str:
    """Returns as text the geometric means over all programs that have a peer."""
    known = compared(rows)
    if not known:
        return "no program has a peer: no ratio"
    stored, whole = (geometric_mean(share) for share in zip(*map(shares, known), strict=True))
    least = min(known, key=lambda row: row["ratio"])
    return (
        f"geometric mean of {len(known)} ratios: {geometric_mean([row['ratio'] for row in known]):.2f}x, the least "
        f"{least['ratio']:.2f}x ({least['what']}); our keys over theirs: {stored:.3f} as stored, {whole:.3f} without "
        "seeds"
    )


EXPLAINED = (
    "Times of programs, from encrypted inputs to encrypted outputs: the fastest sample and the median. floor: the",
    "multiplications of our limb instructions, at the rate of each kind. predicted, measured: right digits of the",
    "largest output (* rests on the program's word about its values). keys: as stored, ours with seeds; whole: ours",
    "with both halves; then the shares of the peer's. primes: of ciphertexts + special ones.",
)
TIMES = (
    *("program", "ours ms", "median", "peer", "peer ms", "median", "ratio", "medians", "floor ms", "ours/floor"),
    *("compile s", "predicted", "measured", "peer's"),
)
SIZES = (
    *("program", "keys MiB", "whole", "peer's", "share", "whole", "N", "peer's", "primes", "peer's"),
    *("digits", "peer's"),
)


def milliseconds(times: Mapping[str, Any]) -> tuple[str, str]:
    """Returns the fastest sample and the median in milliseconds, as texts."""
    return f"{times['min_us'] / 1e3:.2f}", f"{times['median_us'] / 1e3:.2f}"


def times(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the cells of a program with its times and its right digits."""
    ours, peer, clock = row["program"]["ours"], row["program"]["peer"], row["clock"]
    theirs, digits = ("-",) * 5, "-"
    if peer is not None:
        ratios = (f"{row['ratio']:.2f}x", f"{row['ratio_of_medians']:.2f}x")
        theirs, digits = (row["peer"]["name"], *milliseconds(row["peer"][clock]), *ratios), number(peer)
    return (
        *(row["what"], *milliseconds(row["ours"][clock]), *theirs),
        f"{row['floor']['us'] / 1e3:.2f}" if row["floor"] else "-",
        f"{row['ours_over_floor']:.2f}x" if row["ours_over_floor"] else "-",
        f"{ours['compile_seconds']:.2f}",
        f"{ours['predicted_digits']:.1f}{'*' if ours['conditional'] else ''}",
        *(number(ours), digits),
    )


def number(facts: Mapping[str, Any]) -> str:
    return f"{facts['measured_digits']:.1f}"


def sizes(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the cells of a program with its keys and parameters."""
    ours, peer = row["program"]["ours"], row["program"]["peer"]
    keys, log_n, primes, digits = ("-",) * 3, "-", "-", "-"
    if peer is not None:
        keys = (f"{peer['key_bytes_stored'] / MIB:.1f}", *(f"{share:.3f}" for share in shares(row)))
        log_n, primes, digits = f"2^{peer['log_n']}", f"{len(peer['primes'])}+{peer['special']}", str(peer["digits"])
    return (
        row["what"],
        *(f"{ours['key_bytes_stored'] / MIB:.1f}", f"{ours['key_bytes_whole'] / MIB:.1f}", *keys),
        *(f"2^{ours['log_n']}", log_n),
        *(f"{len(ours['primes'])}+{len(ours['special'])}", primes),
        *(str(ours["digits"]), digits),
    )


def aligned(lines: Sequence[tuple[str, ...]]) -> list[str]:
    """Returns lines with aligned columns: names to the left, figures to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join([name.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))])
        for name, *rest in lines
    ]


def text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Returns the tables of a run, and the geometric means, as text."""
    peers = [(row["what"], row["peer"]["name"], row["program"]["peer"]) for row in rows if row["peer"]]
    notes = [f"{what}: {name}: {facts['note']}" for what, name, facts in peers if facts["note"]]
    blocks = (aligned([TIMES, *map(times, rows)]), aligned([SIZES, *map(sizes, rows)]), [*EXPLAINED, *notes])
    return "\n".join([*("\n".join([*block, ""]) for block in blocks), conclusion(rows)])


def page_table(records: Sequence[Mapping[str, Any]], heads: Sequence[str]) -> str:
    """Returns a table with the programs of all records, one column for each processor that has them. It is empty if no
    record has programs.
    """
    every = [{row["id"]: row for row in record["rows"] if "program" in row} for record in records]
    columns = [column for column in zip(heads, records, every, strict=True) if column[2]]
    if not columns:
        return ""
    lines = ["| program | " + " | ".join(head for head, _, _ in columns) + " |", "| --- |" + " --- |" * len(columns)]
    for name in dict.fromkeys(name for _, _, rows in columns for name in rows):
        what = next(rows[name]["what"] for _, _, rows in columns if name in rows)
        cells = [page_cell(rows.get(name), record["date"][:10]) for _, record, rows in columns]
        lines.append(f"| {what} | " + " | ".join(cells) + " |")
    lines.append("| all programs | " + " | ".join(conclusion(rows.values()) for _, _, rows in columns) + " |")
    return "\n".join(lines)


def page_cell(row: Mapping[str, Any] | None, day: str) -> str:
    """Returns the cell of a program in one record. It has the day of the measurement if that is not the record's."""
    if row is None:
        return "-"
    ours, peer = row["program"]["ours"], row["program"]["peer"]
    parts = [f"{milliseconds(row['ours'][row['clock']])[0]} ms"]
    if row["ours_over_floor"]:
        parts.append(f"{row['ours_over_floor']:.2f} of floor")
    if peer is not None:
        parts.append(f"{row['peer']['name']} {row['ratio']:.2f}x")
    sizes = [f"2^{side['log_n']}" for side in (ours, peer) if side]
    keys = [f"{side['key_bytes_stored'] / MIB:.1f}" for side in (ours, peer) if side]
    parts += [
        f"N {' and '.join(sizes)}",
        f"keys {' and '.join(keys)} MiB",
        f"compiled in {ours['compile_seconds']:.2f} s",
    ]
    if row["day"] != day:
        parts.append(f"({row['day']})")
    return "; ".join(parts)

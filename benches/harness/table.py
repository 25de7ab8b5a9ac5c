# SPDX-License-Identifier: Apache-2.0
"""Makes the table of a run, as text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness import program_table

HEADINGS = (
    *("what", "N", "bits", "threads", "ours us", "peer", "peer us", "ratio", "medians"),
    *("mult. us", "floor us", "ours/floor", "bound"),
)
LEFT = {"what", "peer", "bound"}
EXPLAINED = (
    "Times are of the fastest sample: processor time with one thread, wall time with two. Ratio: peer over ours,",
    "of the fastest samples and of the medians. bits: of the prime, or log2 QP. mult.: multiplications alone, at",
    "the rate of each kind; floor: the largest of these, of the bytes and of all instructions that are counted",
    "together (bound: ports).",
)
# If a run of two threads never had this share of its cores, other programs took them.
ENOUGH = 0.75


def number(value: float | None) -> str:
    """Returns a number with two decimals below ten, one below a hundred, and none from there on."""
    if value is None:
        return "-"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}x"


def cells(row: dict[str, Any]) -> tuple[str, ...]:
    """Returns the cells of one line: among others the fastest samples, their ratio, and the ratio of the medians."""
    peer = row["peer"] or {}
    floor = row["floor"] or {}
    return (
        row["what"],
        f"2^{row['log_n']}",
        str(row["bits"]),
        str(row["threads"]),
        number(row["ours"][row["clock"]]["min_us"]),
        peer.get("name", "-") + ("*" if peer.get("recorded") else ""),
        number(peer.get(row["clock"], {}).get("min_us")),
        ratio(row["ratio"]),
        ratio(row["ratio_of_medians"]),
        number(floor.get("multiply_us")),
        number(floor.get("us")),
        ratio(row["ours_over_floor"]),
        floor.get("bound", "-"),
    )


def table(rows: Iterable[dict[str, Any]]) -> str:
    lines = [HEADINGS, *map(cells, rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(HEADINGS))]

    def text(line: tuple[str, ...]) -> str:
        columns = (
            cell.ljust(width) if heading in LEFT else cell.rjust(width)
            for cell, width, heading in zip(line, widths, HEADINGS, strict=True)
        )
        return "  ".join(columns).rstrip()

    return "\n".join(map(text, lines))


def summary(record: dict[str, Any]) -> str:
    """Returns the text of a run for people: the computer, the table, the memory, and the rows and peers that were left
    out.
    """
    machine, rates = record["machine"], record["machine"]["rates"]
    units = [
        f"{kind} {rate['per_second'] / 1e9:.2f} G/s ({width} bits)"
        for width, kinds in rates["instructions"].items()
        for kind, rate in kinds.items()
    ]
    copies = [
        f"bytes of {c['footprint_bytes'] / 2**20:g} MiB {c['bytes_per_second'] / 1e9:.1f} GB/s" for c in rates["copies"]
    ]
    programs = [row for row in record["rows"] if "program" in row]
    others = [row for row in record["rows"] if "program" not in row]
    load = " ".join(f"{x:.2f}" for x in machine["load_average"]["begin"])
    lines = [
        f"Ringmill {record['ours']['version']} ({rates['backend']}); {machine['processor']}; load average {load}",
        f"measured: clock {rates['clock_hz'] / 1e9:.2f} GHz, {', '.join([*units, *copies])}",
        *(f"peer: {name} {version}" for name, version in record["peers"].items()),
    ]
    if others:
        lines += ["", table(others), "", *EXPLAINED]
    if programs:
        lines += ["", program_table.text(programs)]
    if any((row["peer"] or {}).get("recorded") for row in record["rows"]):
        lines.append("* a figure recorded elsewhere, not measured in this run (docs/benchmarks.md).")
    several = [row for row in record["rows"] if row["threads"] > 1]
    starved = [row["id"] for row in several if row["ours"]["cores"] < row["threads"] * ENOUGH]
    if starved:
        lines.append(f"no core was free for the second thread, these rows say nothing: {', '.join(starved)}")
    for memory in record["memory"]:
        lines.append(
            f"memory of multiply + relinearise, {memory['set']}, {memory['threads']} thread(s): beside operands and "
            f"key {memory['pool_peak_bytes'] / 2**20:.1f} MiB, or {memory['ciphertexts']:.2f} ciphertexts (limit 4)"
        )
    lines += [f"skipped: {skip['name']}: {skip['reason']}" for skip in record["skipped"]]
    return "\n".join(lines)

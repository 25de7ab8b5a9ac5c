# SPDX-License-Identifier: Apache-2.0
"""Reads and writes the records, one file for a date and a processor, and shows all of them side by side in
docs/benchmarks.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from harness import program_table
from harness.machine import full_name, slug
from harness.table import number, ratio

SCHEMA = 2
# The most characters of a line, except for a row or a text that is longer by itself.
WIDTH = 120
BEGIN, END = "<!-- records: written by `python benches/bench.py --page` -->", "<!-- end of records -->"


def name(record: dict[str, Any]) -> str:
    """Returns the file name of a record. It differs for each processor and each day, so a second run of one day
    replaces the first.
    """
    return f"{record['date'][:10]}-{slug(full_name(record['machine']))}.json"


def text(record: dict[str, Any]) -> str:
    """Returns a record as the text of its file: JSON with a line for each row."""
    return "\n".join(lines(record)) + "\n"


def lines(value: object, indent: str = "", head: str = "") -> list[str]:
    """Returns the JSON lines of a value after `head`, such as `"key": `. A short value has one line. Otherwise each
    member of an object begins a line of its own, and each item of a list has one line.
    """
    whole = f"{indent}{head}{json.dumps(value)}"
    if not isinstance(value, (dict, list)) or len(whole) <= WIDTH:
        return [whole]
    inner = f"{indent} "
    if isinstance(value, dict):
        members = [lines(member, inner, f"{json.dumps(key)}: ") for key, member in value.items()]
    else:
        members = [[f"{inner}{json.dumps(item)}"] for item in value]
    for member in members[:-1]:
        member[-1] += ","
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return [f"{indent}{head}{begin}", *(line for member in members for line in member), f"{indent}{end}"]


def load(folder: Path) -> list[dict[str, Any]]:
    """Returns all records, the oldest first."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


def latest(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns one record for each processor, in the order of the processors' names. It is the processor's last record,
    with the rows that it lacks from the last record that has them. Each row gets the day of its measurement.
    `records` come oldest first.
    """
    by_processor: dict[str, dict[str, Any]] = {}
    for record in records:
        key = slug(full_name(record["machine"]))
        measured = {row["id"] for row in record["rows"]}
        older = by_processor.get(key, {"rows": []})["rows"]
        kept = [row for row in older if row["id"] not in measured]
        here = [{**row, "day": record["date"][:10]} for row in record["rows"]]
        by_processor[key] = {**record, "rows": kept + here}
    return [by_processor[key] for key in sorted(by_processor)]


def row_key(row: dict[str, Any]) -> tuple[str, int, int, int]:
    """Returns what identifies a row: what it measures, sizes and threads. Parameter sets of TFHE are told apart by
    their names.
    """
    group, middle = row["id"].split(".")[:2]
    what = f"{row['what']}, {middle}" if group == "tfhe" else row["what"]
    return what, row["log_n"], row["bits"], row["threads"]


def side_by_side(records: Sequence[dict[str, Any]]) -> str:
    """Returns the records as a table with a column for each processor: our time in microseconds, our time over the
    floor, and each peer's time over ours. Programs have a table of their own.
    """
    heads = [f"{full_name(record['machine'])}, {record['date'][:10]}" for record in records]
    keys = list(dict.fromkeys(row_key(row) for record in records for row in record["rows"] if "program" not in row))
    table = [
        "| row | " + " | ".join(heads) + " |",
        "| --- |" + " --- |" * len(heads),
    ]
    for key in keys:
        what, log_n, bits, threads = key
        label = f"{what}, 2^{log_n}, {bits} bits" + (f", {threads} threads" if threads > 1 else "")
        cells = [
            cell([row for row in record["rows"] if row_key(row) == key], record["date"][:10]) for record in records
        ]
        table.append(f"| {label} | " + " | ".join(cells) + " |")
    programs = program_table.page_table(records, heads)
    return "\n".join([*table, "", programs] if programs else table)


def cell(rows: Sequence[dict[str, Any]], day: str) -> str:
    """Returns the cell of a row in one record, beside all its peers. It has the day of the measurement if that is not
    the record's.
    """
    if not rows:
        return "-"
    first = rows[0]
    parts = [f"{number(first['ours'][first['clock']]['min_us'])} us"]
    if first["ours_over_floor"]:
        parts.append(f"{first['ours_over_floor']:.2f} of floor")
    for row in rows:
        if row["peer"] and row["ratio"] is not None:
            star = "*" if row["peer"].get("recorded") else ""
            parts.append(f"{row['peer']['name']}{star} {ratio(row['ratio'])}")
    if first["day"] != day:
        parts.append(f"({first['day']})")
    return "; ".join(parts)


def page(text: str, records: Sequence[dict[str, Any]]) -> str:
    """Returns the text of the page with its records made anew. The text around them stays."""
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n\n{side_by_side(latest(records))}\n\n{END}{after}"


def write_page(path: Path, records: Sequence[dict[str, Any]]) -> None:
    path.write_text(page(path.read_text(), records))

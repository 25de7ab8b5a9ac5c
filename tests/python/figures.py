# SPDX-License-Identifier: Apache-2.0
"""Keeps the figures on documentation pages true. It writes records of what machines take, makes tables of pages from
them, and finds figures that nothing holds.

`python tests/python/figures.py ring` writes one machine's record again (`all`: every machine's) and the tables of all
pages. `areas ring` and `areas all` synthesise and write the areas of modules. That takes minutes to an hour for each
name.
"""

from __future__ import annotations

import datetime
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import floors

ROOT = Path(__file__).resolve().parents[2]
RECORDS = Path(__file__).resolve().parent / "figures"
EXCEPTIONS = RECORDS / "exceptions.toml"
TABLES = RECORDS / "tables.toml"
HOLDERS = RECORDS / "holders.toml"
# The records of `make bench`.
BENCHES = ROOT / "benches" / "results"

# The arguments of `ringmill reproduce` for each machine's record. They leave out what depends on the computer or takes
# half an hour of synthesis.
ARGUMENTS = {
    "basext": ["--model", "--no-synth"],
    "polymul": ["--model", "--no-synth"],
    "ring": ["--no-synth"],
    "torus": ["--no-synth"],
    "vector": [],
}
# The arguments of `ringmill` that print areas of modules, one JSON object a line: rows of papers, or of the leaves.
AREAS = {
    "basext": ["reproduce", "basext", "--model", "--json"],
    "polymul": ["reproduce", "polymul", "--model", "--json"],
    "ring": ["reproduce", "ring", "--json"],
    "torus": ["reproduce", "torus", "--json"],
    "leaves": ["rtl", "table", "--json"],
}
# The machines whose records and papers a page cites, and the pages that cite the tables of security.
MACHINES = {
    **{f"docs/machines/{machine}.md": (machine,) for machine in ARGUMENTS},
    "docs/rtl.md": ("basext", "polymul", "torus"),
    "docs/papers.md": tuple(ARGUMENTS),
    "docs/compiler.md": ("vector",),
}
SECURITY = {"docs/security.md", "docs/tfhe.md"}
# The fields that identify a row of a record, and the fields that hold its figures.
NAMES = ("machine", "table", "case", "metric", "unit", "how")
VALUES = ("paper", "paper_should_be", "ours", "ours_at_papers_clock", "remark")
# The ways of finding a figure that give the same value in every run.
FIRM = {"counted", "lockstep", "model", "rtl", "stated", "synthesis"}


def printed(arguments: list[str]) -> list[dict[str, Any]]:
    """Returns the JSON objects that `ringmill` prints, one a line."""
    command = [Path(sys.executable).parent / "ringmill", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def shortened(row: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields of a row that a record keeps."""
    return {key: short(row[key]) for key in (*NAMES, *VALUES) if row.get(key) is not None}


def record(machine: str) -> str:
    """Returns the firm rows of `ringmill reproduce`, one JSON object a line."""
    rows = printed(["reproduce", machine, "--json", *ARGUMENTS[machine]])
    return "".join(json.dumps(shortened(row)) + "\n" for row in rows if row["how"] in FIRM)


def areas(name: str) -> list[dict[str, Any]]:
    """Returns the areas that synthesis finds, as rows of a record."""
    rows = printed(AREAS[name])
    return leaves(rows) if name == "leaves" else [shortened(row) for row in rows if row["how"] == "synthesis"]


def leaves(printed_rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the costs of the leaves of the RTL, a row for each cell of their table. A leaf that does not fit a part
    has no row for it.
    """
    found = []
    for row in printed_rows:
        xc7, xcup = row["xc7"]["resources"], row["xcup"]["resources"]
        cells_of, placed = row["area"] or {}, row["ecp5"] or {}
        cells = {
            "latency": row["latency"],
            "LUT": xc7["lut"],
            "as memory": xc7["lut_memory"],
            "FF": xc7["ff"],
            "DSP48E1": xc7["dsp"],
            "RAMB18": xc7["bram18"],
            "US+ LUT": xcup["lut"],
            "US+ FF": xcup["ff"],
            "DSP48E2": xcup["dsp"],
            "NAND2": cells_of.get("gates"),
            "memory bits": cells_of.get("memory_bits"),
            "ECP5 MHz": placed.get("mhz"),
        }
        names = {"machine": "leaves", "table": row["xc7"]["top"]["module"], "case": row["what"], "how": "synthesis"}
        found += [names | {"metric": metric, "ours": short(ours)} for metric, ours in cells.items() if ours is not None]
    return found


def with_head(name: str, rows: Iterable[dict[str, Any]]) -> str:
    """Returns the text of a record of areas: the command, the tool and the date, then the rows."""
    head = {
        "command": " ".join(["ringmill", *AREAS[name]]),
        "tool": f"Yosys (pyosys) {version('pyosys')}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }
    return "".join(json.dumps(line) + "\n" for line in [head, *rows])


def bench(path: Path) -> list[dict[str, Any]]:
    """Returns the fastest samples of a record of `make bench` in microseconds, and each peer's time as a multiple of
    ours.
    """
    found = []
    for row in json.loads(path.read_text())["rows"]:
        names = {"machine": "bench", "case": row["id"].removesuffix(".threads2"), "how": "measured"}
        if row["threads"] == 2:
            found.append(names | {"metric": "one thread over two", "ours": row["ratio"]})
            continue
        found.append(names | {"metric": "ours", "ours": row["ours"][row["clock"]]["min_us"]})
        if row["peer"] is not None:
            found.append(names | {"metric": f"{row['peer']['name']} over ours", "ours": row["ratio"]})
    return found


def short(item: object) -> object:
    """Rounds a number to nine digits, which are the same on every processor."""
    return float(f"{item:.9g}") if isinstance(item, float) else item


def numbers(tree: object) -> Iterator[float]:
    """Yields all numbers of nested tables and lists, and those in their texts."""
    if isinstance(tree, dict):
        yield from numbers(list(tree.values()))
    elif isinstance(tree, list):
        for item in tree:
            yield from numbers(item)
    elif isinstance(tree, str):
        yield from (value(text) for text in re.findall(r"\d[\d,]*(?:\.\d+)?", tree))
    elif isinstance(tree, (int, float)) and not isinstance(tree, bool):
        yield float(tree)


@cache
def rows(name: str) -> list[dict[str, Any]]:
    """Returns the rows of a machine's record, or of a record of `make bench`."""
    if (measured := BENCHES / f"{name}.json").exists():
        return bench(measured)
    lines = [json.loads(line) for line in (RECORDS / f"{name}.json").read_text().splitlines()]
    return [line for line in lines if "command" not in line]


def cell(table: dict[str, Any], row: dict[str, Any], column: dict[str, Any]) -> str:
    """Returns the text of one figure. It is from the only row of the record that has all the names that table, column
    and row give; `-` if there is none.

    Names are those of NAMES. `value` is one of VALUES or "over the paper's", and `number` selects one number of a
    remark. `times`, `places`, `halves` (one decimal place if the figure is not whole) and `after` format the figure.
    `beside` adds the paper's figure in brackets. `among` is put before the metric.
    """
    asked = table | column | row
    if "among" in asked:
        asked["metric"] = f"{asked['among']}, {asked['metric']}"
    names = {key: asked[key] for key in NAMES if key in asked}
    matches = [found for found in rows(asked["record"]) if names.items() <= found.items()]
    if len(matches) != 1 and not (asked.get("some") and not matches):
        raise ValueError(f"{asked['record']}: {len(matches)} rows are {names}")
    if asked["value"] == "over the paper's":
        found = [row["ours"] / row.get("paper_should_be", row["paper"]) for row in matches]
    else:
        found = list(numbers([row.get(asked["value"]) for row in matches]))
    if not found:
        return "-"
    beside = [row["paper"] for row in matches if asked.get("beside") and "paper" in row]
    ours, *theirs = (written(asked, figure) for figure in [found[asked.get("number", 0)], *beside])
    return ours + "".join(f" ({figure})" for figure in theirs)


def written(asked: dict[str, Any], figure: float) -> str:
    """Formats a figure as its cell asks."""
    shown = figure * asked.get("times", 1)
    places = 1 if asked.get("halves") and shown % 1 else asked.get("places", 0)
    return f"{shown:,.{places}f}{asked.get('after', '')}"


def rendered(table: dict[str, Any]) -> str:
    """Returns a table of a page. Its description is in `tables.toml` and its figures are in the record, or a function
    of `floors.py` computes it.
    """
    if "computed" in table:
        return getattr(floors, table["computed"])()
    columns = table["columns"]
    lines = [[table.get("head", ""), *(column["head"] for column in columns)], ["---"] * (len(columns) + 1)]
    lines += [[row["head"], *(cell(table, row, column) for column in columns)] for row in table["rows"]]
    return "".join(f"|{'|'.join(f' {text} ' if text else ' ' for text in line)}|\n" for line in lines)


def with_tables(page: str, text: str) -> str:
    """Returns a page with its tables made again."""
    for name, table in tomllib.loads(TABLES.read_text()).items():
        if table["page"] == page:
            place = re.compile(rf"(<!-- {name}: written by .*? -->\n\n).*?(\n<!-- end of {name} -->)", re.S)
            text, count = place.subn(lambda found, table=table: f"{found[1]}{rendered(table)}{found[2]}", text)
            if count != 1:
                raise ValueError(f"{page} has {count} places for {name}")
    return text


@cache
def recorded(page: str) -> frozenset[float]:
    """Returns the figures that a page may cite: its machine's record, the figures that the paper prints, and the tables
    of security.
    """
    papers = tomllib.loads((ROOT / "crates/papers/data/paper_tables.toml").read_text())
    found: set[float] = set()
    for machine in MACHINES.get(page, ()):
        of_areas = rows(f"{machine}-areas") if machine in AREAS else []
        kept = [[row.get(key) for key in VALUES] for row in rows(machine) + of_areas]
        found.update(numbers(kept), numbers(papers[machine]))
    if page in SECURITY:
        found.update(numbers(tomllib.loads((ROOT / "crates/schemes/data/security_tables.toml").read_text())))
    return frozenset(found)


@cache
def asserted() -> frozenset[float]:
    """Returns the whole numbers of four digits and more in the sources of tests."""
    files = [*ROOT.glob("crates/*/tests/**/*.rs"), *ROOT.glob("tests/**/*.rs"), *ROOT.glob("tests/python/test_*.py")]
    literal = re.compile(r"(?<![\w.])\d[\d_,]{3,}(?![\w.])")
    # The tests of this module contain made-up figures, which prove nothing.
    found = (text for file in files if file.stem != "test_figures" for text in literal.findall(file.read_text()))
    return frozenset(float(digits) for text in found if len(digits := re.sub("[_,]", "", text)) >= 4)


def item(place: str) -> str:
    """Returns the text of `file::name`, a function or a constant. It ends at the line that closes the bracket of its
    first line.
    """
    path, name = place.split("::")
    lines = (ROOT / path).read_text().splitlines()
    begins = re.compile(rf"\s*(?:(?:pub(?:\([a-z]+\))? )?(?:fn|const) {name}\b|{name}\b.*=)")
    first = next((number for number, line in enumerate(lines) if begins.match(line)), None)
    if first is None:
        raise ValueError(f"{path} has no {name}")
    indent = re.match(r"\s*", lines[first])[0]
    if not lines[first].endswith(("{", "(", "[")):
        return lines[first]
    rest = lines[first + 1 :]
    closed = re.compile(rf"{indent}[}})\]]")
    last = next((number for number, line in enumerate(rest) if closed.match(line)), len(rest))
    return "\n".join(lines[first : first + last + 2])


@cache
def holders(page: str) -> tuple[tuple[str, frozenset[float]], ...]:
    """Returns the first words of blocks of a page, each with the numbers of the tests and constants that hold the
    block's figures.
    """
    named = tomllib.loads(HOLDERS.read_text()).get(page, {})
    literal = re.compile(r"(?<![\w.])\d[\d_]*(?:\.\d+)?")
    return tuple(
        (start, frozenset(float(text.replace("_", "")) for place in places for text in literal.findall(item(place))))
        for start, places in named.items()
    )


# The units of figures on pages. Clocks, rates of links and bytes of formats are left out: they are fields and
# definitions.
UNITS = (
    "us|ms|ns|s|seconds?|minutes?|hours?|microseconds|milliseconds|(?:micro-)?cycles?|[kKMGT]i?B|%|per cent|LUT|FF|DSP|"
    r"BRAM|URAM|NAND2|mm\^2|times as|times faster|times slower|look-up tables|block RAMs?|ultra RAMs?"
)
THOUSANDS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w^])"
DECIMAL = r"\d+\.\d+(?![\w^.])"
# A cell of a table that is only a number of three digits and more.
CELL = r"(?<=\| )\d{3,}(?= \|)|(?<=\| \*\*)\d{3,}(?=\*\* \|)"
FIGURE = re.compile(
    rf"(?<![\w.,^/*-])(?:{THOUSANDS}|\d+(?:\.\d+)?(?=\s(?:{UNITS})(?![\w^-]))|\d+(?:\.\d+)?(?=x\b)|{DECIMAL})|{CELL}"
)
# Numbers that are no figures: code, addresses, places in papers, versions of programs, processes of chips, powers of
# two.
NONE = re.compile(
    r"`[^`]*`|https?://\S+|\b10\.\d{4,}/\S+|arXiv:[\d.]+"
    r"|(?:[Tt]ables?|[Ss]ections?|[Ff]igures?|[Aa]lgorithms?|[Ll]emmas?|[Ee]quations?|appendix|SEAL|Python|Yosys|version|from)"
    r"\s+[\dA-Z]+\.[\d.]*\d(?:(?:, | to | and )\d+\.[\d.]*\d)*"
    r"|\b\d+\.\d+ um\b"
    r"|\b(?:1|2|4|8|16|32|64|128|256|512) [KMG]iB\b"
)
GENERATED = re.compile(r"<!-- (\w+): written by .*?<!-- end of \1 -->", re.S)


@dataclass(frozen=True)
class Block:
    """A paragraph, a table or a list of a page, with its figures as they are written."""

    page: str
    text: str
    figures: tuple[str, ...]


def pages() -> list[Path]:
    """Returns every page that has figures of its own."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> Iterator[Block]:
    """Yields the blocks of a page that state figures, without generated blocks, code, formulas and powers of two."""
    text = re.sub(r"^```.*?^```$", "", GENERATED.sub("", page.read_text()), flags=re.S | re.M)
    for block in re.split(r"\n[ \t]*\n", text):
        found = tuple(figure for figure in FIGURE.findall(NONE.sub("", block)) if not power_of_two(figure))
        if found and not formula(block):
            yield Block(str(page.relative_to(ROOT)), block.strip(), found)


def formula(block: str) -> bool:
    """Whether a block is indented, which makes it a formula with coefficients."""
    return all(line.startswith("    ") for line in block.strip("\n").splitlines())


def value(figure: str) -> float:
    return float(figure.replace(",", ""))


def power_of_two(figure: str) -> bool:
    """Whether a figure is a power of two of three digits or more: a size of a ring or a memory."""
    whole = value(figure)
    return whole >= 100 and whole.is_integer() and int(whole).bit_count() == 1


def rounds_to(figure: str, values: Iterable[float]) -> bool:
    """Whether one of the values rounds to the figure at the figure's digits. A figure of three digits or more may be in
    another unit.
    """
    places = len(figure.partition(".")[2])
    digits = len(figure.replace(",", "").replace(".", "").lstrip("0"))
    scales = (1.0, 1e-3, 1e-6, 1e3) if digits >= 3 else (1.0,)
    wanted, half = value(figure), 0.5 * 10.0**-places * (1 + 1e-9)
    return any(abs(v * scale - wanted) <= half for v in values for scale in scales)


def held(figure: str, block: Block) -> bool:
    """Whether a record, a paper, a test or one of the block's holders has the figure."""
    if rounds_to(figure, recorded(block.page)) or (value(figure) >= 1000 and value(figure) in asserted()):
        return True
    return any(value(figure) in of for start, of in holders(block.page) if block.text.startswith(start))


@cache
def loose(page: Path) -> list[Block]:
    """Returns the blocks of a page with figures that nothing holds, each with those figures alone."""
    found = ((block, tuple(f for f in block.figures if not held(f, block))) for block in blocks(page))
    return [Block(block.page, block.text, figures) for block, figures in found if figures]


if __name__ == "__main__":
    asked = sys.argv[1:]
    if asked[:1] == ["areas"]:
        for name in AREAS if asked[1:] == ["all"] else asked[1:]:
            (RECORDS / f"{name}-areas.json").write_text(with_head(name, areas(name)))
    else:
        for name in ARGUMENTS if asked == ["all"] else asked:
            (RECORDS / f"{name}.json").write_text(record(name))
    for path in pages():
        path.write_text(with_tables(str(path.relative_to(ROOT)), path.read_text()))

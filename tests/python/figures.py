"""What pages may say in figures: kept records of `ringmill reproduce`, tables made of them, what holds figures.

`python tests/python/figures.py ring` writes a machine's record anew (`all`: every machine's), and all pages' tables.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RECORDS = Path(__file__).resolve().parent / "figures"
EXCEPTIONS = RECORDS / "exceptions.toml"
TABLES = RECORDS / "tables.toml"

# What is recorded of each machine: all that hangs on neither the computer nor on half an hour of synthesis.
ARGUMENTS = {
    "basext": ["--model", "--no-synth"],
    "polymul": ["--model", "--no-synth"],
    "ring": ["--no-synth"],
    "torus": ["--no-synth"],
    "vector": [],
}
# The machines whose records and papers a page cites, and the pages that cite the tables of security.
MACHINES = {
    **{f"docs/machines/{machine}.md": (machine,) for machine in ARGUMENTS},
    "docs/rtl.md": ("basext", "polymul", "torus"),
    "docs/papers.md": tuple(ARGUMENTS),
}
SECURITY = {"docs/security.md", "docs/tfhe.md"}
# What a row of a record is known by, and what it says.
NAMES = ("machine", "table", "case", "metric", "unit", "how")
VALUES = ("paper", "paper_should_be", "ours", "ours_at_papers_clock", "remark")
# How a figure came about that is the same in every run.
FIRM = {"counted", "lockstep", "model", "rtl", "stated", "synthesis"}


def record(machine: str) -> str:
    """The firm rows of `ringmill reproduce`, one JSON object a line."""
    command = [Path(sys.executable).parent / "ringmill", "reproduce", machine, "--json", *ARGUMENTS[machine]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    kept = [
        {key: short(row[key]) for key in (*NAMES, *VALUES) if row.get(key) is not None}
        for row in printed
        if row["how"] in FIRM
    ]
    return "".join(json.dumps(row) + "\n" for row in kept)


def short(item: object) -> object:
    """A number to nine digits, which are the same on every processor."""
    return float(f"{item:.9g}") if isinstance(item, float) else item


def numbers(tree: object) -> Iterator[float]:
    """All numbers of nested tables and lists, and those in their texts."""
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
def rows(machine: str) -> list[dict[str, Any]]:
    """The rows of a machine's record."""
    return [json.loads(line) for line in (RECORDS / f"{machine}.json").read_text().splitlines()]


def cell(table: dict[str, Any], row: dict[str, Any], column: dict[str, Any]) -> str:
    """One figure, of the only row of the record that has all the names that table, column and row give; `-` for none.

    Names are those of NAMES, `value` one of VALUES, `number` which number of a remark; `places` and `after` write it.
    """
    asked = table | column | row
    names = {key: asked[key] for key in NAMES if key in asked}
    matches = [found for found in rows(table["record"]) if names.items() <= found.items()]
    if len(matches) != 1 and not (row.get("some") and not matches):
        raise ValueError(f"{table['record']}: {len(matches)} rows are {names}")
    found = list(numbers([row.get(asked["value"]) for row in matches]))
    if not found:
        return "-"
    return f"{found[asked.get('number', 0)]:,.{asked.get('places', 0)}f}{asked.get('after', '')}"


def rendered(table: dict[str, Any]) -> str:
    """A table of a page, as its description in `tables.toml` and the record have it."""
    columns = table["columns"]
    lines = [[table.get("head", ""), *(column["head"] for column in columns)], ["---"] * (len(columns) + 1)]
    lines += [[row["head"], *(cell(table, row, column) for column in columns)] for row in table["rows"]]
    return "".join(f"|{'|'.join(f' {text} ' if text else ' ' for text in line)}|\n" for line in lines)


def with_tables(page: str, text: str) -> str:
    """A page with its tables made anew."""
    for name, table in tomllib.loads(TABLES.read_text()).items():
        if table["page"] == page:
            place = re.compile(rf"(<!-- {name}: written by .*? -->\n\n).*?(\n<!-- end of {name} -->)", re.S)
            text, count = place.subn(lambda found, table=table: f"{found[1]}{rendered(table)}{found[2]}", text)
            if count != 1:
                raise ValueError(f"{page} has {count} places for {name}")
    return text


@cache
def recorded(page: str) -> frozenset[float]:
    """What a page may cite: its machine's record, the figures that the paper prints, and the tables of security."""
    papers = tomllib.loads((ROOT / "crates/papers/data/paper_tables.toml").read_text())
    found: set[float] = set()
    for machine in MACHINES.get(page, ()):
        found.update(numbers([[row.get(key) for key in VALUES] for row in rows(machine)]), numbers(papers[machine]))
    if page in SECURITY:
        found.update(numbers(tomllib.loads((ROOT / "crates/schemes/data/security_tables.toml").read_text())))
    return frozenset(found)


@cache
def asserted() -> frozenset[float]:
    """The whole numbers of four digits and more that tests hold in their sources."""
    files = [*ROOT.glob("crates/*/tests/**/*.rs"), *ROOT.glob("tests/**/*.rs"), *ROOT.glob("tests/python/test_*.py")]
    literal = re.compile(r"(?<![\w.])\d[\d_,]{3,}(?![\w.])")
    # What tests this module holds nothing.
    found = (text for file in files if file.stem != "test_figures" for text in literal.findall(file.read_text()))
    return frozenset(float(digits) for text in found if len(digits := re.sub("[_,]", "", text)) >= 4)


# What pages measure and count in. Clocks, rates of links and bytes of formats are fields and definitions.
UNITS = (
    "us|ms|ns|s|seconds?|minutes?|hours?|microseconds|milliseconds|(?:micro-)?cycles?|[kKMGT]i?B|%|per cent|LUT|FF|DSP|"
    r"BRAM|URAM|NAND2|mm\^2|times as|times faster|times slower|look-up tables|block RAMs?|ultra RAMs?"
)
THOUSANDS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w^])"
DECIMAL = r"\d+\.\d+(?![\w^.])"
# A cell of a table that is nothing but a number of three digits and more.
CELL = r"(?<=\| )\d{3,}(?= \|)|(?<=\| \*\*)\d{3,}(?=\*\* \|)"
FIGURE = re.compile(
    rf"(?<![\w.,^/*-])(?:{THOUSANDS}|\d+(?:\.\d+)?(?=\s(?:{UNITS})(?![\w^-]))|\d+(?:\.\d+)?(?=x\b)|{DECIMAL})|{CELL}"
)
# What is no figure: code, addresses, places in papers, versions of programs, processes of chips, powers of two.
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
    """Every page that has figures of its own."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page that state figures, without generated ones, code, formulas and powers of two."""
    text = re.sub(r"^```.*?^```$", "", GENERATED.sub("", page.read_text()), flags=re.S | re.M)
    for block in re.split(r"\n[ \t]*\n", text):
        found = tuple(figure for figure in FIGURE.findall(NONE.sub("", block)) if not power_of_two(figure))
        if found and not formula(block):
            yield Block(str(page.relative_to(ROOT)), block.strip(), found)


def formula(block: str) -> bool:
    """Whether a block is indented: a formula, with its coefficients."""
    return all(line.startswith("    ") for line in block.strip("\n").splitlines())


def value(figure: str) -> float:
    return float(figure.replace(",", ""))


def power_of_two(figure: str) -> bool:
    """Sizes of rings and memories."""
    whole = value(figure)
    return whole >= 100 and whole.is_integer() and int(whole).bit_count() == 1


def rounds_to(figure: str, values: Iterable[float]) -> bool:
    """Whether one of the values, or it in another unit, is the figure to the digits that it has."""
    places = len(figure.partition(".")[2])
    digits = len(figure.replace(",", "").replace(".", "").lstrip("0"))
    scales = (1.0, 1e-3, 1e-6, 1e3) if digits >= 3 else (1.0,)
    wanted, half = value(figure), 0.5 * 10.0**-places * (1 + 1e-9)
    return any(abs(v * scale - wanted) <= half for v in values for scale in scales)


def held(figure: str, page: str) -> bool:
    """Whether a record, a paper or a test has a figure of a page."""
    return rounds_to(figure, recorded(page)) or (value(figure) >= 1000 and value(figure) in asserted())


@cache
def loose(page: Path) -> list[Block]:
    """The blocks of a page with figures that nothing holds, and those figures."""
    found = ((block, tuple(f for f in block.figures if not held(f, block.page))) for block in blocks(page))
    return [Block(block.page, block.text, figures) for block, figures in found if figures]


if __name__ == "__main__":
    for name in ARGUMENTS if sys.argv[1:] == ["all"] else sys.argv[1:]:
        (RECORDS / f"{name}.json").write_text(record(name))
    for path in pages():
        path.write_text(with_tables(str(path.relative_to(ROOT)), path.read_text()))

"""Every figure of a page is generated, held by a record, a paper or a test, or excepted with a reason."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import figures
import pytest

EXCEPTIONS = tomllib.loads(figures.EXCEPTIONS.read_text())["exception"]
# The page and the first words of each block that may have figures that nothing holds, with how many.
ALLOWED = [
    (page, start, count) for e in EXCEPTIONS for page, starts in e["blocks"].items() for start, count in starts.items()
]


def named(page: Path) -> str:
    return str(page.relative_to(figures.ROOT))


@pytest.mark.parametrize("page", figures.pages(), ids=named)
def test_every_figure_is_held_or_excepted(page):
    for block in figures.loose(page):
        excepted = [count for of, start, count in ALLOWED if block.page == of and block.text.startswith(start)]
        assert excepted == [len(block.figures)], (
            f"{block.page}, `{block.text[:60]}`: nothing holds {len(block.figures)} figures, excepted are "
            f"{excepted or 0}: {', '.join(block.figures)}. Mend or assert them, or give the block a reason, "
            f"and this number, in {figures.EXCEPTIONS.name}"
        )


def test_every_exception_is_needed_and_has_a_reason():
    found = [(block.page, block.text) for page in figures.pages() for block in figures.loose(page)]
    for page, start, _ in ALLOWED:
        matches = [text for of, text in found if of == page and text.startswith(start)]
        assert len(matches) == 1, f"{page}, `{start}`: {len(matches)} blocks with such figures begin so"
    assert all(len(entry["reason"].split()) >= 5 for entry in EXCEPTIONS)


@pytest.mark.parametrize("page", figures.pages(), ids=named)
def test_tables_are_what_the_records_say(page):
    text = page.read_text()
    anew = figures.with_tables(named(page), text)
    assert text == anew, "write them anew: `python tests/python/figures.py`"


def test_basext_floors_are_the_formula():
    """Each row of the table is 1 + k ((l + 2) N / TP + 2 S + 3), S = 27 and TP = 32 of the shipped description."""
    page = (figures.ROOT / "docs/machines/basext.md").read_text()
    table = re.findall(r"^\| 2\^(\d+), (\d+) \| ([\d,]+) \| ([\d,.]+) us \| ([\d,]+) \| ([\d.]+) \|$", page, re.M)
    assert len(table) == 6
    for log_n, moduli, *shown in table:
        beats, count = 2 ** int(log_n) // 32, int(moduli)
        floor = (count + 2) * count * beats
        cycles = 1 + floor + count * (2 * 27 + 3)
        assert shown[:3] == [f"{cycles:,}", f"{cycles / 200:,.1f}", f"{floor:,}"]
        assert figures.rounds_to(shown[3], [cycles / floor])


def test_what_a_figure_is():
    text = "It takes 93,655 cycles, 12.5 ms, 3 DSP (Table 4.7) of `1,234`; N = 65,536, 2^16; 1.5x, 7 % of 64 KiB."
    assert figures.FIGURE.findall(figures.NONE.sub("", text)) == [*("93,655", "12.5", "3", "65,536", "1.5", "7")]
    assert figures.FIGURE.findall("| 12 | 656 | **217** | N = 300 | 300 (400) |") == ["656", "217"]
    assert figures.power_of_two("65,536")
    assert not figures.power_of_two("93,655")
    # To the digits that are written, in the record's unit or in a thousand of it.
    assert figures.rounds_to("232.4", [232.41])
    assert figures.rounds_to("0.232", [232.41])
    assert not figures.rounds_to("232.5", [232.41])
    assert not figures.rounds_to("45,289", [39137.0])


@pytest.mark.parametrize("machine", figures.ARGUMENTS)
@pytest.mark.skipif("RINGMILL_FUZZ_SECONDS" not in os.environ, reason="minutes; `make full` runs it")
def test_records_are_what_the_command_prints(machine):
    kept = (figures.RECORDS / f"{machine}.json").read_text()
    assert figures.record(machine) == kept, f"write it anew: `python tests/python/figures.py {machine}`"


def test_a_cell_is_one_row_of_the_record():
    table = {"record": "ring", "machine": "ring", "unit": "cycles", "value": "ours", "after": " cycles"}
    row = {"case": "Set-1", "metric": "multiply + relinearise"}
    assert figures.cell(table, row, {}) == "93,655 cycles"
    assert figures.cell(table, row, {"machine": "ring-stored", "value": "paper", "after": ""}) == "99,448"
    with pytest.raises(ValueError, match="0 rows"):
        figures.cell(table, row, {"case": "Set-9"} | {"unit": "none"})
    assert figures.cell(table, row | {"some": True}, {"unit": "none"}) == "-"
    with pytest.raises(ValueError, match=r"ring: \d+ rows are"):
        figures.cell(table, {"case": "Set-1"}, {})

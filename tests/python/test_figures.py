"""Every figure of a page is generated, held by a record, a paper or a test, or excepted with a reason."""

from __future__ import annotations

import os
import tomllib
from collections import Counter
from pathlib import Path

import figures
import pytest

EXCEPTIONS = tomllib.loads(figures.EXCEPTIONS.read_text())["exception"]
# The page and the first words of each block that may have figures that nothing holds.
ALLOWED = [(page, start) for entry in EXCEPTIONS for page, starts in entry["blocks"].items() for start in starts]


def named(page: Path) -> str:
    return str(page.relative_to(figures.ROOT))


@pytest.mark.parametrize("page", figures.pages(), ids=named)
def test_every_figure_is_held_or_excepted(page):
    for block in figures.loose(page):
        assert any(block.page == of and block.text.startswith(start) for of, start in ALLOWED), (
            f"{block.page}, `{block.text[:60]}`: nothing holds {', '.join(block.figures)}. Mend the figure, assert it "
            f"in a test, or give the block a reason in {figures.EXCEPTIONS.relative_to(figures.ROOT)}"
        )


def test_every_exception_is_needed_and_has_a_reason():
    found = [(block.page, block.text) for page in figures.pages() for block in figures.loose(page)]
    for page, start in ALLOWED:
        matches = [text for of, text in found if of == page and text.startswith(start)]
        assert len(matches) == 1, f"{page}, `{start}`: {len(matches)} blocks with such figures begin so"
    assert max(Counter(ALLOWED).values()) == 1
    assert all(len(entry["reason"].split()) >= 5 for entry in EXCEPTIONS)


@pytest.mark.parametrize("page", figures.pages(), ids=named)
def test_tables_are_what_the_records_say(page):
    text = page.read_text()
    anew = figures.with_tables(named(page), text)
    assert text == anew, "write them anew: `python tests/python/figures.py`"


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

# SPDX-License-Identifier: Apache-2.0
"""Checks that every figure of a page is generated, is held by a record, a paper or a test, or has an exception with a
reason.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import figures
import floors
import papers
import pytest

EXCEPTIONS = tomllib.loads(figures.EXCEPTIONS.read_text()).get("exception", [])
# Blocks that other programs write and their own tests check: `benches/bench.py`, and tests in Rust.
WRITTEN_ELSEWHERE = {"floors", "records", "sets"}
# Exceptions: the page and first words of a block, and how many figures in it nothing holds.
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


def test_every_generated_block_has_what_generates_it():
    tables = tomllib.loads(figures.TABLES.read_text())
    for page in figures.pages():
        others = WRITTEN_ELSEWHERE | (set(papers.generated(named(page))) if named(page) in papers.PAGES else set())
        for name in set(figures.GENERATED.findall(page.read_text())) - others:
            assert tables[name]["page"] == named(page), f"{named(page)}: {name}"


def test_what_is_computed_agrees_with_the_model():
    """The floors of steps and blocks of masks by the page's formulas equal the counts in the record."""

    def counted(**names):
        return {row["ours"] for row in figures.rows("torus") if names.items() <= row.items()}

    shown = set(figures.numbers(floors.steps()))
    cases = [
        "m = 2, 4 positions, weighed",
        "m = 3, 4 positions, weighed",
        "m = 3, 4 positions, bundled in coefficient form",
    ]
    for case in cases:
        floors_of_case = [
            counted(case=case, metric=f"floor of a step by {what}") for what in ("butterflies", "products")
        ]
        assert max(*floors_of_case[0], *floors_of_case[1]) in shown
    blocks = counted(metric="blocks of key stream")
    words = counted(metric="mask words")
    assert blocks | words <= set(figures.numbers(floors.masks()))
    assert blocks <= set(figures.numbers(floors.switches()))


def test_holders_are_found_and_needed():
    """Each block with holders has figures that they hold. The text of an item ends where its bracket closes."""
    for page, named_blocks in tomllib.loads(figures.HOLDERS.read_text()).items():
        found = list(figures.blocks(figures.ROOT / page))
        for start in named_blocks:
            assert [block for block in found if block.text.startswith(start)], f"{page}, `{start}`"
            assert dict(figures.holders(page))[start]
    plans = figures.item("crates/math/tests/math/digits.rs::plans_are_as_short_as_the_page_says")
    assert "127, 4, 63, 379" in plans
    assert plans.endswith("\n}")
    assert figures.item("crates/cli/src/main.rs::GRACE").endswith("from_millis(120);")
    with pytest.raises(ValueError, match="has no nothing_so_named"):
        figures.item("crates/cli/src/main.rs::nothing_so_named")


def test_a_figure_that_is_added_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("It takes 12.345 s.\n\n<!-- x: written by y -->\n\n12.346 s\n\n<!-- end of x -->\n\n    1.5 N\n")
    assert [block.figures for block in figures.blocks(page)] == [("12.345",)]


def test_what_a_figure_is():
    text = "It takes 93,655 cycles, 12.5 ms, 3 DSP (Table 4.7) of `1,234`; N = 65,536, 2^16; 1.5x, 7 % of 64 KiB."
    assert figures.FIGURE.findall(figures.NONE.sub("", text)) == [*("93,655", "12.5", "3", "65,536", "1.5", "7")]
    assert figures.FIGURE.findall("| 12 | 656 | **217** | N = 300 | 300 (400) |") == ["656", "217"]
    assert figures.power_of_two("65,536")
    assert not figures.power_of_two("93,655")
    # A figure is compared to its written digits, in the record's unit or in a thousand of it.
    assert figures.rounds_to("232.4", [232.41])
    assert figures.rounds_to("0.232", [232.41])
    assert not figures.rounds_to("232.5", [232.41])
    assert not figures.rounds_to("45,289", [39137.0])


@pytest.mark.parametrize("machine", figures.ARGUMENTS)
@pytest.mark.skipif("RINGMILL_FUZZ_SECONDS" not in os.environ, reason="minutes; `make full` runs it")
def test_records_are_what_the_command_prints(machine):
    kept = (figures.RECORDS / f"{machine}.json").read_text()
    assert figures.record(machine) == kept, f"write it anew: `python tests/python/figures.py {machine}`"


@pytest.mark.parametrize("name", figures.AREAS)
@pytest.mark.skipif("RINGMILL_FUZZ_SECONDS" not in os.environ, reason="synthesis, up to an hour; `make full` runs it")
def test_areas_are_what_synthesis_finds(name):
    """Rows from synthesis are the same when made again. Rows that say `stated` are a page's figures, rounded."""
    keys = ("table", "case", "metric")
    anew = {tuple(row[key] for key in keys): row["ours"] for row in figures.areas(name) if "ours" in row}
    for row in figures.rows(f"{name}-areas"):
        found = anew[tuple(row[key] for key in keys)]
        near = max(0.5, 0.02 * abs(found)) if row["how"] == "stated" else 0.0
        assert abs(row["ours"] - found) <= near, f"{row}, found {found}: `python tests/python/figures.py areas {name}`"


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
    row |= {"value": "ours", "places": 1, "times": 0.5}
    assert figures.cell(table | {"after": ""}, row, {"beside": True}) == "46,827.5 (49,724.0)"
    assert (
        figures.cell(table | {"after": ""}, row | {"value": "over the paper's", "times": 1, "places": 3}, {}) == "0.942"
    )

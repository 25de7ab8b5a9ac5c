# SPDX-License-Identifier: Apache-2.0
"""Checks that pages compare us with papers and other libraries as the records do, and that the errors in papers are
errors.
"""

from __future__ import annotations

import math
import re
from fnmatch import fnmatchcase

import figures
import papers
import pytest

ROWS = [row for machine in figures.ARGUMENTS for row in papers.judged(machine)]


@pytest.mark.parametrize("page", papers.PAGES)
def test_blocks_are_what_the_records_say(page):
    text = (papers.ROOT / page).read_text()
    assert papers.with_blocks(page, text) == text, "write them anew: `python tests/python/papers.py`"


def test_every_shared_figure_is_judged():
    """Each record has rows that beat the paper. The numbers of a row agree with its verdict."""
    for row in ROWS:
        theirs = row.get("paper_should_be", row["paper"])
        better = (row["ours"] - theirs) * papers.direction(row)
        assert {
            "beaten": better > 0,
            "not reached": better < 0,
            "equal": math.isclose(row["ours"], theirs, abs_tol=0.5),
        }.get(row["verdict"], better == 0), row
    for machine in figures.ARGUMENTS:
        assert any(row["verdict"] == "beaten" for row in ROWS if row["machine"].startswith(machine))


def test_a_figure_that_no_rule_knows_is_refused():
    row = {"machine": "ring", "table": "Table 9", "metric": "beauty", "unit": "", "paper": 1.0, "ours": 2.0}
    with pytest.raises(ValueError, match="is less or more better of `beauty`"):
        papers.verdict(row)
    cycles = row | {"unit": "cycles"}
    assert papers.verdict(cycles) == "not reached"
    assert papers.verdict(cycles | {"ours": 0.4}) == "beaten"
    assert papers.verdict(cycles | {"ours": 1.4}) == "equal"
    # The paper's corrected figure counts.
    assert papers.verdict(cycles | {"paper_should_be": 3.0}) == "beaten"
    with pytest.raises(ValueError, match="0 rows with ours are"):
        papers.of("ring", case="Set-9")
    with pytest.raises(ValueError, match="no record has ntt beside Nobody"):
        papers.bench("ntt", "Nobody")


@pytest.mark.parametrize("machine", figures.ARGUMENTS)
def test_lines_have_units_their_description_and_how_much_better(machine):
    rows = [row for row in ROWS if row["machine"].startswith(machine)]
    for row in rows:
        name, case, metric = papers.description(row)
        assert papers.unit(row)
        assert "ring-stored" not in (case, metric)
        assert name == row["machine"] or name in row["case"] + row["metric"]
        times = papers.better(row)
        if row["verdict"] in ("beaten", "not reached") and 0 not in (row["ours"], row["paper"]):
            assert (float(times.replace(",", "")) >= 1) == (row["verdict"] == "beaten") or float(times) == 1, row
    lines = papers.itemised(rows, machine).splitlines()[2:]
    for line in lines:
        *_, theirs, ours, _times, name, _ = line.replace("\\|", "/").split("|")
        assert min(len(theirs.split()), len(ours.split())) > 1, line
        # A cell names descriptions alone: those of one line have the same figure.
        assert re.fullmatch(r" (`[\w-]+` ?)+", name), line


def test_a_row_that_names_its_description_is_of_it():
    row = {"machine": "ring", "table": "Table 3", "case": "rpau 60", "metric": "DSP, ring-stored"}
    assert papers.description(row) == ("ring-stored", "rpau 60", "DSP")
    row |= {"case": "ring-stored, key stored", "metric": "time saved"}
    assert papers.description(row) == ("ring-stored", "key stored", "time saved")
    row |= {"case": "Set-1, ring degree", "metric": "add"}
    assert papers.description(row)[0] == "ring"


def test_only_like_is_compared_with_like():
    unlike = [row for row in ROWS if row["metric"] in papers.UNLIKE]
    assert len(unlike) > 2
    assert {row["verdict"] for row in unlike} == {"other"}


def near(value: float, shown: float) -> bool:
    """Whether a value rounds to the figure at the digits that are shown."""
    places = len(repr(shown).partition(".")[2])
    return abs(value - shown) <= 0.5 * 10.0**-places * (1 + 1e-9)


@pytest.mark.parametrize("machine", figures.ARGUMENTS)
def test_errors_of_papers_are_errors(machine):
    found = papers.errata()[machine]
    assert len({entry["place"] + entry["text"] for entry in found}) == len(found)
    for entry in found:
        assert set(entry) <= {"place", "text", "checks", "rows"}
        for check in entry.get("checks", []):
            assert eval(check, {"near": near}) is True, f"{machine}, {entry['place']}: {check}"


def rows_of(machine: str) -> list[papers.Row]:
    areas = figures.rows(f"{machine}-areas") if machine in figures.AREAS else []
    return figures.rows(machine) + areas


@pytest.mark.parametrize("machine", figures.ARGUMENTS)
def test_figures_that_are_known_to_be_wrong_are_judged_by_the_right_ones(machine):
    """The rows of each known error have a corrected figure, and each corrected figure belongs to a known error."""
    named = [(row, f"{row['table']} | {row['case']} | {row['metric']}") for row in rows_of(machine)]
    asked = [pattern for entry in papers.errata()[machine] for pattern in entry.get("rows", [])]
    for pattern in asked:
        found = [row for row, name in named if fnmatchcase(name, pattern) and "paper" in row]
        assert found, f"{machine} has no row {pattern}"
        assert all("paper_should_be" in row for row in found), pattern
    for row, name in named:
        assert "paper_should_be" not in row or any(fnmatchcase(name, pattern) for pattern in asked), name


def test_an_operation_counts_once_however_often_it_is_printed():
    """One operation has figures in cycles, in microseconds, a second, as a speed-up, and of each description."""
    rows = [row for row in papers.judged("ring") if papers.operation(row) == "Table 2 | Set-1 | multiply + relinearise"]
    assert {row["unit"] for row in rows} == {"cycles", "us", "ms", "a second", ""}
    assert {row["machine"] for row in rows} == {"ring", "ring-stored"}
    assert len({row["table"] for row in rows}) == 7
    page = papers.outcome("ring")
    for which in ("beaten", "not reached"):
        listed = [row for row in papers.judged("ring") if row["verdict"] == which]
        things = {papers.operation(row) for row in listed}
        assert len(things) < len(listed) / 2
        assert f"<summary>{len(listed)} figures of {len(things)} operations and parts {which}" in page


def test_newest_records_are_taken():
    """A record of a processor with some instructions turned off is not taken. Of the others the newest is."""
    found = papers.bench("ckks.set1.rotate", "SEAL")
    assert found["ratio"] > 1
    assert papers.beside("ckks.set1.rotate", ("SEAL", "Lattigo"))[1].startswith("SEAL ")

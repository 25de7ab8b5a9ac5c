# SPDX-License-Identifier: Apache-2.0
"""Tests the programs of the benchmark at tiny sizes: data, both sides, floor and tables. No time is compared."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

BENCHES = Path(__file__).resolve().parents[2] / "benches"
sys.path[:0] = [str(BENCHES), str(BENCHES / "sides")]

import ringmill_programs  # noqa: E402
from harness import (  # noqa: E402
    floors,
    groups,
    machine,
    measure,
    peers,
    program_table,
    programs,
    records,
    rows,
    table,
    tasks,
)
from harness.side import Side  # noqa: E402

OPENFHE = peers.HOME / "openfhe" / "bin" / "python"
# Programs of few levels, for which OpenFHE takes small rings.
SHALLOW = ("dot", "variance", "matrix_vector", "box_blur", "roberts_cross", "network", "k_means", "moving_average")


def saved(folder: Path, task: tasks.Task) -> str:
    path = folder / f"{task.name}.npz"
    task.save(path)
    return str(path)


def test_every_program_is_on_both_sides():
    names = list(tasks.PROGRAMS)
    assert [row.case for row in rows.all_rows() if row.group == "programs"] == names
    assert list(tasks.WHOLE) == list(tasks.TINY) == list(ringmill_programs.PROGRAMS) == names
    text = (BENCHES / "sides" / "openfhe_programs.py").read_text()
    assert [name for name in names if f'    "{name}": Plan(' not in text] == []


@pytest.mark.parametrize("name", tasks.PROGRAMS)
def test_our_program_computes_the_task(name: str, tmp_path: Path):
    task = tasks.Task.load(saved(tmp_path, tasks.TINY[name]()))
    assert task.name == name
    program = ringmill_programs.PROGRAMS[name](task)
    found = program(**ringmill_programs.inputs_of(task, program))
    assert task.error(list(found) if isinstance(found, tuple) else [found]) < 1e-12


def test_an_error_is_relative_to_the_largest_value():
    task = replace(tasks.moving_average(2, 4), expected=(np.array([10.0, 1.0]), np.array([2.0, 20.0])))
    assert task.error([np.array([10.0, 1.0, 99.0]), np.array([2.0, 20.5])]) == pytest.approx(0.025)
    with pytest.raises(ValueError, match="has 2 outputs, and 1 came"):
        task.error([np.zeros(2)])


def test_our_side_runs_a_program_and_knows_a_wrong_result(tmp_path: Path):
    task = tasks.TINY["moving_average"]()
    side = peers.package((), given=True)
    answer = side.ask(do="open", file=saved(tmp_path, task))
    facts = answer["facts"]
    assert answer["rows"] == ["run"]
    assert answer["equal"] == {"run": True}
    assert facts["measured_digits"] >= facts["predicted_digits"] >= 6
    assert facts["key_bytes_stored"] < facts["key_bytes_whole"] <= 2 * facts["key_bytes_stored"]
    assert facts["instructions"]["NTT"] > 0
    assert len(side.time("run", 2, 1)) == 2
    wrong = replace(task, expected=(task.expected[0] + 1e-4,))
    assert side.ask(do="open", file=saved(tmp_path, wrong))["equal"] == {"run": False}
    side.close()


@pytest.mark.skipif(not OPENFHE.exists(), reason="`make bench ONLY=programs` installs OpenFHE's wheel below target")
@pytest.mark.parametrize("name", SHALLOW)
def test_openfhe_computes_the_task(name: str, tmp_path: Path):
    command = [str(OPENFHE), str(BENCHES / "sides" / "openfhe_programs.py")]
    side = Side("OpenFHE", peers.OPENFHE, command, (), {**peers.ONE_THREAD, "PYTHONPATH": str(BENCHES)})
    answer = side.ask(do="open", file=saved(tmp_path, tasks.TINY[name]()))
    assert answer["equal"] == {"run": True}
    assert answer["facts"]["measured_digits"] >= 6
    assert len(answer["facts"]["tried_seconds"]) > 1
    assert answer["facts"]["key_bytes_stored"] > 0
    side.close()


OURS = {
    **{"log_n": 13, "primes": [50, 40], "special": [50], "digits": 2, "compile_seconds": 0.5, "conditional": True},
    **{"key_bytes_stored": 1 << 20, "key_bytes_whole": 2 << 20, "predicted_digits": 6.2, "measured_digits": 7.9},
}
PEER = {
    **{"log_n": 14, "primes": [60, 40], "special": 2, "digits": 1, "key_bytes_stored": 8 << 20},
    **{"measured_digits": 6.4, "note": "it cannot"},
}
RATES = {
    "instructions": {"512": {name: {"per_second": 1e9, "slots": 1.0} for name in ("vpaddq", "vpmadd52luq")}},
    "copies": [{"footprint_bytes": 1 << 18, "bytes_per_second": 64e9}],
}


def a_row(name: str, ratio: int | None = None) -> dict:
    """A row of ours of 10 ms, with a peer of so many times as much."""
    count = programs.floor({"NTT": 1, "MUL": 1}, 13, [50, 40], "Avx512Ifma")
    shape = groups.Shape(tasks.PROGRAMS[name], 13, 140, count)
    own = measure.Times(((0.02, 0.01), (0.03, 0.02)))
    peer = measure.Times(((0.02 * ratio, 0.01 * ratio),)) if ratio else None
    line = groups.line(rows.Row("programs", name, "run"), shape, own, "OpenFHE" if ratio else None, peer, RATES)
    return {**line, "program": {"ours": OURS, "peer": PEER if ratio else None}}


PEER_SIDE = f"""
import sys
sys.path.insert(0, {str(BENCHES / "sides")!r})
from serve import Group, serve
def make(request):
    if "dot" in request["file"]:
        raise RuntimeError("no keys of so small a ring")
    group = Group()
    group.runs["run"], group.equal["run"], group.facts = (lambda: None), True, {PEER!r}
    return group
serve(make)
"""


def test_a_group_of_programs_is_measured_and_recorded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(programs, "WHOLE", tasks.TINY)
    said: list[str] = []
    ours, peer = peers.package((), given=True), Side("OpenFHE", "0", [sys.executable, "-c", PEER_SIDE])
    run = groups.Run(ours, None, {"programs": [peer]}, {**RATES, "backend": "Avx512Ifma"}, said.append, ours)
    programs.programs(run, rows.choose("programs.dot,programs.moving_average"))
    ours.close()
    peer.close()
    alone, beside = run.rows
    assert (alone["id"], alone["peer"], alone["program"]["peer"]) == ("programs.dot.run", None, None)
    assert (beside["what"], beside["peer"]["name"]) == (tasks.PROGRAMS["moving_average"], "OpenFHE")
    assert beside["program"]["peer"] == PEER
    assert beside["program"]["ours"]["log_n"] == beside["log_n"]
    assert beside["bits"] == sum(sum(beside["program"]["ours"][kind]) for kind in ("primes", "special"))
    assert "instructions" not in beside["program"]["ours"]
    assert [skip["name"] for skip in run.skipped] == ["OpenFHE"]
    assert "no keys of so small a ring" in run.skipped[0]["reason"]
    assert run.unequal == []
    assert len(run.counts) == 2


def test_the_floor_counts_products():
    bits, n = [50, 40], 1 << 13
    count = programs.floor({"NTT": 2, "INTT": 1, "MULI": 3, "MUL": 5, "DOT": 7, "ADD": 9}, 13, bits, "Avx512Ifma")
    assert count is not None
    constants = 3 * n / 2 * 13 + 3 * n
    assert count == floors.Count(floors.works(40, "Avx512Ifma", constants, 19 * n, 12 * n), 0)
    assert programs.floor({"NTT": 2}, 13, [50, 30], "Avx512Ifma") is None


def test_tables_of_programs():
    lines = [a_row("dot", 2), a_row("network", 8), a_row("training")]
    text = program_table.text(lines)
    assert text.endswith(
        "geometric mean of 2 ratios: 4.00x, the least 2.00x (dot product, 4,096 values); our keys over theirs: 0.125 "
        "as stored, 0.250 without seeds"
    )
    assert "digits network 64-32-10, 128 images: OpenFHE: it cannot" in text
    first = next(line for line in text.splitlines() if line.startswith("dot product")).split()
    assert first[4:11] == ["10.00", "15.00", "OpenFHE", "20.00", "20.00", "2.00x", "1.33x"]
    assert first[-4:] == ["0.50", "6.2*", "7.9", "6.4"]
    assert {"2^13", "2^14", "2+1", "2+2", "0.125", "0.250"} <= set(text.split())
    assert program_table.conclusion([a_row("dot")]) == "no program has a peer: no ratio"


def test_programs_stand_apart_from_other_rows():
    record = {
        "date": "2026-01-02T03:04:05Z",
        "machine": {**machine.describe(), "processor": "Some CPU", "load_average": {"begin": [0.5]}},
        "ours": {"version": "abc"},
        "peers": {"OpenFHE": "1.2"},
        "rows": [a_row("dot", 2)],
        "memory": [],
        "skipped": [],
    }
    record["machine"]["rates"] = {**RATES, "backend": "Avx512Ifma", "clock_hz": 1e9}
    said = table.summary(record)
    assert "mult. us" not in said
    assert program_table.text(record["rows"]) in said
    assert [line for line in records.text(record).splitlines() if '"program"' in line] != []
    page = records.side_by_side(records.latest([record]))
    other, own = page.split("\n\n")
    assert "dot product" not in other
    assert own.splitlines()[2].startswith("| dot product, 4,096 values | 10.00 ms; ")
    assert "OpenFHE 2.00x; N 2^13 and 2^14; keys 1.0 and 8.0 MiB; compiled in 0.50 s" in own
    assert "(2026-01-02)" not in own
    later = {**record, "date": "2026-02-01T00:00:00Z", "rows": [a_row("network", 2)]}
    assert "compiled in 0.50 s; (2026-01-02) |" in records.side_by_side(records.latest([record, later]))
    assert own.splitlines()[-1].startswith("| all programs | geometric mean of 1 ratios: 2.00x")

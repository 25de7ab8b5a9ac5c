# SPDX-License-Identifier: Apache-2.0
"""Tests the benchmark's table, record, floors and protocol on made-up times. Nothing is timed here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHES = Path(__file__).resolve().parents[2] / "benches"
sys.path.insert(0, str(BENCHES))

import bench  # noqa: E402
from harness import floors, groups, machine, measure, peers, records, rows, table  # noqa: E402
from harness.side import Side, SideFailed  # noqa: E402

RATES = {
    "backend": "Avx512Ifma",
    "clock_hz": 2e9,
    # A made-up processor: two ports, three turns for a multiplication of low 64-bit halves, no 52-bit multiply-add.
    "instructions": {
        "512": {
            "vpaddq": {"per_second": 4e9, "slots": 1.0},
            "vpmuludq": {"per_second": 4e9, "slots": 1.0},
            "vpmulld": {"per_second": 2e9, "slots": 2.0},
            "vpmullq": {"per_second": 4e9 / 3, "slots": 3.0},
            "vpermt2q": {"per_second": 2e9, "slots": 1.0},
        },
        "256": {
            "vpaddq": {"per_second": 6e9, "slots": 1.0},
            "vpmuludq": {"per_second": 4e9, "slots": 1.0},
        },
    },
    "copies": [
        {"footprint_bytes": 1 << 18, "bytes_per_second": 64e9},
        {"footprint_bytes": 1 << 24, "bytes_per_second": 8e9},
    ],
}


def times(*seconds: float) -> measure.Times:
    """Returns samples with these processor times in seconds. Wall times are twice as long."""
    return measure.Times(tuple((2 * t, t) for t in seconds))


OURS = times(1e-4, 3e-4, 2e-4, 5e-4, 2e-4)
PEER = times(3e-4, 6e-4, 6e-4)
# The most lines of one record, and of all records together.
RECORD_LINES, ALL_LINES = 2000, 10_000


def test_a_clock_that_stood_still_is_no_sample() -> None:
    assert times(1e-4, 0.0, 2e-4, 1e-5, 2e-4).fastest("processor") == 1e-4


def with_52(rates: dict) -> dict:
    wide = {**rates["instructions"]["512"], "vpmadd52luq": {"per_second": 4e9, "slots": 1.0}}
    return {**rates, "instructions": {**rates["instructions"], "512": wide}}


def a_line(
    bits: int = 60,
    peer: str | None = "SEAL",
    recorded: tuple[str, float] | None = None,
    kernel: str = "avx512 60, blocks of 32 KiB",
) -> dict:
    count = floors.ntt("forward", 14, bits, kernel)
    shape = groups.Shape("ntt forward", 14, bits, count, recorded, kernel)
    row = rows.Row("ntt", f"{bits}.14", "forward")
    return groups.line(row, shape, OURS, peer, PEER if peer else None, RATES)


def a_record(lines: list[dict]) -> dict:
    memory = groups.memory("set1", 1, {"log_n": 14, "moduli": [0] * 8}, 3 * 2 * 7 * 8 << 14)
    return {
        "date": "2026-01-02T03:04:05Z",
        "machine": {
            "processor": "Some(R) CPU @ 2.0",
            "family_model_stepping": ["6", "7", "8"],
            "load_average": {"begin": [0.5, 0.25, 0.0]},
            "rates": RATES,
        },
        "ours": {"version": "abc"},
        "peers": {"SEAL": "1.2"},
        "rows": lines,
        "memory": [memory],
        "skipped": [{"name": "Lattigo", "reason": "no `go` on this computer"}],
    }


def test_times_and_ratios():
    line = a_line()
    assert line["clock"] == "processor"
    assert line["ours"]["processor"] == {"min_us": 100, "median_us": 200}
    assert line["ours"]["wall"] == {"min_us": 200, "median_us": 400}
    assert line["ours"]["samples"] == 5
    assert line["ratio"] == 3
    assert line["ratio_of_medians"] == 3
    assert json.loads(json.dumps(line)) == line


def test_floor_of_a_transform():
    # 14 stages of 2^13 butterflies on eight lanes. A butterfly has three products of halves, four a nanosecond, and two
    # low halves, 4/3 a nanosecond. Memory moves 256 KiB at 64 B/ns.
    floor = a_line()["floor"]
    pairs = 16384 / 16
    assert floor["multiply_us"] == pytest.approx(pairs * 14 * 2 * 3 / 4e3, abs=1e-3)
    assert floor["ports_us"] == pytest.approx(pairs * (14 * (10 + 3 + 2 * 3) + 14 + 8) / 4e3, abs=1e-3)
    assert floor["bytes_us"] == pytest.approx(2 * 8 * 16384 / 64e3, abs=1e-3)
    assert (floor["us"], floor["bound"]) == (floor["ports_us"], "ports")
    assert a_line()["ours_over_floor"] == pytest.approx(100 / floor["us"], abs=1e-3)
    assert a_line()["kernel"] == "avx512 60, blocks of 32 KiB"
    assert a_line(kernel="ifma 60, whole")["floor"] is None  # this processor has no vpmadd52
    assert a_line(kernel="scalar")["floor"] is None  # not counted


def test_a_floor_above_a_measurement_is_not_printed():
    slow = {
        **RATES["instructions"],
        "512": {k: {**v, "per_second": 1e9} for k, v in RATES["instructions"]["512"].items()},
    }
    shape = groups.Shape("ntt forward", 14, 60, floors.ntt("forward", 14, 60, "avx512 60"))
    row = rows.Row("ntt", "60.14", "forward")
    line = groups.line(row, shape, OURS, None, None, {**RATES, "instructions": slow})
    assert line["floor"] is None
    assert line["ours_over_floor"] is None
    assert line["floor_above_measurement"]["us"] > 100
    assert table.cells(line)[-1] == "-"


def test_rates_are_the_best_of_two_measurements():
    kinds = {name: {"per_second": 3e9, "slots": 1.0} for name in RATES["instructions"]["512"]}
    low = [{**copy, "bytes_per_second": 1e9} for copy in RATES["copies"]]
    other = {**RATES, "instructions": {**RATES["instructions"], "512": kinds}, "copies": low}
    both = floors.best(RATES, other)
    assert both == floors.best(other, RATES)
    assert both["instructions"]["512"]["vpmulld"] == {"per_second": 3e9, "slots": 1.0}
    assert both["instructions"]["512"]["vpaddq"] == {"per_second": 4e9, "slots": 1.0}
    assert both["copies"] == RATES["copies"]
    # A floor above the measurement at the lower rates is below it at the higher ones.
    line = a_line()
    slow = [{**copy, "bytes_per_second": 1e9} for copy in RATES["copies"]]
    groups.set_floor(line, floors.ntt("forward", 14, 60, "avx512 60"), {**RATES, "copies": slow})
    assert line["floor"] is None
    groups.set_floor(line, floors.ntt("forward", 14, 60, "avx512 60"), RATES)
    assert (line["floor"], line["ours_over_floor"]) == (a_line()["floor"], a_line()["ours_over_floor"])
    assert "floor_above_measurement" not in line


def test_floors_of_all_kernels():
    rates = with_52(RATES)
    # 2^14 / 16 vectors times 14 butterflies of seven instructions, and sixteen more, all on two ports.
    floor = floors.floor(floors.ntt("forward", 14, 50, "ifma 50, whole"), rates, 1)
    assert floor["ports_us"] == pytest.approx(1024 * (7 * 14 + 16) / 4e3, abs=1e-3)
    assert floor["multiply_us"] == pytest.approx(1024 * 4 * 14 / 4e3, abs=1e-3)
    assert (floor["us"], floor["bound"]) == (floor["ports_us"], "ports")
    # The last two of sixteen stages of 32-bit words run on sixteen lanes.
    assert floors.ntt("forward", 14, 54, "ifma 54 in step, whole") == floors.ntt("forward", 14, 54, "ifma 54, whole")
    (work,) = floors.ntt("inverse", 16, 30, "ifma 30").works
    assert sum(work.counts.values()) == 4096 * (6 * 14 + 14) + 2048 * 2 * 12
    for (word, name), kernel in floors.KERNELS.items():
        assert kernel.lanes in (kernel.width // 64, kernel.width // 32)
        for direction in ("forward", "inverse"):
            count = floors.ntt(direction, 12, 30 if word == 32 else 60, name)
            assert count.bytes == 2 * 4096 * word / 8
            assert all(n >= 0 for n in count.works[0].counts.values())


def test_floors_of_ckks():
    sizes = [60] + [54] * 7
    counts = {row: floors.ckks(row, 14, sizes, "Avx512Ifma") for row in rows.CKKS_ROWS}
    limb = 8 << 14
    assert counts["add"].bytes == 6 * 7 * limb
    assert not any(sum(work.counts.values()) for work in counts["add"].works)
    key = 2 * 7 * 8 * limb
    assert counts["rotate"].bytes == 4 * 7 * limb + key
    names = ("multiply_relinearise", "rescale", "multiply_relinearise_rescale")
    parts = zip(*(counts[row].works for row in names), strict=True)
    assert all((one + two).counts == both.counts for one, two, both in parts)
    assert floors.floor(counts["add"], RATES, 1)["bound"] == "bytes"
    one, two = (floors.floor(counts["rotate"], RATES, threads) for threads in (1, 2))
    assert two["multiply_us"] == pytest.approx(one["multiply_us"] / 2, abs=1e-3)
    assert two["bytes_us"] == one["bytes_us"]


def test_the_way_that_takes_least_is_the_floor():
    count = floors.basext(14, 7, 50, "Avx512Ifma")
    assert [work.width for work in count.works] == [512, 512, 512, 256]
    with_it, without = floors.floor(count, with_52(RATES), 1), floors.floor(count, RATES, 1)
    assert "vpmadd52luq" in with_it["instructions"]
    assert "vpmadd52luq" not in without["instructions"]
    assert {work.width for work in floors.basext(14, 7, 60, "Avx2").works} == {256}
    assert floors.floor(floors.basext(14, 7, 60, "Scalar"), RATES, 1) is None


def test_records_of_several_processors_stand_side_by_side():
    one = a_record([a_line(), a_line(peer="Lattigo")])
    other = {**a_record([a_line(bits=50)]), "date": "2026-01-03T00:00:00Z"}
    other["machine"] = {**other["machine"], "processor": "AMD EPYC", "family_model_stepping": ["25", "17", "1"]}
    assert records.name(one) == "2026-01-02-some-cpu-2-0-6-7-8.json"
    assert records.name(other) == "2026-01-03-amd-epyc-25-17-1.json"
    later = {**one, "date": "2026-02-01T00:00:00Z"}
    assert [record["date"] for record in records.latest([one, other, later])] == [other["date"], later["date"]]
    text = f"before\n{records.BEGIN}\nold\n{records.END}\nafter"
    page = records.page(text, [one, other, later])
    assert (page[:6], page[-5:], "old" in page) == ("before", "after", False)
    assert records.page(page, [one, other, later]) == page
    head, _, *lines = [line for line in page.splitlines() if line.startswith("|")]
    assert head.index("AMD EPYC 25-17-1, 2026-01-03") < head.index("Some(R) CPU @ 2.0 6-7-8, 2026-02-01")
    assert lines[0].startswith("| ntt forward, 2^14, 50 bits | 100 us")
    assert lines[1].endswith("SEAL 3.00x; Lattigo 3.00x |")


def test_a_processor_without_its_avx_512_is_another():
    whole, masked = a_record([a_line()]), a_record([a_line()])
    whole["machine"]["features"] = ["avx2", "avx512f"]
    masked["machine"]["features"] = ["avx2"]
    assert records.name(whole) == "2026-01-02-some-cpu-2-0-6-7-8.json"
    assert records.name(masked) == "2026-01-02-some-cpu-2-0-6-7-8-avx2.json"
    assert len(records.latest([whole, masked])) == 2


def test_a_level_that_is_asked_for_keeps_the_peers_to_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RINGMILL_PLANS", "first")
    assert machine.masked() is None
    monkeypatch.setenv("RINGMILL_PLANS", "avx2,first")
    assert machine.masked() == "avx2"
    assert not [feature for feature in machine.describe()["features"] if "512" in feature]


def test_rows_that_a_later_record_lacks_are_those_of_an_earlier_one():
    whole = a_record([a_line(), a_line(bits=50)])
    part = {**a_record([a_line(bits=50)]), "date": "2026-02-01T00:00:00Z"}
    whole["rows"][1]["id"] = part["rows"][0]["id"] = "ntt.50.14.forward"
    (record,) = records.latest([whole, part])
    assert [(row["id"], row["day"]) for row in record["rows"]] == [
        (whole["rows"][0]["id"], "2026-01-02"),
        ("ntt.50.14.forward", "2026-02-01"),
    ]
    lines = records.side_by_side([record]).splitlines()[2:]
    assert [("(2026-01-02)" in line, "(2026-02-01)" in line) for line in lines] == [(True, False), (False, False)]


def test_parameter_sets_of_tfhe_stand_apart():
    one, other = ({**a_line(), "what": "tfhe nand", "id": f"tfhe.{name}.nand"} for name in ("one", "other"))
    lines = records.side_by_side(records.latest([a_record([one, other])])).splitlines()[2:]
    assert [line.split(", 2^")[0] for line in lines] == ["| tfhe nand, one", "| tfhe nand, other"]


def test_the_page_is_that_of_the_records():
    text = (BENCHES.parent / "docs" / "benchmarks.md").read_text()
    assert records.page(text, records.load(BENCHES / "results")) == text, "python benches/bench.py --page"


def test_a_row_of_a_record_is_a_line():
    record = a_record([a_line(), a_line(peer=None)])
    text = records.text(record)
    assert json.loads(text) == record
    rows_of = [json.loads(line.strip().rstrip(",")) for line in text.splitlines() if line.startswith('  {"id"')]
    assert rows_of == record["rows"]
    assert all(len(line) <= records.WIDTH for line in text.splitlines() if not line.startswith("  {"))


def test_records_are_short():
    texts = {path.name: path.read_text() for path in (BENCHES / "results").iterdir()}
    counts = {name: text.count("\n") for name, text in texts.items()}
    assert {name: count for name, count in counts.items() if count > RECORD_LINES} == {}
    assert sum(counts.values()) <= ALL_LINES
    for name, text in texts.items():
        record = json.loads(text)
        assert record["schema"] == records.SCHEMA, name
        assert text == records.text(record), f"{name} is not as `records.text` writes it"


def test_copy_of_the_right_size():
    assert floors.copy_for(1 << 10, RATES["copies"])["footprint_bytes"] == 1 << 18
    assert floors.copy_for(1 << 23, RATES["copies"])["footprint_bytes"] == 1 << 18
    assert floors.copy_for(1 << 24, RATES["copies"])["footprint_bytes"] == 1 << 24


def test_table_says_everything():
    lines = [a_line(), a_line(peer=None, recorded=("OpenFHE", 4300.0)), a_line(peer=None, kernel="scalar")]
    text = table.summary(a_record(lines))
    assert "skipped: Lattigo: no `go` on this computer" in text
    assert "peer: SEAL 1.2" in text
    assert "load average 0.50 0.25 0.00" in text
    assert "3.00 ciphertexts (limit 4)" in text
    body = table.table(lines).splitlines()
    assert body[0].split() == " ".join(table.HEADINGS).split()
    assert "OpenFHE*" in body[2]
    assert "43.00x" in body[2]
    assert body[3].split()[-1] == "-"
    assert len({line.index("2^14") for line in body[1:]}) == 1


def test_starved_threads_are_told():
    line = {**a_line(), "threads": 2}
    assert line["ours"]["cores"] == 0.5
    assert "these rows say nothing: ntt.60.14.forward" in table.summary(a_record([line]))
    line["ours"]["cores"] = 1.9
    assert "say nothing" not in table.summary(a_record([line]))


def test_rows_are_chosen_by_parts_of_their_names():
    names = [row.id for row in rows.all_rows()]
    assert len(names) == len(set(names))
    assert {row.group for row in rows.choose("ntt")} == {"ntt"}
    assert [row.id for row in rows.choose("ckks.set1.rotate, ntt.60.14.forward")] == [
        "ntt.60.14.forward",
        "ckks.set1.rotate",
    ]
    assert len(rows.choose("multiply_relinearise")) == 7  # two sets of CKKS and one of BGV, one and two threads; BFV
    assert rows.choose(None) == rows.all_rows()
    with pytest.raises(SystemExit, match="no row matches 'sett'"):
        rows.choose("sett")
    listed = subprocess.run(
        [sys.executable, BENCHES / "bench.py", "--list"], capture_output=True, text=True, check=True
    )
    assert listed.stdout.split() == names


def test_samples_fit_the_turn():
    assert measure.plan(1.0) == (1, 1)
    assert measure.plan(0.5) == (2, 1)
    assert measure.plan(1e-3) == (25, 1)
    assert measure.plan(3e-6) == (40, 17)


SIDE = f"""
import sys
sys.path.insert(0, {str(BENCHES / "sides")!r})
from serve import Group, serve
def make(request):
    group = Group()
    group.runs = {{"nothing": lambda: None}}
    group.equal = {{"nothing": request["log_n"] == 14}}
    return group
serve(make)
"""


def test_a_side_answers_and_its_failure_is_told():
    side = Side("test", "0", [sys.executable, "-c", SIDE])
    assert side.ask(do="open", log_n=14) == {"rows": ["nothing"], "equal": {"nothing": True}, "facts": {}}
    assert [len(sample) for sample in side.time("nothing", 3, 2)] == [2, 2, 2]  # wall and processor
    with pytest.raises(SideFailed, match="test failed at time: KeyError"):
        side.time("something", 1, 1)
    side.close()


def test_a_side_that_has_died_is_closed():
    side = Side("test", "0", [sys.executable, "-c", "raise SystemExit('boom')"])
    for _ in range(2):
        with pytest.raises(SideFailed, match="test failed at open: boom"):
            side.ask(do="open")
    side.close()


def test_what_can_not_be_had_is_told_in_one_line():
    with pytest.raises(peers.Unavailable, match="no `no-such-tool` on this computer"):
        peers.tool("no-such-tool")
    with pytest.raises(peers.Unavailable, match=r"failed: .*boom") as caught:
        peers.run([sys.executable, "-c", "raise SystemExit('first\\nboom')"])
    assert "\n" not in str(caught.value)


def test_versions_are_pinned_where_they_are_installed():
    assert f'tfhe-ntt = {{ version = "={peers.TFHE_NTT}"' in (BENCHES / "ntt" / "Cargo.toml").read_text()
    assert f"lattigo/v6 {peers.LATTIGO}" in (BENCHES / "lattigo" / "go.mod").read_text()
    requirements = (BENCHES.parent / "requirements" / "test.txt").read_text()
    assert "tenseal==" in requirements


def test_a_record_does_not_say_where_it_went():
    words = ["benches/bench.py", "--only", "ntt", "--output", "record.json", "--json"]
    kept = ["benches/bench.py", "--only", "ntt", "--json"]
    assert bench.how(words) == kept
    assert bench.how([*kept, "--output=record.json"]) == kept
    assert bench.how(kept) == kept
